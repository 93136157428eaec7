//! A clock that is set while the node runs, and the time of the boot with it: neither hides an Xid of this boot nor makes one of another.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use fake_gpu::scenario::Condition;
use serde_json::json;

use crate::admit::{self, admit, healthy};
use crate::node::Node;
use crate::passive::{daemon, looked, node, xid};
use crate::policy::{keep, rules};
use crate::tree::write;

/// 2023-11-14T22:13:20Z.
const BOOTED: u64 = 1_700_000_000;
const BEFORE_IT_WAS_SET: &str = "2023-11-14T21:13:30";
const SINCE: &str = "2023-11-14T22:21:40";

/// The node has no device for its log, and syslog keeps it.
fn with_syslog(node: &Node) {
    let host = node.path("host");
    fs::remove_file(host.join("dev/kmsg")).unwrap();
    write(&host, "etc/hostname", "gpu-17\n");
    write(&host, "proc/stat", format!("cpu 1 2 3\nbtime {BOOTED}\n"));
}

fn line(time: &str, text: &str) -> String {
    format!("{time}.000000+00:00 gpu-17 kernel: {text}\n")
}

fn lost() -> String {
    xid(79, "pid=1, GPU has fallen off the bus.")
}

#[test]
fn an_xid_of_this_boot_from_before_the_clock_was_set_counts() {
    let (first, bad, later) = ("[    0.000000] Linux version 6.8.0", lost(), "usb 1-1: x");
    let stamped = |time: &str| {
        let early = line(time, first) + &line(time, &format!("[   10.000000] {bad}"));
        (early, line(SINCE, &format!("[  500.000000] {later}")))
    };
    let bare = |first: &str| {
        let first = if first.is_empty() {
            String::new()
        } else {
            line(BEFORE_IT_WAS_SET, first)
        };
        let early = first + &line(BEFORE_IT_WAS_SET, &bad);
        (early, line(SINCE, later))
    };
    for ((early, late), code) in [
        (stamped(BEFORE_IT_WAS_SET), 2),
        // Without a battery the clock begins anew.
        (stamped("2000-01-01T00:00:10"), 2),
        (bare("Linux version 6.8.0"), 2),
        // Nothing tells whether it is of this boot.
        (bare(""), 3),
    ] {
        for is_rotated in [false, true] {
            let node = node(Condition::default());
            with_syslog(&node);
            let host = node.path("host");
            if is_rotated {
                write(&host, "var/log/kern.log.1", &early);
                let aside = fs::File::options()
                    .append(true)
                    .open(host.join("var/log/kern.log.1"));
                let written = UNIX_EPOCH + Duration::from_secs(BOOTED - 3_590);
                aside.unwrap().set_modified(written).unwrap();
                write(&host, "var/log/kern.log", &late);
            } else {
                write(&host, "var/log/kern.log", early.clone() + &late);
            }
            let run = daemon(&node, &[]);
            assert_eq!(run.code, code, "{is_rotated} {early}: {}", run.stderr);
        }
    }
}

#[test]
fn an_xid_of_the_boot_before_is_none_of_this_one() {
    let stamped = [
        line("2023-11-14T21:50:00", "[    0.000000] Linux version 6.8.0"),
        line("2023-11-14T22:05:00", &format!("[  900.000000] {}", lost())),
        line("2023-11-14T22:13:20", "[    0.000000] Linux version 6.8.0"),
        line(SINCE, "[  500.000000] usb 1-1: x"),
    ];
    let bare = [
        line("2023-11-14T22:05:00", &lost()),
        line("2023-11-14T22:13:20", "Linux version 6.8.0"),
        line(SINCE, "usb 1-1: x"),
    ];
    for log in [stamped.concat(), bare.concat()] {
        let node = node(Condition::default());
        with_syslog(&node);
        write(&node.path("host"), "var/log/kern.log", &log);
        let run = daemon(&node, &[]);
        assert_eq!(run.code, 0, "{log}: {}", run.stderr);
    }
}

#[test]
fn a_node_with_such_an_xid_is_not_admitted() {
    let node = admit::node(healthy);
    with_syslog(&node);
    let log = [
        line(BEFORE_IT_WAS_SET, "[    0.000000] Linux version 6.8.0"),
        line(BEFORE_IT_WAS_SET, &format!("[   10.000000] {}", lost())),
        line(SINCE, "[  500.000000] usb 1-1: x"),
    ];
    write(&node.path("host"), "var/log/kern.log", log.concat());
    let (_, run) = admit(&node);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("not admitted: "), "{}", run.stderr);
}

/// The node's clock is that of now without the uptime, with the kernel's own stamp: another uptime stands for a clock that was set.
#[test]
fn a_rule_with_a_count_goes_by_the_kernels_clock() {
    const DAY: u64 = 86_400;
    let counted = json!([
        { "number": 1, "code": "xid 31", "is": "fault", "count": 3, "window_seconds": DAY, "reason": "our jobs do not do this" },
    ]);
    for (seen, last) in [
        // Seconds since the boot, and the uptime that the look reads.
        ([(1, 3 * DAY), (2, 10), (3, 10)], 2),
        ([(1, 10), (2, 3 * DAY), (3, 10)], 2),
        // Days apart, and at the same time by a clock that was set back each time.
        ([(10, 10), (4 * DAY, 4 * DAY), (8 * DAY, 8 * DAY)], 0),
    ] {
        let node = node(Condition::default());
        keep(&node, &rules(&counted));
        let codes = (1..).zip(seen).map(|(number, (seconds, uptime))| {
            let host = node.path("host");
            write(&host, "proc/uptime", format!("{uptime}.00 9.00\n"));
            let before = fs::read_to_string(host.join("dev/kmsg")).unwrap();
            let message = xid(31, "pid=1, name=python, MMU Fault");
            let new = format!("3,{number},{seconds}000000,-;{message}\n");
            write(&host, "dev/kmsg", before + &new);
            daemon(&node, &[]).code
        });
        assert_eq!(codes.collect::<Vec<_>>(), [0, 0, last], "{seen:?}");
        let open = looked(&node).health.unwrap().open;
        assert_eq!((open[0].count, open[0].times.len()), (3, 3));
    }
}

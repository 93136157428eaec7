//! A last line of syslog's file that has no end: the disk is full, or syslog is dead.

use std::fs;
use std::io::Write as _;

use fake_gpu::scenario::Condition;

use crate::admit::{self, admit, healthy};
use crate::node::Node;
use crate::passive::{daemon, looked, node, xid};
use crate::tree::write;

const LOG: &str = "host/var/log/kern.log";

fn line(seconds: u32, text: &str) -> String {
    format!("Nov 30 10:00:00 gpu-17 kernel: [{seconds:5}.000000] {text}\n")
}

fn lost() -> String {
    line(300, &xid(79, "pid=1, GPU has fallen off the bus."))
}

fn with_log(node: &Node, log: &str) {
    fs::remove_file(node.path("host/dev/kmsg")).unwrap();
    write(&node.path(""), LOG, log);
}

fn add(node: &Node, text: &str) {
    let mut file = fs::OpenOptions::new().append(true).open(node.path(LOG)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Numbers of the Xids that are open, with their counts.
fn open(node: &Node) -> Vec<(Option<u32>, u64)> {
    let open = looked(node).health.unwrap().open;
    open.iter().map(|entry| (entry.number, entry.count)).collect()
}

#[test]
fn a_last_line_that_does_not_grow_is_read_and_counts_once() {
    let node = node(Condition::default());
    with_log(&node, &line(0, "Linux version 6.8.0"));
    assert_eq!(daemon(&node, &[]).code, 0);
    add(&node, lost().trim_end());
    assert_eq!(daemon(&node, &[]).code, 0, "it may still be written");
    for _ in 0..2 {
        let run = daemon(&node, &[]);
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert_eq!(open(&node), [(Some(79), 1)]);
    }
    // Its end comes later, and behind it another one.
    add(&node, "\n");
    assert_eq!(daemon(&node, &[]).code, 2);
    assert_eq!(open(&node), [(Some(79), 1)]);
    add(&node, &lost());
    assert_eq!(daemon(&node, &[]).code, 2);
    assert_eq!(open(&node), [(Some(79), 2)]);
}

#[test]
fn a_line_that_grows_is_read_when_it_is_whole() {
    let node = node(Condition::default());
    with_log(&node, &line(0, "Linux version 6.8.0"));
    assert_eq!(daemon(&node, &[]).code, 0);
    let (begin, end) = lost()
        .split_once("79")
        .map(|(a, b)| (format!("{a}7"), format!("9{b}")))
        .unwrap();
    add(&node, &begin);
    assert_eq!(daemon(&node, &[]).code, 0);
    add(&node, &end);
    assert_eq!(daemon(&node, &[]).code, 2);
    assert_eq!(open(&node), [(Some(79), 1)]);
}

#[test]
fn a_last_line_that_is_cut_within_an_xid_makes_a_look_unknown() {
    let node = node(Condition::default());
    let cut = line(300, "NVRM: Xid (PCI:0000:0");
    with_log(&node, &(line(0, "Linux version 6.8.0") + cut.trim_end()));
    assert_eq!(daemon(&node, &[]).code, 0, "it may still be written");
    let run = daemon(&node, &[]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("is cut within an Xid"), "{}", run.stderr);
}

#[test]
fn the_last_line_of_a_file_that_was_put_aside_counts_once() {
    for was_told in [true, false] {
        let node = node(Condition::default());
        with_log(&node, &line(0, "Linux version 6.8.0"));
        assert_eq!(daemon(&node, &[]).code, 0);
        add(&node, lost().trim_end());
        if was_told {
            daemon(&node, &[]);
            assert_eq!(daemon(&node, &[]).code, 2);
        }
        fs::rename(node.path(LOG), node.path("host/var/log/kern.log.1")).unwrap();
        write(&node.path(""), LOG, line(310, "usb 1-1: x"));
        assert_eq!(daemon(&node, &[]).code, 2, "{was_told}");
        assert_eq!(open(&node), [(Some(79), 1)], "{was_told}");
    }
}

#[test]
fn a_run_reads_it_at_once() {
    let node = admit::node(healthy);
    with_log(&node, &(line(0, "Linux version 6.8.0") + lost().trim_end()));
    for _ in 0..2 {
        let (report, run) = admit(&node);
        assert_eq!(run.code, 2, "{}", run.stderr);
        let open = report.health.unwrap().open;
        assert_eq!((open.len(), open[0].number, open[0].count), (1, Some(79), 1));
    }
    // The next byte may make another number of it.
    let node = admit::node(healthy);
    let (begin, _) = lost()
        .split_once(", pid")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    with_log(&node, &(line(0, "Linux version 6.8.0") + &begin));
    let (_, run) = admit(&node);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("has no end yet"), "{}", run.stderr);
}

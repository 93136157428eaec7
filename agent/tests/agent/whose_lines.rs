//! Which lines of the kernel log are events of this node.

use std::fs;
use std::io::Write as _;

use fake_gpu::scenario::Condition;

use crate::passive::{daemon, log, node, xid};
use crate::tree::write;

/// A collector of logs keeps the lines of many hosts in one file, and the file outlives a boot.
#[test]
fn lines_of_another_host_or_an_earlier_boot_are_none_of_this_node() {
    let line = |stamp: &str, host: &str, message: &str| format!("{stamp} {host} kernel: {message}\n");
    let lost = xid(79, "GPU has fallen off the bus.");
    let today = "2026-11-30T02:50:00.000000+00:00";
    for (stamp, host, expected) in [
        (today, "gpu-17", 2),
        (today, "gpu-18", 0),
        ("2026-11-20T02:50:00.000000+00:00", "gpu-17", 0),
        ("Nov 20 02:50:00", "gpu-17", 0),
    ] {
        for is_first in [true, false] {
            let node = node(Condition::default());
            let host_folder = node.path("host");
            fs::remove_file(node.path("host/dev/kmsg")).unwrap();
            write(&host_folder, "etc/hostname", "gpu-17\n");
            // 2026-11-30T01:00:00Z.
            write(&host_folder, "proc/stat", "btime 1796000400\n");
            let bad = line(stamp, host, &lost);
            let good = line(today, "gpu-17", "usb 1-1: new device");
            if is_first {
                write(&host_folder, "var/log/messages", bad + &good);
            } else if stamp == today {
                write(&host_folder, "var/log/messages", good);
                assert_eq!(daemon(&node, &[]).code, 0);
                let path = node.path("host/var/log/messages");
                let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
                file.write_all(bad.as_bytes()).unwrap();
            } else {
                continue;
            }
            let run = daemon(&node, &[]);
            assert_eq!(run.code, expected, "{stamp} {host} {is_first}: {}", run.stderr);
        }
    }
}

/// A node that was renamed writes under its old name until syslog starts anew.
#[test]
fn a_file_in_which_all_kernel_lines_carry_another_name_is_not_read() {
    let node = node(Condition::default());
    let host = node.path("host");
    fs::remove_file(node.path("host/dev/kmsg")).unwrap();
    write(&host, "etc/hostname", "gpu-17\n");
    // 2026-11-30T01:00:00Z.
    write(&host, "proc/stat", "btime 1796000400\n");
    let lost = xid(79, "GPU has fallen off the bus.");
    let line = |name: &str| format!("2026-11-30T02:50:00.000000+00:00 {name} kernel: {lost}\n");
    write(&host, "var/log/messages", line("old-17"));
    for _ in 0..2 {
        let run = daemon(&node, &[]);
        assert_eq!(run.code, 3, "{}", run.stderr);
        for name in ["old-17", "gpu-17"] {
            assert!(run.stderr.contains(name), "{}", run.stderr);
        }
    }
    write(&host, "var/log/messages", line("old-17") + &line("gpu-17"));
    let run = daemon(&node, &[]);
    assert_eq!(run.code, 2, "{}", run.stderr);
}

#[test]
fn an_xid_behind_the_device_of_the_kernel_is_one() {
    let node = node(Condition::default());
    assert_eq!(daemon(&node, &[]).code, 0);
    log(
        &node,
        1,
        &format!("nvidia 0000:00:06.0: {}", xid(79, "GPU has fallen off the bus.")),
    );
    let run = daemon(&node, &[]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("xid-79@0000:00:06.0"), "{}", run.stderr);
}

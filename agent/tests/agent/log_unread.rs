//! An admission needs a kernel log that was read: it ends what was open before.

use std::fs;

use crate::admit::{admit, append, boot, healthy, node};
use crate::node::Node;
use crate::policy::bare;
use crate::tree::write;

const XID_79: &str = "NVRM: Xid (PCI:0000:00:06): 79, pid=1, GPU has fallen off the bus.";

/// Kernel logs that hold an Xid and cannot be read.
fn logs() -> [(&'static str, Vec<u8>); 3] {
    let json = format!("{{\"program\":\"kernel\",\"message\":\"{XID_79}\"}}\n");
    let other = format!("2026-11-30T02:50:00+00:00 old-17 kernel: {XID_79}\n");
    let classic = format!("Nov 30 02:50:00 gpu-17 kernel: [   10.000000] {XID_79}\n");
    let wide = classic.encode_utf16().flat_map(u16::to_le_bytes).collect();
    [
        ("an unknown form", json.into_bytes()),
        ("another host", other.into_bytes()),
        ("UTF-16", wide),
    ]
}

fn with_log(node: &Node, log: &[u8]) {
    let host = node.path("host");
    fs::remove_file(host.join("dev/kmsg")).unwrap();
    write(&host, "etc/hostname", "gpu-17\n");
    write(&host, "var/log/kern.log", log);
}

fn look(node: &Node) -> i32 {
    let state = node.path("state");
    node.run("daemon", &["--once", "--state", state.to_str().unwrap()])
        .code
}

#[test]
fn a_log_that_cannot_be_read_holds_a_node_back_and_ends_nothing() {
    for (what, log) in logs() {
        let node = node(healthy);
        append(&node, &format!("3,1,9000000,-;{XID_79}\n"));
        assert_eq!(look(&node), 2, "{what}");
        boot(&node, "2");
        with_log(&node, &log);
        let (report, run) = admit(&node);
        assert_eq!(run.code, 2, "{what}: {}", run.stderr);
        assert!(
            run.stderr
                .contains("not admitted: load_incomplete: the kernel log"),
            "{what}: {}",
            run.stderr
        );
        let open = report.health.unwrap().open;
        assert!(open.iter().any(|entry| entry.number == Some(79)), "{what}");
        assert_eq!(look(&node), 2, "{what}");
        for arguments in [&["--passive"][..], &[]] {
            let status = bare(&node, "status", arguments);
            assert_eq!(status.code, 2, "{what}: {}", status.stdout);
        }
    }
}

#[test]
fn what_a_look_could_not_tell_an_admission_cannot_either() {
    for (what, log) in logs() {
        let node = node(healthy);
        with_log(&node, &log);
        assert_eq!(admit(&node).1.code, 3, "{what}");
        assert_eq!(look(&node), 3, "{what}");
        let (_, run) = admit(&node);
        assert_eq!(run.code, 3, "{what}: {}", run.stderr);
        assert!(run.stderr.contains("not admitted: "), "{what}: {}", run.stderr);
        for arguments in [&["--passive"][..], &[]] {
            assert_eq!(bare(&node, "status", arguments).code, 3, "{what}");
        }
    }
}

//! Fatal lines of the kernel log that name no Xid, as the daemon's look reads them.

use std::fs;
use std::io::Write as _;

use fake_gpu::scenario::Condition;

use crate::passive::{GPU, daemon, node};
use crate::tree::{attribute, device};

/// What a look says once the kernel has written a line.
fn told(line: &str) -> (i32, String) {
    let node = node(Condition::default());
    let (host, card) = (node.path("host"), ["0000:00:01.0", "0000:0d:00.0"]);
    device(&host, &card);
    attribute(&host, card[1], "vendor", "0x15b3\n");
    assert_eq!(daemon(&node, &[]).code, 0);
    let path = node.path("host/dev/kmsg");
    let mut log = fs::OpenOptions::new().append(true).open(path).unwrap();
    writeln!(log, "3,2,2000,-;{line}").unwrap();
    let run = daemon(&node, &[]);
    (run.code, run.stderr)
}

#[test]
fn a_fatal_line_about_a_gpu_is_a_fault_and_one_about_another_device_is_none() {
    for (line, entry) in [
        (
            format!("pcieport 0000:00:01.0: AER: Uncorrectable (Fatal) error message received from {GPU}"),
            format!("kernel_message-aer-uncorrected@{GPU}"),
        ),
        (
            "NVRM: RmInitAdapter: Cannot initialize GSP firmware RM".to_owned(),
            "kernel_message-gsp-firmware-not-started@node".to_owned(),
        ),
    ] {
        let (code, stderr) = told(&line);
        assert_eq!(code, 2, "{line}: {stderr}");
        assert!(stderr.contains(&entry), "{line}: {stderr}");
    }
    let (code, stderr) =
        told("pcieport 0000:00:01.0: AER: Uncorrectable (Fatal) error message received from 0000:0d:00.0");
    assert_eq!(code, 0, "{stderr}");
}

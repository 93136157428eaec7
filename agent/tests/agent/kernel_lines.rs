//! Fatal lines of the kernel log that name no Xid, as the daemon's look reads them.

use std::fs;
use std::io::Write as _;

use fake_gpu::scenario::Condition;

use crate::passive::{GPU, daemon, log, looked, node, xid};
use crate::tree::{attribute, device, write};

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

#[test]
fn an_xid_behind_another_message_of_its_record_is_a_fault() {
    let (harmless, lost) = (
        xid(13, "Graphics Exception"),
        xid(79, "GPU has fallen off the bus."),
    );
    for message in [
        format!(r"NVRM: GPU at PCI:{GPU}: GPU-1\x0a{lost}"),
        format!(r"{harmless}\x0a{lost}"),
        format!("{harmless}, {lost}"),
    ] {
        let node = node(Condition::default());
        assert_eq!(daemon(&node, &[]).code, 0);
        log(&node, 1, &message);
        let run = daemon(&node, &[]);
        assert_eq!(run.code, 2, "{message}: {}", run.stderr);
        assert!(run.stderr.contains(&format!("xid-79@{GPU}")), "{}", run.stderr);
    }
}

/// A user gives files and programs their names.
#[test]
fn an_xid_in_a_name_that_the_kernel_writes_is_none() {
    let faked = xid(79, "GPU has fallen off the bus.");
    for message in [
        format!(r"process 'a' launched '/tmp/\x0a{faked}' with NULL argv"),
        format!(r"traps: a[7] trap invalid opcode ip:1 sp:2 error:0 in x\x0a{faked}[1+2]"),
    ] {
        let node = node(Condition::default());
        log(&node, 1, &message);
        let run = daemon(&node, &[]);
        assert_eq!(run.code, 0, "{message}: {}", run.stderr);
    }
}

#[test]
fn a_file_of_syslogs_that_mixes_forms_hides_no_xid() {
    let lost = xid(79, "GPU has fallen off the bus.");
    let classic = "Nov 30 10:00:00 gpu-17 kernel: [    0.000000] Linux version 6.8.0\n";
    let modern = format!("<4>1 2026-11-30T10:00:00Z gpu-17 kernel - - - {lost}\n");
    let unknown = format!("{{\"host\":\"gpu-17\",\"program\":\"kernel\",\"message\":\"{lost}\"}}\n");
    for (line, code) in [(modern, 2), (unknown, 3)] {
        let node = node(Condition::default());
        fs::remove_file(node.path("host/dev/kmsg")).unwrap();
        write(&node.path("host"), "var/log/kern.log", format!("{classic}{line}"));
        let run = daemon(&node, &[]);
        assert_eq!(run.code, code, "{line}: {}", run.stderr);
    }
}

#[test]
fn a_message_that_syslog_calls_repeated_counts_as_often() {
    let lost = xid(79, "GPU has fallen off the bus.");
    let first = "Nov 30 10:00:00 gpu-17 kernel: Linux version 6.8.0\n";
    for text in [
        format!("message repeated 3 times: [ {lost}]"),
        format!("[  300.000000] message repeated 3 times: [ {lost}]"),
    ] {
        let node = node(Condition::default());
        fs::remove_file(node.path("host/dev/kmsg")).unwrap();
        let line = format!("Nov 30 10:05:00 gpu-17 kernel: {text}\n");
        write(&node.path("host"), "var/log/kern.log", format!("{first}{line}"));
        let run = daemon(&node, &[]);
        assert_eq!(run.code, 2, "{text}: {}", run.stderr);
        let open = looked(&node).health.unwrap().open;
        assert_eq!((open[0].number, open[0].count), (Some(79), 3), "{text}");
    }
}

/// Syslog may know neither the time nor the host of a line.
#[test]
fn a_line_of_the_kernels_without_time_and_host_is_of_this_boot() {
    let lost = xid(79, "GPU has fallen off the bus.");
    let first = "2026-11-30T10:00:00+00:00 gpu-17 kernel: Linux version 6.8.0\n";
    for line in [
        format!("<3>1 - - kernel - - - {lost}\n"),
        format!("<3>1 - - - - - - {lost}\n"),
        format!("<3>1 - (none) kernel - - - {lost}\n"),
    ] {
        let node = node(Condition::default());
        let host = node.path("host");
        fs::remove_file(host.join("dev/kmsg")).unwrap();
        write(&host, "etc/hostname", "gpu-17\n");
        write(&host, "var/log/kern.log", format!("{first}{line}"));
        let run = daemon(&node, &[]);
        assert_eq!(run.code, 2, "{line}: {}", run.stderr);
    }
}

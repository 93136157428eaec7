//! Logs in plain files, added to while they are open.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::kept::MOST;
use super::*;
use crate::host::tests::tree::tree;

const XID: &str = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.";

fn add(root: &Path, path: &str, text: &str) {
    let mut file = fs::OpenOptions::new().append(true).open(root.join(path)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn text(excerpts: &[LogExcerpt], when: When) -> Option<&str> {
    let excerpt = excerpts.iter().find(|excerpt| excerpt.when == when)?;
    Some(&excerpt.text)
}

#[test]
fn what_was_there_is_told_from_what_is_added() {
    let kmsg = "5,1,0,-;Linux version 6.8.0\n6,2,500000,-;iommu: Default domain type: Translated\n\
                6,3,600000,-;usb 1-1: new device\n4,4,700000,-;pcieport 0000:3a:00.0: AER: Corrected error\n";
    let root = tree(&[("dev/kmsg", kmsg)]);
    let log = KernelLog::open(&HostRoot::new(root.path()));
    assert_eq!(
        log.about_iommu(),
        "[    0.500000] iommu: Default domain type: Translated\n"
    );
    // The stamp is older than those of the lines before: place decides, not time.
    add(
        root.path(),
        "dev/kmsg",
        &format!("6,5,1000,-;usb 1-1: gone\n3,6,1000,-;{XID}\n SUBSYSTEM=pci\n"),
    );
    let (excerpts, facts) = log.finish();
    assert_eq!(
        text(&excerpts, When::Before),
        Some(
            "[    0.500000] iommu: Default domain type: Translated\n\
             [    0.700000] pcieport 0000:3a:00.0: AER: Corrected error"
        )
    );
    assert_eq!(
        text(&excerpts, When::During),
        Some(&*format!("[    0.001000] {XID}"))
    );
    assert!(excerpts.iter().all(|excerpt| excerpt.source == "kmsg"));
    assert_eq!(facts["kernel_log.readable"].value, Some(true.into()));
    assert!(!facts.contains_key("kernel_log.lines_left_out"));
}

#[test]
fn a_line_that_is_half_written_is_read_when_it_is_whole() {
    let root = tree(&[("dev/kmsg", "3,1,1000,-;NVRM: Xi")]);
    let log = KernelLog::open(&HostRoot::new(root.path()));
    add(root.path(), "dev/kmsg", "d (PCI:0000:3b:00): 79\n");
    let (excerpts, _) = log.finish();
    assert_eq!(text(&excerpts, When::Before), None);
    assert_eq!(
        text(&excerpts, When::During),
        Some("[    0.001000] NVRM: Xid (PCI:0000:3b:00): 79")
    );
}

#[test]
fn syslog_stands_in_and_only_this_boot_counts() {
    let line = |time: &str, message: &str| format!("Nov 21 10:00:00 gpu-17 kernel: [{time}] {message}\n");
    let content = [
        line("98765.000000", "NVRM: of the boot before"),
        line("    0.000000", "Linux version 6.8.0"),
        line("   77.000000", "NVRM: of this boot"),
        "Nov 21 10:00:00 gpu-17 app[1]: NVRM: not the kernel\n".to_owned(),
        line("   76.500000", "NVRM: from another processor"),
    ];
    let root = tree(&[("var/log/kern.log", &content.concat())]);
    let log = KernelLog::open(&HostRoot::new(root.path()));
    add(root.path(), "var/log/kern.log", &line("   80.000000", XID));
    let (excerpts, _) = log.finish();
    assert_eq!(
        text(&excerpts, When::Before),
        Some("[   77.000000] NVRM: of this boot\n[   76.500000] NVRM: from another processor")
    );
    assert_eq!(
        text(&excerpts, When::During),
        Some(&*format!("[   80.000000] {XID}"))
    );
    assert_eq!(excerpts[0].source, "/var/log/kern.log");
}

#[test]
fn floods_are_capped_and_counted() {
    let flood = |from: usize, lines: usize| -> String {
        let line = |number| {
            format!(
                "3,{number},{number},-;NVRM: line {number} {}\n",
                "x".repeat(2_000)
            )
        };
        (from..from + lines).map(line).collect()
    };
    let root = tree(&[("dev/kmsg", &flood(0, MOST + 7))]);
    let log = KernelLog::open(&HostRoot::new(root.path()));
    add(root.path(), "dev/kmsg", &flood(1_000, MOST + 3));
    let (excerpts, facts) = log.finish();
    let left_out = facts["kernel_log.lines_left_out"].value.as_ref().unwrap();
    assert_eq!((&left_out["before"], &left_out["during"]), (&7.into(), &3.into()));
    let before = text(&excerpts, When::Before).unwrap();
    assert!(before.contains("NVRM: line 7 ") && !before.contains("NVRM: line 6 "));
    let during = text(&excerpts, When::During).unwrap();
    assert!(during.contains("NVRM: line 1199 ") && !during.contains("NVRM: line 1200 "));
    assert!(during.lines().all(|line| line.chars().count() == LONGEST_LINE));
}

#[test]
fn a_log_that_is_not_there_is_a_gap() {
    let root = tree(&[]);
    let (excerpts, facts) = KernelLog::open(&HostRoot::new(root.path())).finish();
    assert_eq!(excerpts, []);
    let gap = facts["kernel_log.readable"].gap.as_ref().unwrap();
    assert_eq!(gap.kind, GapKind::NotVisible);
}

#[test]
fn a_snapshot_of_the_log_does_not_show_the_run() {
    let root = tree(&[("var/log/dmesg", &format!("[   77.000000] {XID}\n"))]);
    let (excerpts, facts) = KernelLog::open(&HostRoot::new(root.path())).finish();
    assert_eq!(
        text(&excerpts, When::Before),
        Some(&*format!("[   77.000000] {XID}"))
    );
    assert_eq!(text(&excerpts, When::During), None);
    let readable = &facts["kernel_log.readable"];
    assert_eq!((&readable.value, &*readable.source), (&None, "/var/log/dmesg"));
    let gap = readable.gap.as_ref().unwrap();
    assert_eq!(gap.kind, GapKind::NotVisible);
    assert!(gap.reason.starts_with("before only"), "{gap:?}");

    let root = tree(&[(
        "var/log/kern.log",
        "Nov 21 10:00:00 gpu-1 kernel: [ 9.0] usb 1-1\n",
    )]);
    let (_, facts) = KernelLog::open(&HostRoot::new(root.path())).finish();
    assert_eq!(facts["kernel_log.readable"].value, Some(true.into()));
}

/// Nobody writes to it, unless its lines were put aside a moment ago.
#[test]
fn an_empty_file_is_no_kernel_log_unless_it_was_begun_anew() {
    let told = |files: &[(&str, &str)]| {
        let root = tree(files);
        let (_, facts) = KernelLog::open(&HostRoot::new(root.path())).finish();
        let readable = &facts["kernel_log.readable"];
        let gap = readable.gap.as_ref().map(|gap| gap.reason.clone());
        (readable.source.clone(), gap.unwrap_or_default())
    };
    let empty = ("var/log/kern.log", "");
    let line = format!("Nov 21 10:00:00 gpu-1 kernel: [    9.000000] {XID}\n");
    let (source, why) = told(&[empty]);
    assert!(
        source.ends_with("var/log/kern.log") && why.contains("empty"),
        "{source}: {why}"
    );
    let aside = ("var/log/kern.log.1", line.as_str());
    assert_eq!(told(&[empty, aside]).1, "");
    let root = tree(&[empty, ("var/log/syslog", &line)]);
    let (excerpts, _) = KernelLog::open(&HostRoot::new(root.path())).finish();
    assert_eq!(excerpts[0].source, "/var/log/syslog");
    assert_eq!(
        text(&excerpts, When::Before),
        Some(&*format!("[    9.000000] {XID}"))
    );
    let root = tree(&[empty, aside, ("var/log/syslog", &line)]);
    let (excerpts, _) = KernelLog::open(&HostRoot::new(root.path())).finish();
    assert_eq!(excerpts[0].source, "/var/log/syslog");
}

/// The new file is there, and syslog has the old one open until it is told.
#[test]
fn what_is_written_during_the_run_to_a_file_that_was_put_aside_is_read() {
    let line = |time: &str, message: &str| format!("Nov 21 10:00:00 gpu-17 kernel: [{time}] {message}\n");
    let before = [
        line("    0.000000", "Linux version 6.8.0"),
        line("    5.000000", "NVRM: before"),
    ];
    let root = tree(&[("var/log/kern.log", ""), ("var/log/kern.log.1", &before.concat())]);
    let log = KernelLog::open(&HostRoot::new(root.path()));
    add(root.path(), "var/log/kern.log.1", &line("   80.000000", XID));
    add(
        root.path(),
        "var/log/kern.log",
        &line("   81.000000", "NVRM: later"),
    );
    let (excerpts, facts) = log.finish();
    assert_eq!(text(&excerpts, When::Before), Some("[    5.000000] NVRM: before"));
    assert_eq!(
        text(&excerpts, When::During),
        Some(&*format!("[   80.000000] {XID}\n[   81.000000] NVRM: later"))
    );
    assert_eq!(facts["kernel_log.readable"].value, Some(true.into()));
}

/// Syslog writes to another file since the boot.
#[test]
fn a_file_that_was_not_written_to_since_the_boot_is_no_kernel_log() {
    let root = tree(&[
        ("proc/stat", "cpu 1 2 3\nbtime 1000000000\n"),
        (
            "var/log/kern.log",
            "Jan  1 00:00:00 gpu-1 kernel: [    0.0] Linux version 6.8\n",
        ),
    ]);
    let kept = fs::File::options()
        .append(true)
        .open(root.path().join("var/log/kern.log"))
        .unwrap();
    let before = std::time::UNIX_EPOCH + std::time::Duration::from_secs(999_999_999);
    kept.set_modified(before).unwrap();
    let (_, facts) = KernelLog::open(&HostRoot::new(root.path())).finish();
    let readable = &facts["kernel_log.readable"];
    assert_eq!(readable.value, None);
    let reason = &readable.gap.as_ref().unwrap().reason;
    assert!(reason.contains("since the boot"), "{reason}");
    let line = format!("Jan  2 00:00:00 gpu-1 kernel: [ 9.0] {XID}\n");
    fs::write(root.path().join("var/log/syslog"), line).unwrap();
    let (excerpts, facts) = KernelLog::open(&HostRoot::new(root.path())).finish();
    assert_eq!(facts["kernel_log.readable"].value, Some(true.into()));
    assert_eq!(excerpts[0].source, "/var/log/syslog");
}

//! Lines that the kernel words alike for a drive and for a GPU count for GPUs only.

use std::sync::Arc;

use super::super::testing::{matcher_of, pattern, record, scan_text};
use super::super::{Event, ScanOptions};
use crate::matcher::Matcher;
use crate::signature::RecordSignatures;

const DMAR: &str =
    "DMAR: [DMA Read NO_PASID] Request device [3b:00.0] fault addr 0xffffa000 [fault reason 0x06]";
const AER: &str = "pcieport 0000:3a:00.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0";
const LINK: &str = "\t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x2 (downgraded)";

fn faults() -> Arc<Matcher> {
    matcher_of(fault_records())
}

fn fault_records() -> Vec<RecordSignatures> {
    let mut dmar = record("iommu/page-fault", "the IOMMU refused a GPU");
    dmar.patterns = vec![pattern(
        "intel",
        r"DMAR: \[DMA Read NO_PASID\] Request device \[(?P<device>[0-9a-f:.]{5,12})\] fault addr",
    )];
    dmar.of_gpu = vec!["intel".to_owned()];
    let mut link = record("pcie/narrow", "the link of a GPU is narrow");
    link.patterns = vec![pattern(
        "lspci",
        r"LnkSta:\s*Speed [^,]{3,20}, Width x\d{1,2} \(downgraded\)",
    )];
    link.of_gpu = vec!["lspci".to_owned()];
    let mut aer = record("pcie/aer", "the link of a GPU failed");
    aer.patterns = vec![pattern(
        "fatal",
        r"AER: Uncorrected \(Fatal\) error received: (?P<device>[0-9a-f:.]{7,16})",
    )];
    aer.not_of_others = vec!["fatal".to_owned()];
    vec![dmar, link, aer]
}

/// Matches and candidates.
fn found(text: &str) -> (Vec<String>, Vec<String>) {
    let summary = scan_text(&faults(), text);
    let matches = summary.matches.iter().map(|found| found.id.to_string());
    let candidates = summary.candidates.iter().map(|found| found.id.to_string());
    (matches.collect(), candidates.collect())
}

fn matched(id: &str) -> (Vec<String>, Vec<String>) {
    (vec![id.to_owned()], Vec::new())
}

fn candidate(id: &str) -> (Vec<String>, Vec<String>) {
    (Vec::new(), vec![id.to_owned()])
}

#[test]
fn a_fault_of_a_device_that_nothing_names_is_a_candidate() {
    assert_eq!(found(DMAR), candidate("iommu/page-fault"));
    let summary = scan_text(&faults(), DMAR);
    assert_eq!(
        summary.candidates.first().unwrap().why,
        "the wording of this message stands on line 1, but the text does not say that its device is a GPU"
    );
    let spi = "applespi spi-APP000D:00: Error writing to device: 01 0e 00 00";
    assert_eq!(found(&format!("{DMAR}\n{spi}\n")), candidate("iommu/page-fault"));
    let another = "NVRM: GPU at PCI:0000:17:00: GPU-b850f46d-d5ea-c752-ddf3-c4453e44d3f7";
    assert_eq!(
        found(&format!("{another}\n{DMAR}\n")),
        candidate("iommu/page-fault")
    );
}

#[test]
fn a_fault_of_a_device_that_is_a_gpu_counts_wherever_that_is_said() {
    for named in [
        "NVRM: GPU at PCI:0000:3b:00: GPU-b850f46d-d5ea-c752-ddf3-c4453e44d3f7",
        "[   12.345678] nvidia 0000:3b:00.0: enabling device (0140 -> 0142)",
        "3b:00.0 3D controller: NVIDIA Corporation GH100 [H100 PCIe] (rev a1)",
        "Nov 27 08:00:00 node1 kernel: NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=a",
        "|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:3B:00.0 Off |                    0 |",
    ] {
        for text in [format!("{named}\n{DMAR}\n"), format!("{DMAR}\nother\n{named}\n")] {
            assert_eq!(found(&text), matched("iommu/page-fault"), "{text}");
        }
    }
}

#[test]
fn lines_of_lspci_are_of_the_device_above_them() {
    let gpu = "41:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 80GB] (rev a1)";
    let drive = "59:00.0 Non-Volatile memory controller: Kingston Technology Company, Inc. OM8PGP4";
    assert_eq!(
        found(&format!("{gpu}\n{LINK}\n{drive}\n")),
        matched("pcie/narrow")
    );
    assert_eq!(
        found(&format!("{gpu}\n{drive}\n{LINK}\n")),
        candidate("pcie/narrow")
    );
    assert_eq!(found(LINK), candidate("pcie/narrow"));
}

#[test]
fn a_fatal_line_of_another_device_says_nothing_of_a_harmless_record() {
    let mut records = fault_records();
    for record in &mut records {
        record.harmless = Some("it comes and goes".to_owned());
    }
    let matcher = matcher_of(records);
    let gpu = "41:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 80GB] (rev a1)";
    let drive = "59:00.0 Non-Volatile memory controller: Kingston Technology Company, Inc. OM8PGP4";
    for (text, is_harmless) in [
        (format!("{gpu}\n{LINK}\n{drive}\n{LINK} nvswitch fatal\n"), true),
        (format!("{gpu}\n{LINK} nvswitch fatal\n"), false),
    ] {
        let summary = scan_text(&matcher, &text);
        assert_eq!(summary.matches[0].harmless, is_harmless, "{text}");
    }
}

#[test]
fn an_error_below_a_port_counts_unless_the_device_is_another() {
    assert_eq!(found(AER), matched("pcie/aer"));
    let card = "0000:3b:00.0 Ethernet controller: Intel Corporation I350 Gigabit Network Connection";
    assert_eq!(found(&format!("{card}\n{AER}\n")), candidate("pcie/aer"));
    let gpu = "0000:3b:00.0 3D controller: NVIDIA Corporation GH100 [H100 PCIe]";
    assert_eq!(found(&format!("{gpu}\n{AER}\n")), matched("pcie/aer"));
}

#[test]
fn a_text_that_names_other_devices_and_no_gpu_does_not_speak_of_gpus() {
    let port = "pcieport 0000:00:1c.2: AER: Uncorrected (Fatal) error received: 0000:00:1c.2";
    for other in [
        "igc 0000:02:00.0: not ready 65535ms after bus reset; giving up",
        "[13600.971642] [  T53331] amdgpu 0000:03:00.0: amdgpu: SMU: response:0xFFFFFFFF for index:7",
        "nvme 0000:04:00.0: AER: can't recover (no error_detected callback)",
    ] {
        for text in [format!("{other}\n{port}\n"), format!("{port}\n{other}\n")] {
            assert_eq!(found(&text), candidate("pcie/aer"), "{text}");
        }
        for gpu in [
            "nvidia 0000:3b:00.0: enabling device (0140 -> 0142)",
            "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14",
        ] {
            for text in [
                format!("{other}\n{port}\n{gpu}\n"),
                format!("{gpu}\n{other}\n{port}\n"),
            ] {
                assert_eq!(found(&text), matched("pcie/aer"), "{text}");
            }
        }
    }
    for silent in [
        "snd_hda_intel 0000:03:00.1: AER: can't recover (no error_detected callback)",
        "mlx5_core 0000:5e:00.0: firmware version: 28.39.1002",
        "vfio-pci 0000:03:00.0: enabling device (0000 -> 0003)",
        "AER: error of a device behind 0000:02:00.0",
    ] {
        assert_eq!(
            found(&format!("{silent}\n{port}\n")),
            matched("pcie/aer"),
            "{silent}"
        );
    }
}

#[test]
fn a_device_that_is_merely_there_explains_no_error() {
    let port = "pcieport 0000:3a:00.0: AER: Uncorrected (Fatal) error received: 0000:3a:00.0";
    for there in [
        "[    3.1] nvme nvme0: pci function 0000:01:00.0",
        "[    3.1] ixgbe 0000:01:00.0: Intel(R) 10 Gigabit Network Connection",
        "Nov 27 08:00:00 node1 kernel: nvme nvme0: pci function 0000:3b:00.0",
        "Nov 27 08:00:00 node1 kernel: igc 0000:3b:00.0: not ready 65535ms after bus reset; giving up",
        "01:00.0 Non-Volatile memory controller: Samsung Electronics Co Ltd NVMe SSD Controller",
    ] {
        for error in [port, AER] {
            for text in [format!("{there}\n{error}\n"), format!("{error}\n{there}\n")] {
                assert_eq!(found(&text), matched("pcie/aer"), "{text}");
            }
        }
    }
    // A line that names the device itself is of that device, whatever trouble another has.
    let other = "igc 0000:02:00.0: not ready 65535ms after bus reset; giving up";
    assert_eq!(found(&format!("{other}\n{AER}\n")), matched("pcie/aer"));
}

#[test]
fn what_a_port_reports_is_of_the_device_below_it() {
    let drive = "nvme nvme0: pci function 0000:3b:00.0";
    let port = "pcieport 0000:3a:00.0: AER: Uncorrected (Fatal) error received: 0000:3a:00.0";
    for text in [
        format!("{drive}\n{AER}\n{port}\n"),
        format!("{port}\n{AER}\n{drive}\n"),
    ] {
        assert_eq!(found(&text), candidate("pcie/aer"), "{text}");
    }
    let host = "Nov 27 08:00:00 node1 kernel: ";
    let text = format!("{host}{drive}\n{host}{AER}\n");
    assert_eq!(found(&text), candidate("pcie/aer"), "{text}");
}

#[test]
fn who_follows_a_log_hears_of_a_hit_before_the_text_ends() {
    let port = "pcieport 0000:00:1c.2: AER: Uncorrected (Fatal) error received: 0000:00:1c.2\n";
    let mut scanner = faults().scanner(ScanOptions::default());
    let events = scanner.push(port.as_bytes());
    assert!(matches!(events.as_slice(), [Event::Hit(_)]), "{events:?}");
    let events = scanner.push(b"igc 0000:02:00.0: not ready 65535ms after bus reset; giving up\n");
    assert_eq!(events.len(), 0);
    assert_eq!(scanner.push(port.as_bytes()).len(), 0);
    let (_, summary) = scanner.finish_with_events();
    assert_eq!((summary.matches.len(), summary.candidates.len()), (0, 1));
}

#[test]
fn many_faults_of_a_device_are_all_counted() {
    let text = format!(
        "{}NVRM: GPU at PCI:0000:3b:00: GPU-1\n",
        format!("{DMAR}\n").repeat(100)
    );
    let summary = scan_text(&faults(), &text);
    assert_eq!(summary.matches.first().unwrap().count, 100);
    // Beyond what waits, hits make a candidate; those that waited count.
    let text = format!(
        "{}NVRM: GPU at PCI:0000:3b:00: GPU-1\n",
        format!("{DMAR}\n").repeat(3000)
    );
    let summary = scan_text(&faults(), &text);
    assert_eq!(summary.matches.first().unwrap().count, 1024);
    let summary = scan_text(&faults(), format!("{AER}\n").repeat(3000));
    let found = summary.matches.first().unwrap();
    assert_eq!(
        (found.count, found.lines[0].line, found.lines[3].line),
        (3000, 1, 3000)
    );
}

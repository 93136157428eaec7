//! Faults that no notice, no other device and no wrapping may take away, held against all records.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod kb_seed;

use std::sync::Arc;

use kb_core::ids::Revision;
use kb_core::matcher::Matcher;
use kb_core::record::{Record, signature_set};
use kb_core::scanner::{ScanOptions, Summary, scan};

const TABLE: &str = "\
+---------------------------+------------------------------------------------+
| Diagnostic                | Result                                         |
+===========================+================================================+
|-----  Hardware  ----------+------------------------------------------------|
| GPU Memory                | Fail - GPU: 3                                  |
+---------------------------+------------------------------------------------+
";

struct Records(Arc<Matcher>);

impl Records {
    fn all() -> Self {
        let records: Vec<Record> = kb_seed::records();
        let set = signature_set(records.iter().map(|record| (record, Revision(1))));
        Self(Arc::new(Matcher::build(set).0))
    }

    fn read(&self, text: &str) -> Summary {
        scan(&self.0, text.as_bytes(), ScanOptions::default())
    }

    /// Records that are matches and not harmless.
    fn errors(&self, text: &str) -> Vec<String> {
        let matches = self.read(text).matches;
        let errors = matches.iter().filter(|found| !found.harmless);
        errors.map(|found| found.id.to_string()).collect()
    }

    fn assert_told(&self, text: &str, id: &str) {
        let errors = self.errors(text);
        assert!(
            errors.iter().any(|found| found == id),
            "{id} not in {errors:?}:\n{text}"
        );
    }
}

#[test]
fn errors_stand_beside_harmless_notices() {
    let records = Records::all();
    let notices = [
        "WARNING: nvidia-installer was forced to guess the X library path '/usr/lib64' and X module path '/usr/lib64/xorg/modules'; these paths were not queryable from the system.",
        "NVRM: serverFreeResourceTree: hObject 0xcaf00001 not found for client 0xc1d00001",
    ];
    for notice in notices {
        for (error, id) in [
            (
                "ERROR: Installation has failed.  Please see the file '/var/log/nvidia-installer.log' for details.",
                "driver/installer-failed",
            ),
            (
                "NVRM: nvCheckOkFailedNoLog: Check failed: GPU lost from the bus [NV_ERR_GPU_IS_LOST] (0x0000000F) returned from x(pGpu) @ nv_debug_dump.c:274",
                "xid/79-gpu-has-fallen-off-the-bus",
            ),
        ] {
            records.assert_told(error, id);
            records.assert_told(&format!("{notice}\n{error}\n"), id);
            records.assert_told(&format!("{error}\n{notice}\n"), id);
        }
    }
}

#[test]
fn a_lost_gpu_is_never_harmless() {
    let records = Records::all();
    let lost = "NVRM: rmapiUnmapWithSecInfo: Nv04Unmap: ummap failed; status: GPU lost from the bus [NV_ERR_GPU_IS_LOST] (0x0000000f)";
    records.assert_told(lost, "xid/79-gpu-has-fallen-off-the-bus");
    let timeout = "NVRM: rmapiUnmapWithSecInfo: Nv04Unmap: ummap failed; status: Call timed out [NV_ERR_TIMEOUT] (0x00000065)";
    assert!(records.read(timeout).matches.is_empty());
    // Every harmless example with the status behind it.
    for record in kb_seed::records() {
        let examples = record
            .annex
            .examples
            .iter()
            .filter(|_| record.annex.harmless.is_some());
        for example in examples.filter(|example| !example.text.contains('\n')) {
            let text = format!("{} [NV_ERR_GPU_IS_LOST]", example.text);
            let read = records.read(&text);
            assert!(read.matches.iter().all(|found| !found.harmless), "{text}");
        }
    }
}

#[test]
fn fatal_errors_of_the_bus_stand_beside_devices_that_are_merely_there() {
    let records = Records::all();
    for there in [
        "[    3.1] nvme nvme0: pci function 0000:01:00.0",
        "[    3.1] ixgbe 0000:01:00.0: Intel(R) 10 Gigabit Network Connection",
        "Nov 30 01:00:00 hostA kernel: nvme nvme0: pci function 0000:3b:00.0",
        "01:00.0 Non-Volatile memory controller: Samsung Electronics Co Ltd NVMe SSD Controller",
    ] {
        for (error, id) in [
            (
                "[12345.6] pcieport 0000:3a:00.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0",
                "pcie/aer-uncorrected",
            ),
            (
                "[12345.6] pcieport 0000:3a:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID)",
                "pcie/aer-uncorrected",
            ),
            (
                "[12345.6] pcieport 0000:3a:00.0: pciehp: Slot(7): Card not present",
                "pcie/hotplug-card-gone",
            ),
        ] {
            records.assert_told(&format!("{there}\n{error}\n"), id);
        }
    }
}

#[test]
fn wrong_values_of_nccl_tests_need_no_second_line() {
    let records = Records::all();
    for text in [
        "# Out of bounds values : 4 FAILED",
        "# Out of bounds values : 4 FAILED\n",
        "node7: # Out of bounds values : 4 FAILED\n",
        "# Out of bounds values : 4 FAILED\n# Avg bus bandwidth    : 0.832641\n",
    ] {
        records.assert_told(text, "nccl/tests-wrong-results");
    }
    assert_eq!(records.errors("# Out of bounds values : 0 OK\n"), [] as [&str; 0]);
}

#[test]
fn a_table_in_a_string_is_read_as_its_lines() {
    let records = Records::all();
    let id = "dcgm/diag-test-failed";
    let json = serde_json::to_string(TABLE).unwrap();
    for text in [
        TABLE.to_owned(),
        json.clone(),
        format!("{{\"changed\":true,\"stdout\":{json},\"rc\":0}}"),
        format!("{{\"log\":{json},\"stream\":\"stdout\"}}"),
        format!("'{}'", TABLE.replace('\n', "\\n")),
        format!("b'{}'", TABLE.replace('\n', "\\n")),
        TABLE
            .split(' ')
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" "),
    ] {
        records.assert_told(&text, id);
    }
}

#[test]
fn what_no_gpu_works_without_is_not_optional() {
    let records = Records::all();
    for file in [
        "libcuda.so.1",
        "libnvidia-ml.so.1",
        "libcuda.so",
        "/dev/nvidiactl",
        "/dev/nvidia3",
        "nvidia-smi",
    ] {
        for text in [
            format!("WARN[0000] Could not locate {file}: pattern {file} not found"),
            format!("level=warning msg=\"Could not locate {file}: {file}: not found\""),
        ] {
            let read = records.read(&text);
            assert!(read.matches.iter().all(|found| !found.harmless), "{text}");
        }
    }
    for file in [
        "libcudadebugger.so.1",
        "libnvidia-nscq.so",
        "/dev/nvidia-uvm-tools",
        "nvidia-persistenced",
        "libEGL_nvidia.so.0",
    ] {
        let text = format!("WARN[0000] Could not locate {file}: pattern {file} not found");
        let read = records.read(&text);
        assert!(read.matches.iter().any(|found| found.harmless), "{text}");
    }
}

#[test]
fn tools_that_tell_of_a_broken_gpu_are_understood() {
    let records = Records::all();
    for (text, id) in [
        (
            "HW Exception by GPU node-3 (Agent handle: 0x5581) reason :GPU Hang",
            "rocm/ring-timeout",
        ),
        ("GPU requires reset", "nvml/reset-required"),
    ] {
        records.assert_told(text, id);
    }
}

//! What nvidia-smi shows of a GPU that needs somebody has its records, and of a healthy one none.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod kb_seed;

use std::sync::Arc;

use kb_core::ids::Revision;
use kb_core::matcher::Matcher;
use kb_core::scanner::{ScanOptions, scan};

/// One GPU of `nvidia-smi -q`, with the lines that tell of faults.
fn gpu(action: &str, dram: u32, remapped: [&str; 3], fabric: [&str; 2], clocks: [&str; 3]) -> String {
    let [rows, pending, failed] = remapped;
    let [state, status] = fabric;
    let [slow, hot, brake] = clocks;
    format!(
        "\
==============NVSMI LOG==============

Timestamp                                 : Sat Nov 28 22:00:00 2026
Driver Version                            : 580.159.04
CUDA Version                              : 13.0

Attached GPUs                             : 1
GPU 00000000:06:00.0
    Product Name                          : NVIDIA H200
    GPU Recovery Action                   : {action}
    Performance State                     : P0
    Clocks Event Reasons
        Idle                              : Not Active
        SW Power Cap                      : Active
        HW Slowdown                       : {slow}
            HW Thermal Slowdown           : {hot}
            HW Power Brake Slowdown       : {brake}
        SW Thermal Slowdown               : Not Active
    ECC Mode
        Current                           : Enabled
        Pending                           : Enabled
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable Parity     : 0
            SRAM Uncorrectable SEC-DED    : 0
            DRAM Correctable              : 7
            DRAM Uncorrectable            : {dram}
        Aggregate
            DRAM Uncorrectable            : {dram}
            SRAM Threshold Exceeded       : No
    Retired Pages
        Pending Page Blacklist            : No
    Remapped Rows
        Correctable Error                 : 1
        Uncorrectable Error               : {rows}
        Pending                           : {pending}
        Remapping Failure Occurred        : {failed}
    Fabric
        State                             : {state}
        Status                            : {status}
"
    )
}

fn healthy() -> String {
    gpu(
        "None",
        0,
        ["0", "No", "No"],
        ["Completed", "Success"],
        ["Not Active"; 3],
    )
}

const TABLE: &str = "\
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|   0  NVIDIA H200                    On  |   00000000:06:00.0 Off |                    0 |
| N/A   31C    P0             76W / 700W  |       1MiB / 143771MiB |      0%      Default |
";

fn found(texts: &[&str]) -> Vec<Vec<String>> {
    let records = kb_seed::records();
    let (matcher, left_out) = Matcher::build(
        records
            .iter()
            .map(|record| record.signatures(Revision(1)))
            .collect(),
    );
    assert!(left_out.is_empty());
    let matcher = Arc::new(matcher);
    let ids = |text: &&str| {
        let summary = scan(&matcher, text.as_bytes(), ScanOptions::default());
        let mut ids: Vec<String> = summary.matches.iter().map(|found| found.id.to_string()).collect();
        ids.sort();
        ids
    };
    texts.iter().map(ids).collect()
}

#[test]
fn what_nvidia_smi_shows_of_a_fault_has_its_record() {
    let all = gpu(
        "Reset",
        5,
        ["2", "Yes", "Yes"],
        ["In Progress", "N/A"],
        ["Active", "Active", "Not Active"],
    );
    let fine = ["0", "No", "No"];
    let joined = ["Completed", "Success"];
    let free = ["Not Active"; 3];
    let of_action = |action| gpu(action, 0, fine, joined, free);
    let reboot = of_action("Reboot");
    let drain = of_action("Drain and Reset");
    let peers = of_action("Drain P2P");
    let status = gpu("None", 0, fine, ["Completed", "Unknown Error"], free);
    let brake = gpu("None", 0, fine, joined, ["Active", "Not Active", "Active"]);
    let errors = TABLE
        .replace("                   0 |", "                ERR! |")
        .replace(
            "31C    P0             76W / 700W ",
            "ERR!  ERR!           N/A / ERR! ",
        );
    let cases: [(&str, &[&str]); 7] = [
        (
            &all,
            &[
                "dcgm/gpu-needs-reset",
                "dcgm/row-remap-failed",
                "dcgm/row-remap-pending",
                "driver/smi-hw-slowdown",
                "driver/smi-uncorrectable-ecc",
                "nvlink/fabric-state-in-progress",
            ],
        ),
        (&reboot, &["dcgm/node-needs-reboot"]),
        (&drain, &["dcgm/gpu-needs-reset"]),
        (&peers, &["dcgm/peer-traffic-must-drain"]),
        (&status, &["nvlink/fabric-status-not-success"]),
        (&brake, &["driver/smi-hw-slowdown"]),
        (&errors, &["driver/smi-value-err"]),
    ];
    let texts: Vec<&str> = cases.iter().map(|(text, _)| *text).collect();
    for ((text, expected), found) in cases.iter().zip(found(&texts)) {
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn a_healthy_gpu_has_no_record() {
    // Two of them, so that what one line begins no line of the other ends.
    let two = healthy().repeat(2);
    let old = healthy().replace("GPU Recovery Action                   : None\n", "");
    let without = gpu("N/A", 0, ["N/A"; 3], ["N/A", "N/A"], ["Not Active"; 3]);
    for (number, found) in found(&[&two, TABLE, &old, &without]).iter().enumerate() {
        assert_eq!(*found, [] as [String; 0], "{number}");
    }
}

#[test]
fn a_call_that_is_not_answered_is_no_notice() {
    let texts = [
        "nvmlInit_v2 failed: NVML_ERROR_TIMEOUT (10)",
        "nvmlDeviceGetHandleByIndex failed: Timeout",
        "cudaStreamSynchronize failed: device not ready",
        "unknown: 3 of 6 pairs unknown; GPU 1 and GPU 3: gpu_busy: GPU 0 is used by 2 processes of others",
    ];
    let records = kb_seed::records();
    for (text, found) in texts.iter().zip(found(&texts)) {
        assert!(!found.is_empty(), "{text}");
        for id in found {
            let record = records.iter().find(|record| record.id().as_str() == id).unwrap();
            assert!(!record.is_notice(), "{text}: {id}");
        }
    }
}

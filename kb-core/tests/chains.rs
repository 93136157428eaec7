//! Whole failures, from the first cause to what users paste: each step is an edge of kb-seed, and a log of the lines in that
//! order names the first of them as its cause.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests, which clippy does not recognise as tests here"
)]

mod kb_seed;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kb_core::ids::Revision;
use kb_core::matcher::Matcher;
use kb_core::record::{Record, signature_set};
use kb_core::scanner::{ScanOptions, scan};
use kb_core::transition::EdgeKind;

/// Each from its first cause on.
const CHAINS: &[&[&str]] = &[
    // Hardware, to the framework.
    &[
        "sxid/24007-sourcetrack-timeout",
        "xid/74-nvlink-error",
        "xid/154-recovery-action-changed",
    ],
    &[
        "pcie/aer-uncorrected",
        "xid/79-gpu-has-fallen-off-the-bus",
        "pytorch/watchdog-collective-timeout",
        "pytorch/process-taken-down-after-nccl-failure",
        "pytorch/rank-crashed-sigabrt",
        "pytorch/child-failed",
    ],
    &[
        "xid/79-gpu-has-fallen-off-the-bus",
        "cuda/unknown-error",
        "nccl/unhandled-cuda-error",
    ],
    &[
        "xid/94-contained-memory-error",
        "cuda/uncorrectable-ecc-error",
        "nccl/unhandled-cuda-error",
    ],
    // Hardware, to the scheduler.
    &[
        "pcie/downstream-port-containment",
        "xid/79-gpu-has-fallen-off-the-bus",
        "kubernetes/device-marked-unhealthy",
        "kubernetes/insufficient-gpu",
    ],
    &[
        "xid/48-double-bit-ecc",
        "kubernetes/device-marked-unhealthy",
        "kubernetes/insufficient-gpu",
    ],
    // The driver and what stands around it.
    &[
        "driver/module-in-use",
        "nvml/driver-library-version-mismatch",
        "kubernetes/insufficient-gpu",
    ],
    &[
        "fabric-manager/driver-version-differs",
        "fabric-manager/service-failed",
        "cuda/system-not-yet-initialized",
        "nccl/unhandled-cuda-error",
    ],
    &[
        "driver/module-wrong-kernel",
        "rdma/peermem-not-inserted",
        "nccl/ib-register-gpu-memory-refused",
        "nccl/unhandled-system-error",
    ],
    &["rdma/peermem-not-inserted", "nccl/gpu-direct-rdma-disabled"],
    &[
        "iommu/translation-breaks-p2p",
        "p2p/resident-kernels-cannot-exchange",
        "pytorch/watchdog-collective-timeout",
        "pytorch/watchdog-heartbeat-timeout",
    ],
    // The host's memory and the GPU's.
    &[
        "kernel/oom-killer",
        "pytorch/rank-killed-sigkill",
        "pytorch/child-failed",
    ],
    &[
        "kernel/oom-killer",
        "nccl/remote-error",
        "pytorch/watchdog-heartbeat-timeout",
    ],
    &[
        "slurm/oom-kill",
        "pytorch/rank-killed-sigkill",
        "pytorch/child-failed",
    ],
    &[
        "nccl/cumem-host-falls-back",
        "nccl/shm-no-space-left-on-device",
        "nccl/shm-segment-error",
        "nccl/unhandled-system-error",
    ],
    &[
        "cuda/out-of-memory",
        "nccl/device-memory-for-buffers",
        "nccl/connection-closed-by-peer",
        "nccl/remote-error",
    ],
    // The network.
    &[
        "nccl/ib-port-event",
        "nccl/ib-completion-error-12",
        "nccl/remote-error",
        "pytorch/process-taken-down-after-nccl-failure",
    ],
];

fn by_id(records: &[Record]) -> BTreeMap<&str, &Record> {
    records
        .iter()
        .map(|record| (record.id().as_str(), record))
        .collect()
}

#[test]
fn each_step_of_a_failure_is_an_edge() {
    let records = kb_seed::records();
    let mut edges = BTreeSet::new();
    for record in &records {
        for edge in record.edges() {
            match edge.kind {
                EdgeKind::LeadsTo => edges.insert((edge.from.to_string(), edge.to_text)),
                EdgeKind::PrecededBy => edges.insert((edge.to_text, edge.from.to_string())),
                EdgeKind::FrequentlyConfusedWith => false,
            };
        }
    }
    let steps = CHAINS.iter().flat_map(|chain| chain.windows(2));
    let missing: Vec<_> = steps
        .filter(|step| !edges.contains(&(step[0].to_owned(), step[1].to_owned())))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_log_of_a_failure_names_its_first_cause() {
    let records = kb_seed::records();
    let by_id = by_id(&records);
    let (matcher, _) = Matcher::build(signature_set(records.iter().map(|record| (record, Revision(1)))));
    let matcher = Arc::new(matcher);
    let find = |text: &str| scan(&matcher, text.as_bytes(), ScanOptions::default());
    // A line of a record that finds it before all else.
    let line = |id: &str| {
        let mut own = by_id[id].annex.examples.iter().map(|example| &example.text);
        own.find(|text| {
            let found = find(text).matches;
            !text.contains('\n') && found.first().is_some_and(|hit| hit.id.as_str() == id)
        })
        .unwrap_or_else(|| panic!("{id} has no example on one line that finds it"))
    };
    let mut wrong = Vec::new();
    for chain in CHAINS {
        let mut text = String::new();
        for id in *chain {
            text.push_str(&"step 100 of 90000, loss 2.1\n".repeat(30));
            text.push_str(line(id));
            text.push('\n');
        }
        let found = find(&text).root_causes;
        let causes: Vec<&str> = found.iter().map(|cause| cause.id.as_str()).collect();
        if causes != [chain[0]] {
            wrong.push(format!("{chain:?}: {causes:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

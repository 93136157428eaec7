//! Reports made by hand, judged. One case for each row of the table, what must not fire, and the run's exit codes.

mod absent;
mod bench;
mod blame;
mod expectations;
mod failures;
pub(crate) mod load;
mod nccl;
mod near_misses;
mod proof;
mod rows;
mod runs;

use std::collections::BTreeMap;

use serde_json::Value;

use super::*;
use crate::report::{
    Cell, Check, Conclusion, Direction, Engine, Fact, Gpu, LogExcerpt, Measurement, Mismatch, Node, NvmlP2p,
    Operation, Outcome, P2pStatus, Pair, PairVerdict, Report, SchemaVersion, When,
};

/// The checks of one direction: rung and name.
pub(super) const LADDER: [(u8, &str); 9] = [
    (2, "enable_peer_access"),
    (3, "copy_push"),
    (3, "copy_pull"),
    (4, "sm_store"),
    (4, "sm_load"),
    (4, "sm_atomic"),
    (5, "resident_exchange"),
    (6, "ipc_legacy"),
    (6, "ipc_vmm"),
];

fn nvml(status: P2pStatus) -> NvmlP2p {
    let fact = || Fact::read(status, "nvmlDeviceGetP2PStatus");
    NvmlP2p {
        read: fact(),
        write: fact(),
        nvlink: fact(),
        atomics: fact(),
        pci: fact(),
    }
}

fn check((rung, name): (u8, &str)) -> Check {
    Check {
        rung,
        name: name.to_owned(),
        engine: Engine::Ce,
        outcome: Outcome::Pass,
        reason: None,
        reason_code: None,
        earlier_code: None,
        call: None,
        code: None,
        code_name: None,
        checked_by: "owner_kernel".to_owned(),
        bytes: 4096,
        windows: 16,
        spread_bytes: 1 << 30,
        mismatch: None,
        seconds: 0.01,
        rerun: false,
    }
}

fn direction(initiator: u32, owner: u32) -> Direction {
    Direction {
        initiator,
        owner,
        can_access_peer: Fact::read(true, "cuDeviceCanAccessPeer"),
        nvml: nvml(P2pStatus::Ok),
        cuda_attributes: BTreeMap::new(),
        checks: LADDER.map(check).into(),
    }
}

fn gpu(index: u32) -> Gpu {
    Gpu {
        cuda_ordinal: index,
        nvml_index: Fact::read(index, "nvml"),
        uuid: Fact::read(format!("GPU-{index}"), "cuda"),
        pci_address: Fact::read(format!("0000:{:02x}:00.0", 0x3b + index), "cuda"),
        name: Fact::read("NVIDIA A40".to_owned(), "cuda"),
        memory_bytes: Fact::read(48 << 30, "cuda"),
        compute_capability: Fact::read("8.6".to_owned(), "cuda"),
        facts: BTreeMap::new(),
    }
}

fn pair(a: u32, b: u32) -> Pair {
    Pair {
        a,
        b,
        nvlinks: Fact::read(0, "nvml"),
        nvswitch: Fact::read(false, "nvml"),
        common_ancestor: Fact::read("PIX".to_owned(), "nvml"),
        facts: BTreeMap::new(),
        directions: vec![direction(a, b), direction(b, a)],
        verdict: PairVerdict::undecided(),
    }
}

/// `n` GPUs joined by PCIe alone, of which everything is proven.
pub(crate) fn healthy(n: u32) -> Report {
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| pair(a, b)));
    Report {
        schema: SchemaVersion { major: 1, minor: 1 },
        report_id: "run-1".parse().unwrap(),
        node: Node {
            id: "node-1".parse().unwrap(),
            hostname: None,
            boot_id: None,
        },
        agent_version: "0.1.0".to_owned(),
        started_at: "2026-11-21T07:00:00Z".to_owned(),
        finished_at: "2026-11-21T07:00:10Z".to_owned(),
        simulated: true,
        host: BTreeMap::new(),
        gpus: (0..n).map(gpu).collect(),
        absent: Vec::new(),
        pairs: pairs.collect(),
        measurements: Vec::new(),
        nccl: None,
        load: None,
        parts: Vec::new(),
        logs: Vec::new(),
        failures: Vec::new(),
        notes: Vec::new(),
        health: None,
        conclusion: Conclusion::undecided(),
    }
}

/// Two GPUs and a change.
pub(super) fn with(change: impl FnOnce(&mut Report)) -> Report {
    let mut report = healthy(2);
    change(&mut report);
    report
}

/// The check of this name, from GPU 1 to GPU 0 of the first pair.
pub(super) fn of<'a>(report: &'a mut Report, name: &str) -> &'a mut Check {
    let checks = &mut report.pairs[0].directions[1].checks;
    checks.iter_mut().find(|check| check.name == name).unwrap()
}

pub(super) fn ends(report: &mut Report, name: &str, outcome: Outcome, code: Option<i32>) {
    let check = of(report, name);
    check.outcome = outcome;
    check.code = code;
    check.reason = Some(format!("{name} came to {outcome:?}"));
}

/// NCCL's rung, both ways.
pub(super) fn nccl(report: &mut Report, outcome: Outcome) {
    for direction in &mut report.pairs[0].directions {
        direction.checks.push(Check {
            engine: Engine::Nccl,
            outcome,
            reason: Some("ncclAllReduce did not return".to_owned()),
            ..check((7, "nccl"))
        });
    }
}

/// Wrong data in a check.
pub(super) fn wrong(report: &mut Report, name: &str, untouched: bool, writer_sees_it: Option<bool>) {
    ends(report, name, Outcome::Fail, None);
    of(report, name).mismatch = Some(Mismatch {
        first_offset: 0,
        words: 7,
        in_guard: false,
        untouched,
        writer_sees_it,
    });
}

/// Refused both ways, with this status.
pub(super) fn refuse(report: &mut Report, status: P2pStatus) {
    for direction in &mut report.pairs[0].directions {
        direction.can_access_peer = Fact::read(false, "cuDeviceCanAccessPeer");
        direction.nvml = nvml(status);
        for check in &mut direction.checks {
            check.outcome = Outcome::Skipped;
            check.reason = Some("enable_peer_access did not pass".to_owned());
        }
        direction.checks[0].outcome = Outcome::Fail;
        direction.checks[0].code = Some(217);
    }
}

pub(crate) fn gpu_fact(report: &mut Report, gpu: usize, name: &str, value: impl Into<Value>) {
    let facts = &mut report.gpus[gpu].facts;
    facts.insert(name.to_owned(), Fact::read(value.into(), "test"));
}

pub(super) fn host_fact(report: &mut Report, name: &str, value: impl Into<Value>) {
    report
        .host
        .insert(name.to_owned(), Fact::read(value.into(), "test"));
}

pub(super) fn pair_fact(report: &mut Report, name: &str, value: impl Into<Value>) {
    let facts = &mut report.pairs[0].facts;
    facts.insert(name.to_owned(), Fact::read(value.into(), "test"));
}

pub(super) fn log(report: &mut Report, when: When, text: &str) {
    report.logs.push(LogExcerpt {
        source: "kmsg".to_owned(),
        when,
        text: format!("something else\n{text}\n"),
    });
}

/// Quick timings, in GB/s by source and destination.
pub(super) fn timings(report: &mut Report, peer_access: bool, rate: impl Fn(u32, u32) -> f64) {
    let count = u32::try_from(report.gpus.len()).unwrap();
    let ends = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
    let cells = ends.filter(|(from, to)| from != to).map(|(from, to)| {
        let samples = vec![rate(from, to); 3];
        Cell::new(Some(from), Some(to), Ok(samples))
    });
    report.measurements.push(Measurement {
        metric: "d2d_bandwidth".to_owned(),
        unit: "GB/s".to_owned(),
        engine: Engine::Ce,
        operation: Operation::Push,
        bytes: 16 << 20,
        peer_access: Some(peer_access),
        at_once: None,
        taken: None,
        cells: cells.collect(),
    });
}

/// The verdict of a pair of the report, all of whose pointers lead somewhere.
#[track_caller]
pub(super) fn judged(mut report: Report, pair: usize) -> PairVerdict {
    judge(&mut report, Expect::Auto);
    let json = serde_json::to_value(&report).unwrap();
    let verdict = report.pairs[pair].verdict.clone();
    assert!(!verdict.evidence.is_empty(), "{verdict:?}");
    for pointer in &verdict.evidence {
        assert!(json.pointer(pointer).is_some(), "{pointer} leads nowhere");
    }
    verdict
}

#[track_caller]
pub(super) fn assert_cause(report: Report, cause: &str) -> PairVerdict {
    let verdict = judged(report, 0);
    assert_eq!(verdict.cause.as_deref(), Some(cause), "{verdict:?}");
    verdict
}

/// The causes of the rows for pairs, in order.
fn rows_of_pair() -> Vec<&'static str> {
    super::rows::of_pair().map(|row| row.named.cause).collect()
}

//! Pairs, checks and figures of a machine on which all is well but for what the machine itself says.

use std::collections::BTreeMap;

use super::SOURCE;
use super::machine::Machine;
use crate::report::{
    Cell, Check, Direction, Engine, Fact, GpuIndex, Measurement, NvmlP2p, Operation, Outcome, P2pStatus,
    Pair, PairVerdict,
};

/// Rung, name, what moves the bytes, who compares them.
type Step = (u8, &'static str, Engine, &'static str);

const STEPS: [Step; 9] = [
    (2, "enable_peer_access", Engine::Api, "none"),
    (3, "copy_push", Engine::Ce, "owner_kernel"),
    (3, "copy_pull", Engine::Ce, "owner_kernel"),
    (4, "sm_store", Engine::Sm, "owner_kernel"),
    (4, "sm_load", Engine::Sm, "initiator_kernel"),
    (4, "sm_atomic", Engine::Sm, "owner_kernel"),
    (5, "resident_exchange", Engine::Sm, "owner_kernel"),
    (6, "ipc_legacy", Engine::Ipc, "owner_kernel"),
    (6, "ipc_vmm", Engine::Ipc, "owner_kernel"),
];

/// Data of each check, as the agent's default is.
const BYTES: u64 = 4 << 20;

fn check((rung, name, engine, checked_by): Step) -> Check {
    Check {
        rung,
        name: name.to_owned(),
        engine,
        outcome: Outcome::Pass,
        reason: None,
        reason_code: None,
        earlier_code: None,
        call: None,
        code: None,
        code_name: None,
        checked_by: checked_by.to_owned(),
        bytes: if rung == 2 { 0 } else { BYTES },
        windows: if rung == 2 { 0 } else { 16 },
        spread_bytes: if rung == 2 { 0 } else { 30 << 30 },
        mismatch: None,
        seconds: 0.01,
        rerun: false,
    }
}

fn direction(machine: Machine, initiator: GpuIndex, owner: GpuIndex) -> Direction {
    let status = || Fact::read(machine.status(), "nvmlDeviceGetP2PStatus");
    Direction {
        initiator,
        owner,
        can_access_peer: Fact::read(machine.status() == P2pStatus::Ok, "cuDeviceCanAccessPeer"),
        nvml: NvmlP2p {
            read: status(),
            write: status(),
            nvlink: status(),
            atomics: status(),
            pci: status(),
        },
        cuda_attributes: BTreeMap::new(),
        checks: STEPS.map(check).into(),
    }
}

pub(super) fn pair(machine: Machine, a: GpuIndex, b: GpuIndex) -> Pair {
    let links = machine.links();
    Pair {
        a,
        b,
        nvlinks: Fact::read(links, SOURCE),
        nvswitch: Fact::read(links > 0, SOURCE),
        common_ancestor: Fact::read("NODE".to_owned(), SOURCE),
        facts: BTreeMap::new(),
        directions: vec![direction(machine, a, b), direction(machine, b, a)],
        verdict: PairVerdict::undecided(),
    }
}

/// Quick timings of all directions.
pub(super) fn copies(count: u32, rate: impl Fn(GpuIndex, GpuIndex) -> f64) -> Measurement {
    let ends = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
    let cells = ends.filter(|(from, to)| from != to).map(|(from, to)| {
        let rate = rate(from, to);
        Cell::new(Some(from), Some(to), Ok(vec![rate, rate * 0.996, rate * 1.002]))
    });
    Measurement {
        metric: "d2d_bandwidth".to_owned(),
        unit: "GB/s".to_owned(),
        engine: Engine::Ce,
        operation: Operation::Push,
        bytes: 16 << 20,
        peer_access: Some(true),
        at_once: None,
        taken: None,
        cells: cells.collect(),
    }
}

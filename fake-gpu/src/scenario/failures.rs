//! Scenarios in which the driver grants access, and something goes wrong.

use super::{
    Access, CallEffect, CallFault, Change, Condition, Fate, LinkErrors, LogLine, MemoryFault, Route,
    Scenario, Speed,
};
use std::path::Path;

impl Scenario {
    /// Stores of a kernel reach the other GPU when the kernel has ended: whoever synchronises and then compares finds
    /// nothing wrong, two resident kernels wait for each other for ever.
    pub fn handshake_hang() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "handshake-hang".into();
        scenario.memory_faults.push(MemoryFault {
            routes: vec![Route::Sm],
            accesses: vec![Access::Store, Access::Atomic],
            ..MemoryFault::always(Fate::AtKernelEnd)
        });
        scenario
    }

    /// Within one process all is well; what another process opens or imports is a private mirror.
    pub fn ipc_broken() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "ipc-broken".into();
        scenario.memory_faults.push(MemoryFault {
            routes: vec![Route::Ipc],
            ..MemoryFault::always(Fate::PrivateMirror)
        });
        scenario
    }

    /// One byte of every 4096 that GPU 0 writes to the upper half of GPU 1's memory arrives with a bit flipped: a
    /// test of small buffers at the beginning sees nothing.
    pub fn corrupted_above() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "corrupted-above".into();
        let bytes = scenario.gpus.first().map_or(0, |gpu| gpu.memory_bytes);
        scenario.memory_faults.push(MemoryFault {
            initiator: Some(0),
            owner: Some(1),
            accesses: vec![Access::Store],
            range: Some((bytes / 2, bytes)),
            ..MemoryFault::always(Fate::Corrupted {
                xor: 0x10,
                every: 4096,
                at: 0,
            })
        });
        scenario
    }

    /// Enabling peer access gives 711: too many peers.
    pub fn too_many_peers() -> Self {
        Self::code_from("cuCtxEnablePeerAccess", 711)
    }

    /// Enabling peer access gives 217 after the query said yes.
    pub fn refused_after_grant() -> Self {
        Self::code_from("cuCtxEnablePeerAccess", 217)
    }

    /// Enabling peer access gives 205.
    pub fn map_failed() -> Self {
        Self::code_from("cuCtxEnablePeerAccess", 205)
    }

    /// Enabling peer access gives a code that nobody knows.
    pub fn unknown_code() -> Self {
        Self::code_from("cuCtxEnablePeerAccess", 9999)
    }

    /// Two working H200; when peer access is first enabled, an Xid of GPU 1 appears in the kernel log at `file`.
    pub fn xid_in_window(file: &Path, xid: u32, message: &str) -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = format!("xid-{xid}-in-window");
        let line = scenario
            .gpus
            .get(1)
            .map(|gpu| LogLine::xid(file, gpu, xid, message));
        scenario.log.extend(line);
        scenario
    }

    /// Two GPUs in PCIe slots that are slower with peer access than without: 9.9 and 22 GB/s, as in NCCL's issue 814.
    pub fn slower_with_peer_access() -> Self {
        let mut scenario = Self::healthy_pcie(2);
        scenario.name = "slower-with-peer-access".into();
        scenario.speed = Speed::uniform(2, 9.9, 22.0);
        scenario
    }

    /// Four H200, of which GPU 1 has lost half its links, and so half its bandwidth.
    pub fn half_the_links_down() -> Self {
        let mut scenario = Self::healthy(4);
        scenario.name = "half-the-links-down".into();
        for link in scenario
            .gpus
            .iter_mut()
            .skip(1)
            .take(1)
            .flat_map(|gpu| gpu.nvlinks.iter_mut().skip(9))
        {
            link.active = false;
        }
        scenario.speed = Speed::uniform(4, 391.8, 38.5);
        let halved = |from: usize, to: usize| from == 1 || to == 1;
        scenario.speed.scale(0.5, halved);
        scenario
    }

    /// Four H200, where what flows from GPU 2 to GPU 3, and only that, flows at five eighths.
    pub fn one_lane_slow() -> Self {
        let mut scenario = Self::healthy(4);
        scenario.name = "one-lane-slow".into();
        scenario.speed = Speed::uniform(4, 391.8, 38.5);
        scenario.speed.scale(0.625, |from, to| (from, to) == (2, 3));
        scenario
    }

    /// An uncorrectable memory error on GPU 1: the first query of a stream there gives 214, and its context nothing
    /// else from then on; NVML's counters have risen since peer access was first enabled.
    pub fn ecc_error() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "ecc-error".into();
        let effect = CallEffect::Spoil { gpu: 1, code: 214 };
        scenario
            .call_faults
            .push(CallFault::always("cuStreamQuery", effect));
        scenario.change(1, "cuCtxEnablePeerAccess", 1, |condition| {
            condition.ecc.volatile_uncorrected += 1;
            condition.ecc.aggregate_uncorrected += 1;
        });
        scenario
    }

    /// GPU 1 falls off the bus with the fifth kernel launched: 719 from its context, no new context, and NVML says lost.
    pub fn gpu_lost() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "gpu-lost".into();
        scenario.change(1, "cuLaunchKernel", 5, |condition| condition.lost = true);
        scenario
    }

    /// Everything works, but checksums of a link of GPU 1 have gone wrong since peer access was first enabled.
    pub fn link_errors_rise() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "link-errors-rise".into();
        scenario.change(1, "cuCtxEnablePeerAccess", 1, |condition| {
            condition.link_errors.push(LinkErrors {
                link: 3,
                crc: 12,
                replay: 4,
                recovery: 1,
            });
        });
        scenario
    }

    /// Changes what NVML says of a GPU, once a function has been called so often by all processes together.
    fn change(&mut self, gpu: usize, call: &str, times: u64, by: impl Fn(&mut Condition)) {
        if let Some(gpu) = self.gpus.get_mut(gpu) {
            let mut condition = gpu.condition.clone();
            by(&mut condition);
            gpu.changes.push(Change {
                after_call: call.into(),
                times,
                condition,
            });
        }
    }
}

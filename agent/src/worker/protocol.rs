//! What parent and worker say to each other: one JSON value a line, one answer to each command, in order.
//!
//! Both ends are the same binary, yet the version is checked: the binary can be replaced while a daemon runs, and
//! the worker is started from the file. The worker speaks first, with [`Answer::Ready`].

use kb_core::report::{Conditions, Fact, Gpu, NvmlP2p, ReasonCode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod bench;
mod check;
mod load;
mod nccl;

pub(crate) use bench::{By, FlowKind, FlowOf, Measure, Place, Sampled, WrongData};
pub(crate) use check::{CheckKind, CheckResult, Checked};
pub(crate) use load::{LoadOf, LoadStep, Loaded as LoadedGpu, Took, WrongLoad};
pub(crate) use nccl::{Collective, NcclAnswer, NcclCommand, NcclMember, NcclRun};

/// Raised with every change to the messages.
pub(crate) const VERSION: u32 = 11;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Command {
    /// Load the driver's library. Answered by [`Answer::Loaded`].
    Load,
    /// Initialise the loaded driver and list the GPUs. Answered by [`Answer::Opened`].
    Open,
    /// What may have changed on the GPUs: counters, what depends on load. No driver needed. Answered by [`Answer::ReadAgain`].
    ReadAgain {
        /// PCI addresses in the order of the report.
        addresses: Vec<Option<String>>,
    },
    /// Every GPU that NVML lists. Needs no opened driver. Answered by [`Answer::Managed`].
    ListManaged,
    /// Initialise the loaded driver and say which GPUs there are, and no more. Answered by [`Answer::Attached`].
    Attach,
    /// Rung 1 of a pair, both directions. Answered by [`Answer::PairFacts`].
    PairFacts {
        a: u32,
        b: u32,
    },
    /// Context, stream, kernels and buffers on a GPU, unless they are there. Answered by [`Answer::Prepared`].
    Prepare {
        gpu: u32,
        bytes: u64,
        /// Spread the windows over most of the GPU's memory.
        spread: bool,
        /// Longest time to wait for work on the GPU.
        limit_ms: u64,
    },
    /// One check; both GPUs are prepared, or the one that is both. Answered by [`Answer::Checked`].
    Check {
        /// Whose context or kernel accesses the other's memory.
        initiator: u32,
        owner: u32,
        kind: CheckKind,
        seed: u64,
        limit_ms: u64,
    },
    /// Times copies that the source pushes; both GPUs are prepared. Answered by [`Answer::Timed`].
    Time {
        /// Where the bytes come from, and whose context copies them.
        source: u32,
        destination: u32,
        bytes: u64,
        samples: u32,
        limit_ms: u64,
    },
    /// The bench's memory and kernels on a prepared GPU, unless there. Answered by [`Answer::BenchPrepared`].
    PrepareBench {
        gpu: u32,
        /// Bytes of the buffer that is sent from, and of the one that is received in.
        bytes: u64,
        pinned_bytes: u64,
        pageable_bytes: u64,
        /// CPUs next to the GPU, on which a thread gets host memory next to it; none where they are not known.
        cpus: Vec<u32>,
        limit_ms: u64,
    },
    /// One cell of the bench, or several measured at once; all GPUs are prepared for it. Answered by [`Answer::Measured`].
    Measure(Measure),
    /// One step of the load on GPUs that are all prepared for the bench. Answered by [`Answer::LoadStepped`].
    LoadStep(LoadStep),
    /// Rung 6, first step, in the owner's process: expose windows of memory and hand it out. Answered by
    /// [`Answer::Offered`], or by [`Answer::Checked`] where that is not possible.
    Offer {
        owner: u32,
        way: Way,
        /// Seed of the pattern that will be stored there.
        seed: u64,
    },
    /// Rung 6, second step, in the other process: open the memory, store the pattern. Answered by [`Answer::Checked`].
    Reach {
        initiator: u32,
        /// How it was handed out. A descriptor comes with this command.
        way: Way,
        offered: Offered,
        seed: u64,
    },
    /// Rung 6, third step, in the owner's process: compare, then put another pattern. Answered by [`Answer::Checked`].
    Verify {
        owner: u32,
        way: Way,
        /// Seed of the pattern that was stored.
        seed: u64,
        /// Seed of the pattern that will be loaded.
        next_seed: u64,
    },
    /// Rung 6, last step, in the other process: load, compare and close the memory. Answered by [`Answer::Checked`].
    Fetch {
        initiator: u32,
        seed: u64,
    },
    /// A step with NCCL. Answered by [`Answer::Nccl`].
    Nccl(NcclCommand),
    Close,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManagedGpu {
    /// PCI address, `0000:3b:00.0`, or why NVML does not answer about it.
    pub(crate) address: Result<String, Unanswered>,
    /// UUID, where NVML tells it.
    pub(crate) uuid: Option<String>,
    /// Whether it is split into MIG devices.
    pub(crate) is_mig: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NoList {
    /// There is no NVML, or nobody to ask it, and why.
    NotAsked(String),
    /// It was opened and does not answer.
    Unanswered(Unanswered),
}

impl NoList {
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::NotAsked(message) | Self::Unanswered(Unanswered { message, .. }) => message,
        }
    }
}

/// A GPU, or all of them, about which NVML does not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unanswered {
    pub(crate) why: Why,
    pub(crate) message: String,
}

/// Kind of an error of NVML about a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// NVML says that it is lost (15).
    Lost,
    /// This process may not ask about it (4).
    NoPermission,
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Way {
    Legacy,
    Vmm,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Offered {
    /// The handle, empty where a descriptor comes with the message.
    pub(crate) handle: Vec<u8>,
    pub(crate) bytes: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Ready {
        version: u32,
    },
    /// The library is loaded; nothing was called yet.
    Loaded(Loaded),
    Opened(Box<Opened>),
    ReadAgain {
        gpus: Vec<BTreeMap<String, Fact>>,
    },
    /// GPUs in NVML's order, or why NVML lists none.
    Managed {
        gpus: Result<Vec<ManagedGpu>, NoList>,
    },
    /// UUIDs of the GPUs in CUDA order.
    Attached {
        /// `None` where the driver does not tell it.
        uuids: Vec<Option<String>>,
    },
    PairFacts(Box<PairFacts>),
    Prepared,
    BenchPrepared {
        /// Why its host memory was not taken next to it, where that was asked.
        elsewhere: Option<String>,
    },
    Checked(Checked),
    Timed {
        seconds: Vec<f64>,
    },
    Measured {
        samples: Vec<Sampled>,
        /// Of the GPUs that took part, during the middle sample.
        conditions: Vec<Conditions>,
        wrong: Vec<WrongData>,
    },
    LoadStepped {
        gpus: Vec<LoadedGpu>,
        /// Read while the work ran, where that was asked.
        conditions: Vec<Conditions>,
        wrong: Vec<WrongLoad>,
    },
    /// See [`Offered`]; a descriptor comes ahead of it on the input's socket.
    Offered(Offered),
    Nccl(NcclAnswer),
    /// The command could not be done. The worker goes on.
    Failed(CallFailure),
}

/// The driver's library, known even where the driver then refuses to work.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Loaded {
    pub(crate) simulated: bool,
    pub(crate) library: Fact<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Opened {
    pub(crate) cuda_version: Fact<i32>,
    /// The driver's version as NVML states it.
    pub(crate) nvml_driver_version: Fact<String>,
    pub(crate) gpus: Vec<Gpu>,
}

/// Rung 1.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PairFacts {
    pub(crate) nvlinks: Fact<u32>,
    pub(crate) nvswitch: Fact<bool>,
    pub(crate) common_ancestor: Fact<String>,
    pub(crate) forward: DirectionFacts,
    pub(crate) backward: DirectionFacts,
}

/// Rung 1, one way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DirectionFacts {
    pub(crate) can_access_peer: Fact<bool>,
    pub(crate) nvml: NvmlP2p,
    pub(crate) cuda_attributes: BTreeMap<String, Fact<i32>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallFailure {
    /// The exported name, or what was done.
    pub(crate) call: String,
    pub(crate) code: Option<i32>,
    pub(crate) code_name: Option<String>,
    pub(crate) message: String,
    /// Why, for programs, where nothing else says it.
    pub(crate) reason_code: Option<ReasonCode>,
    /// True when the process can no longer be trusted (work still running, context lost): start a fresh one.
    pub(crate) poisoned: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_line_and_come_back_as_sent() {
        let failure = CallFailure {
            call: "cuInit".to_owned(),
            code: Some(802),
            code_name: Some("CUDA_ERROR_SYSTEM_NOT_READY".to_owned()),
            message: "two\nlines".to_owned(),
            reason_code: Some(ReasonCode::GpuLost),
            poisoned: false,
        };
        let line = serde_json::to_string(&Answer::Failed(failure.clone())).unwrap();
        assert!(!line.contains('\n'));
        let Answer::Failed(back) = serde_json::from_str(&line).unwrap() else {
            panic!("{line}");
        };
        assert_eq!(back, failure);

        let command = Command::Check {
            initiator: 0,
            owner: 1,
            kind: CheckKind::SmStore,
            seed: u64::MAX,
            limit_ms: 5,
        };
        let line = serde_json::to_string(&command).unwrap();
        let Command::Check { kind, seed, .. } = serde_json::from_str(&line).unwrap() else {
            panic!("{line}");
        };
        assert_eq!((kind, seed), (CheckKind::SmStore, u64::MAX));
    }
}

//! What parent and worker say to each other: one JSON value a line, one answer to each command, in order.
//!
//! Both ends are the same binary, yet the version is checked: the binary can be replaced while a daemon runs, and
//! the worker is started from the file. The worker speaks first, with [`Answer::Ready`].

use kb_core::report::{Conditions, Fact, Gpu, NvmlP2p, ReasonCode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod bench;
mod check;
mod nccl;

pub(crate) use bench::{By, FlowKind, FlowOf, Measure, Place, Sampled, WrongData};
pub(crate) use check::{CheckKind, CheckResult, Checked};
pub(crate) use nccl::{Collective, NcclAnswer, NcclCommand, NcclMember, NcclRun};

/// Raised with every change to the messages.
pub(crate) const VERSION: u32 = 9;

/// Parent to worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Command {
    /// Load the driver's library. Answered by [`Answer::Loaded`].
    Load,
    /// Initialise the loaded driver and list the GPUs. Answered by [`Answer::Opened`].
    Open,
    /// What may have changed on the GPUs: counters, what depends on load. Needs no opened driver. Answered by
    /// [`Answer::ReadAgain`].
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
        /// Position in the list of GPUs.
        a: u32,
        /// Position in the list of GPUs.
        b: u32,
    },
    /// Context, stream, kernels and buffers on a GPU, unless they are there. Answered by [`Answer::Prepared`].
    Prepare {
        /// Position in the list of GPUs.
        gpu: u32,
        /// Bytes of a check's data.
        bytes: u64,
        /// Spread the windows over most of the GPU's memory.
        spread: bool,
        /// Longest time to wait for work on the GPU.
        limit_ms: u64,
    },
    /// One check; both GPUs are prepared. Answered by [`Answer::Checked`].
    Check {
        /// Whose context or kernel accesses the other's memory.
        initiator: u32,
        /// Whose memory it is.
        owner: u32,
        /// What to do.
        kind: CheckKind,
        /// Seed of the pattern, used once.
        seed: u64,
        /// Longest time to wait for work on the GPU.
        limit_ms: u64,
    },
    /// Times copies that the source pushes; both GPUs are prepared. Answered by [`Answer::Timed`].
    Time {
        /// Where the bytes come from, and whose context copies them.
        source: u32,
        /// Where they go.
        destination: u32,
        /// Bytes of a copy.
        bytes: u64,
        /// Copies that count.
        samples: u32,
        /// Longest time to wait for work on the GPU.
        limit_ms: u64,
    },
    /// Memory and kernels of the bench on a prepared GPU, unless they are there. Answered by
    /// [`Answer::BenchPrepared`].
    PrepareBench {
        /// Position in the list of GPUs.
        gpu: u32,
        /// Bytes of the buffer that is sent from, and of the one that is received in.
        bytes: u64,
        /// Bytes of page-locked host memory.
        pinned_bytes: u64,
        /// Bytes of ordinary host memory.
        pageable_bytes: u64,
        /// CPUs next to the GPU, on which a thread gets host memory next to it; none where they are not known.
        cpus: Vec<u32>,
        /// Longest time to wait for work on the GPU.
        limit_ms: u64,
    },
    /// One cell of the bench, or several that are measured at the same time; all GPUs are prepared for it. Answered by
    /// [`Answer::Measured`].
    Measure(Measure),
    /// Rung 6, first step, in the owner's process: expose windows of memory and hand it out. Answered by
    /// [`Answer::Offered`], or by [`Answer::Checked`] where that is not possible.
    Offer {
        /// Whose memory it is; prepared.
        owner: u32,
        /// How it is handed out.
        way: Way,
        /// Seed of the pattern that will be stored there.
        seed: u64,
    },
    /// Rung 6, second step, in the other process: open the memory and store the pattern. Answered by
    /// [`Answer::Checked`].
    Reach {
        /// Whose context opens it; prepared.
        initiator: u32,
        /// How it was handed out. A descriptor comes with this command.
        way: Way,
        /// What the owner said of it.
        offered: Offered,
        /// Seed of the pattern.
        seed: u64,
    },
    /// Rung 6, third step, in the owner's process: compare, then put another pattern there. Answered by
    /// [`Answer::Checked`].
    Verify {
        /// Whose memory it is.
        owner: u32,
        /// How it was handed out.
        way: Way,
        /// Seed of the pattern that was stored.
        seed: u64,
        /// Seed of the pattern that will be loaded.
        next_seed: u64,
    },
    /// Rung 6, last step, in the other process: load, compare and close the memory. Answered by [`Answer::Checked`].
    Fetch {
        /// Whose context opened it.
        initiator: u32,
        /// Seed of the pattern.
        seed: u64,
    },
    /// A step with NCCL. Answered by [`Answer::Nccl`].
    Nccl(NcclCommand),
    /// Release everything and end. Not answered.
    Close,
}

/// A GPU that NVML lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManagedGpu {
    /// PCI address, `0000:3b:00.0`, or why NVML does not answer about it.
    pub(crate) address: Result<String, Unanswered>,
    /// UUID, where NVML tells it.
    pub(crate) uuid: Option<String>,
    /// Whether it is split into MIG devices.
    pub(crate) is_mig: bool,
}

/// A GPU about which NVML does not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unanswered {
    /// By the error's kind.
    pub(crate) why: Why,
    /// The call and its error.
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
    /// Any other.
    Failed,
}

/// How one process gives another its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Way {
    /// `cuIpcGetMemHandle`.
    Legacy,
    /// `cuMemExportToShareableHandle`, a file descriptor.
    Vmm,
}

/// Memory that another process may open.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Offered {
    /// The handle, empty where a descriptor comes with the message.
    pub(crate) handle: Vec<u8>,
    /// Its size.
    pub(crate) bytes: u64,
}

/// Worker to parent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The worker runs and waits for commands.
    Ready {
        /// Its [`VERSION`].
        version: u32,
    },
    /// The library is loaded; nothing was called yet.
    Loaded(Loaded),
    /// See [`Opened`].
    Opened(Box<Opened>),
    /// What may have changed.
    ReadAgain {
        /// Facts by name, GPU by GPU.
        gpus: Vec<BTreeMap<String, Fact>>,
    },
    /// GPUs in NVML's order, or why NVML lists none.
    Managed {
        /// See [`ManagedGpu`].
        gpus: Result<Vec<ManagedGpu>, String>,
    },
    /// UUIDs of the GPUs in CUDA order.
    Attached {
        /// `None` where the driver does not tell it.
        uuids: Vec<Option<String>>,
    },
    /// See [`PairFacts`].
    PairFacts(Box<PairFacts>),
    /// The GPU is ready.
    Prepared,
    /// The GPU is ready for the bench.
    BenchPrepared {
        /// Why its host memory was not taken next to it, where that was asked.
        elsewhere: Option<String>,
    },
    /// See [`Checked`].
    Checked(Checked),
    /// Seconds of each copy.
    Timed {
        /// In the order taken.
        seconds: Vec<f64>,
    },
    /// What a cell came to.
    Measured {
        /// In the order taken.
        samples: Vec<Sampled>,
        /// Of the GPUs that took part, during the middle sample.
        conditions: Vec<Conditions>,
        /// Flows whose data did not arrive as it was sent.
        wrong: Vec<WrongData>,
    },
    /// See [`Offered`]; a descriptor comes ahead of it on the input's socket.
    Offered(Offered),
    /// What a step with NCCL came to.
    Nccl(NcclAnswer),
    /// The command could not be done. The worker goes on.
    Failed(CallFailure),
}

/// The driver's library, known even where the driver then refuses to work.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Loaded {
    /// True when a stand-in took the driver's place.
    pub(crate) simulated: bool,
    /// File of libcuda, as the dynamic loader resolved it.
    pub(crate) library: Fact<String>,
}

/// The driver and its GPUs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Opened {
    /// `cuDriverGetVersion`.
    pub(crate) cuda_version: Fact<i32>,
    /// The driver's version as NVML states it.
    pub(crate) nvml_driver_version: Fact<String>,
    /// GPUs in CUDA order.
    pub(crate) gpus: Vec<Gpu>,
}

/// Rung 1.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PairFacts {
    /// Links that join the two.
    pub(crate) nvlinks: Fact<u32>,
    /// Whether they end at an NVSwitch.
    pub(crate) nvswitch: Fact<bool>,
    /// `PIX`, `PHB`, …
    pub(crate) common_ancestor: Fact<String>,
    /// `a` towards `b`.
    pub(crate) forward: DirectionFacts,
    /// `b` towards `a`.
    pub(crate) backward: DirectionFacts,
}

/// Rung 1, one way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DirectionFacts {
    /// `cuDeviceCanAccessPeer`.
    pub(crate) can_access_peer: Fact<bool>,
    /// The five capabilities.
    pub(crate) nvml: NvmlP2p,
    /// By name.
    pub(crate) cuda_attributes: BTreeMap<String, Fact<i32>>,
}

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallFailure {
    /// The exported name, or what was done.
    pub(crate) call: String,
    /// Its result code, where it returned one.
    pub(crate) code: Option<i32>,
    /// Name of the code.
    pub(crate) code_name: Option<String>,
    /// In words.
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

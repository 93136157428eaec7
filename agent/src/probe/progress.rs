//! What a run is doing, told as it goes to whoever draws it.

/// Takes what the run is doing. Called often (a few thousand times on eight GPUs), between the checks: be quick.
pub(crate) trait Progress {
    /// This begins now.
    fn step(&self, step: Step);
}

/// What a run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The driver is loaded, initialised and asked for its GPUs.
    Opening,
    /// A context is made on a GPU, and memory taken there.
    Preparing {
        /// Position in the list of GPUs.
        gpu: u32,
        /// How many there are.
        of: usize,
    },
    /// Rung 1 of a pair: the driver is asked about it.
    Asking {
        /// The pair.
        pair: PairStep,
    },
    /// A check, or a timing that goes with it.
    Checking {
        /// The pair.
        pair: PairStep,
        /// Whose context or kernel accesses the other's memory.
        initiator: u32,
        /// Whose memory it is.
        owner: u32,
        /// Rung of the ladder.
        rung: u8,
        /// Name of the check as in the report.
        check: &'static str,
    },
    /// Copies or loads of the bench.
    Measuring {
        /// What, as in the report.
        metric: &'static str,
        /// Bytes of a copy.
        bytes: u64,
        /// Which part of the bench, from 1 on.
        part: usize,
        /// How many parts there are; they take unlike long.
        of: usize,
    },
    /// Collectives of NCCL between GPUs, in processes of their own.
    Collectives {
        /// How many GPUs.
        gpus: usize,
        /// False where peer access is switched off.
        peer_access: bool,
    },
    /// The GPUs are given back.
    Closing,
}

/// Which pair of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PairStep {
    /// From 1 on.
    pub(crate) number: usize,
    /// How many there are.
    pub(crate) of: usize,
    /// The GPU with the lower index.
    pub(crate) a: u32,
    /// The GPU with the higher index.
    pub(crate) b: u32,
}

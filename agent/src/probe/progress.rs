//! What a run is doing, told as it goes to whoever draws it.

/// Takes what the run is doing. Called often (a few thousand times on eight GPUs), between the checks: be quick.
pub(crate) trait Progress {
    fn step(&self, step: Step);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The driver is loaded, initialised and asked for its GPUs.
    Opening,
    /// A context is made on a GPU, and memory taken there.
    Preparing {
        gpu: u32,
        of: usize,
    },
    /// Rung 1 of a pair: the driver is asked about it.
    Asking {
        pair: PairStep,
    },
    Checking {
        pair: PairStep,
        /// Whose context or kernel accesses the other's memory.
        initiator: u32,
        owner: u32,
        rung: u8,
        check: &'static str,
    },
    Measuring {
        metric: &'static str,
        bytes: u64,
        /// Which part of the bench, from 1 on.
        part: usize,
        /// How many parts there are; they take unlike long.
        of: usize,
    },
    /// Collectives of NCCL between GPUs, in processes of their own.
    Collectives {
        gpus: usize,
        /// False where peer access is switched off.
        peer_access: bool,
    },
    /// All GPUs compute and copy at once.
    Loading {
        seconds: u64,
        of: u64,
    },
    Closing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PairStep {
    /// From 1 on.
    pub(crate) number: usize,
    pub(crate) of: usize,
    pub(crate) a: u32,
    pub(crate) b: u32,
}

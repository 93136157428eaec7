//! What is asked of a worker about NCCL, and what comes of it.

use kb_core::report::Conditions;
use serde::{Deserialize, Serialize};

pub(crate) use crate::gpu::Collective;

/// A step with NCCL. The driver is open.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NcclCommand {
    Open {
        chosen: Option<String>,
        /// Copies that were found where no loader looks, for where it finds none.
        copies: Vec<String>,
    },
    /// Make a name under which ranks meet, and serve them. Answered by [`NcclAnswer::Named`].
    Name,
    /// Take memory, and join a communicator. Answered by [`NcclAnswer::Joined`] when all ranks have joined.
    Join {
        id: String,
        /// How many there are, in all processes.
        ranks: u32,
        own: Vec<NcclMember>,
        bytes: u64,
        limit_ms: u64,
    },
    /// Run a collective with the ranks of this process. Answered by [`NcclAnswer::Ran`].
    Run(NcclRun),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NcclMember {
    pub(crate) rank: u32,
    pub(crate) gpu: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NcclRun {
    pub(crate) collective: Collective,
    /// Its size as nccl-tests counts it.
    pub(crate) bytes: u64,
    /// How often it is timed together; 0 to have its data compared only.
    pub(crate) times: u32,
    pub(crate) samples: u32,
    /// Longest time to wait for the work of a sample.
    pub(crate) limit_ms: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NcclAnswer {
    Opened {
        /// Its file, where the loader tells it.
        path: Option<String>,
        /// As `ncclGetVersion` states it: 22809.
        version: i32,
    },
    Named {
        id: String,
    },
    Joined,
    /// Every rank of the process has done its part.
    Ran {
        seconds: Vec<f64>,
        /// What is wrong with the data of the first one, in words.
        wrong: Vec<String>,
        /// The GPUs of the process during the middle sample.
        conditions: Vec<Conditions>,
    },
}

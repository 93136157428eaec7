//! What the bench asks of a worker, and what it gets.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Measure {
    /// The flows; the first one starts them all.
    pub(crate) flows: Vec<FlowOf>,
    pub(crate) bytes: u64,
    /// Copies in front of those that count, in the first sample and in each of the others.
    pub(crate) warm_ups: [u32; 2],
    pub(crate) samples: u32,
    /// Flows of one GPU take turns, copy by copy and in their order.
    pub(crate) turns: bool,
    /// Have the owners compare what arrived from other GPUs.
    pub(crate) verify: bool,
    /// Longest time to wait for the work of a sample.
    pub(crate) limit_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FlowOf {
    pub(crate) initiator: u32,
    pub(crate) kind: FlowKind,
    pub(crate) times: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FlowKind {
    Copy {
        source: Place,
        destination: Place,
        by: By,
    },
    Chase {
        /// Whose memory; host memory where there is none.
        owner: Option<u32>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum By {
    CopyEngine,
    /// Whatever the driver takes between two contexts: staged through the host where access is not enabled.
    Contexts,
    Kernel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Place {
    /// A GPU's buffer, from so many lengths of a copy on.
    Gpu(u32, u32),
    /// The initiator's page-locked memory, from so many lengths on.
    Pinned(u32),
    Pageable,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sampled {
    /// Seconds a copy or hop, flow by flow; a turn, where they take turns.
    pub(crate) each: Vec<f64>,
    /// Seconds from the first start to the last end.
    pub(crate) together: f64,
    /// Seconds a copy that the host needed to queue the first flow.
    pub(crate) queueing: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrongData {
    pub(crate) source: u32,
    pub(crate) destination: u32,
    pub(crate) message: String,
}

//! What happened to a node between two of its reports.

use kb_core::ids::{NodeId, ReportId};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// What a report says of its machine beside its health.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Machine {
    /// UUIDs of the GPUs that it lists.
    pub gpus: Vec<String>,
    /// Whether these are all that the node has: a run on some GPUs alone tells of no other.
    pub shows_all: bool,
    /// Seconds that its clock is ahead; 0 where it is right, or that cannot be known.
    pub ahead_seconds: i64,
}

/// Something that happened to a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeEvent {
    /// When the server learned of it.
    pub at: OffsetDateTime,
    /// The report of this node that told it; none where another node's did, or an enrolment.
    pub report: Option<ReportId>,
    /// What it was.
    pub change: NodeChange,
}

/// What may happen to a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NodeChange {
    /// It has another host name.
    Renamed {
        /// The former one.
        from: String,
        /// The one it has now.
        to: String,
    },
    /// It has other GPUs than before.
    GpusChanged {
        /// Those that it no longer shows.
        left: Vec<MovedGpu>,
        /// Those that are new to it.
        came: Vec<MovedGpu>,
    },
    /// Another node shows GPUs that were last seen on this one.
    GpusElsewhere {
        /// Their UUIDs.
        gpus: Vec<String>,
        /// The node that shows them.
        node: NodeId,
    },
    /// It is new, and the machine is not: another node was it before.
    Reinstalled {
        /// The node that the machine was.
        from: NodeId,
        /// How that is known: `gpus` (all of them were last seen there) or `machine` (it enrolled as the same machine).
        by: String,
    },
    /// Its clock is ahead.
    ClockAhead {
        /// By so many seconds.
        seconds: i64,
    },
    /// Its clock, which was ahead, is right.
    ClockRight,
}

/// A GPU that came to a node or left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedGpu {
    /// Its UUID.
    pub uuid: String,
    /// The other node that it was last seen on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<NodeId>,
}

impl NodeChange {
    /// The word that the database and the API use.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Renamed { .. } => "renamed",
            Self::GpusChanged { .. } => "gpus_changed",
            Self::GpusElsewhere { .. } => "gpus_elsewhere",
            Self::Reinstalled { .. } => "reinstalled",
            Self::ClockAhead { .. } => "clock_ahead",
            Self::ClockRight => "clock_right",
        }
    }
}

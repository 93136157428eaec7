//! Nodes: the reports that tell how they are, and what happened to them.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::{NodeId, ReportId};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{
    FindingChange, Fleet, FleetQuery, Labels, NodeFinding, NodeQuery, NodeSummary, ReportListing, StoreError,
};

/// Nodes, each with the reports that tell how it is.
#[async_trait]
pub trait NodeStore: Send + Sync + Debug {
    /// The nodes that are asked for, each with its summary, the report whose verdict stands and its latest.
    async fn nodes(&self, query: &NodeQuery) -> Result<Vec<NodeListing>, StoreError>;

    /// One node in the same way; `None` when no report of it came.
    async fn node(&self, id: &NodeId) -> Result<Option<NodeListing>, StoreError>;

    /// What reports of a node show or have shown: what is open first, the worst before the others.
    async fn node_findings(&self, id: &NodeId) -> Result<Vec<NodeFinding>, StoreError>;

    /// A step of a person with one of them, with a row of the audit; false where the node has none of this name.
    async fn change_finding(&self, change: FindingChange) -> Result<bool, StoreError>;

    /// Names of labels that nodes have, in order; at most `limit`.
    async fn label_names(&self, limit: u32) -> Result<Vec<String>, StoreError>;

    /// What happened to a node, newest first.
    async fn node_events(&self, id: &NodeId, limit: u32) -> Result<Vec<NodeEvent>, StoreError>;

    /// All nodes counted: by verdict, by what their reports show, by when their latest runs ended.
    async fn fleet(&self, query: &FleetQuery) -> Result<Fleet, StoreError>;
}

/// A node with the report whose verdict stands, and its latest one.
///
/// "Latest" is the run that ended last, by the server's clock as far as the node's is known to be wrong; one that is said to
/// end after its report came counts from then. In whatever order reports arrive whose senders tell what their clocks say,
/// the same ones stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeListing {
    pub id: NodeId,
    /// Host name, unless redacted.
    pub hostname: Option<String>,
    /// Labels that it got from its join token.
    pub labels: Labels,
    pub first_seen: OffsetDateTime,
    pub reports: u32,
    pub summary: NodeSummary,
    /// The one whose verdict stands, see [`standing`].
    pub latest: ReportListing,
    /// The latest of all, whatever it is worth.
    pub last_seen: ReportListing,
}

/// The report whose verdict stands: of a node's open faults the worst, else its latest proof of health (`proof` is what the store keeps
/// of both). A node without either is as it was last seen.
pub fn standing(proof: Option<ReportListing>, last_seen: &ReportListing) -> ReportListing {
    proof.unwrap_or_else(|| last_seen.clone())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeEvent {
    pub at: OffsetDateTime,
    /// The report of this node that told it; none where another node's did, or an enrolment.
    pub report: Option<ReportId>,
    pub change: NodeChange,
}

/// Who wrote reports of a node before it enrolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Former {
    /// Nobody with a credential of the node: tokens for any node.
    NoCredential,
    /// Another machine, whose credential works no more.
    AnotherMachine,
    /// The same machine, as far as its name tells, with a credential that worked until then.
    SameMachine,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NodeChange {
    Renamed {
        from: String,
        to: String,
    },
    GpusChanged {
        left: Vec<MovedGpu>,
        came: Vec<MovedGpu>,
    },
    /// Another node shows GPUs that were last seen on this one.
    GpusElsewhere {
        gpus: Vec<String>,
        node: NodeId,
    },
    /// It is new, and the machine is not: another node was it before.
    Reinstalled {
        from: NodeId,
        /// How that is known: `gpus` (all of them were last seen there) or `machine` (it enrolled as the same machine).
        by: String,
    },
    /// It has a credential of its own, and reports of it came before from elsewhere.
    Enrolled {
        /// Who wrote it before.
        before: Former,
        /// Id of the join token.
        with: String,
    },
    ClockAhead {
        /// By so many seconds.
        seconds: i64,
    },
    ClockBehind {
        /// By so many seconds.
        seconds: i64,
    },
    /// A report came so long after its run ended, by the node's clock: it waited, or the clock is behind.
    ClockUnsure {
        seconds: i64,
    },
    /// Its clock, which was wrong or in doubt, is right.
    ClockRight,
}

/// A GPU that came to a node or left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedGpu {
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
            Self::Enrolled { .. } => "enrolled",
            Self::ClockAhead { .. } => "clock_ahead",
            Self::ClockBehind { .. } => "clock_behind",
            Self::ClockUnsure { .. } => "clock_unsure",
            Self::ClockRight => "clock_right",
        }
    }
}

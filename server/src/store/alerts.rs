//! What began and ended on nodes, for other programs: what was not told yet, and what is open.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::{NodeId, RecordId};
use time::{Duration, OffsetDateTime};

use super::{Gravity, Labels, NewDelivery, StoreError};

/// Looks in a row that must have seen a node silent before that is told.
pub const SILENT_LOOKS: u32 = 3;
/// Cause of a silent node. It meets no other cause: ids of records have a slash, and rules stand behind `rule:`.
pub const SILENT: &str = "node-silent";

/// Nodes that are simulated, and what says nothing against a node, are left out everywhere.
#[async_trait]
pub trait AlertStore: Send + Sync + Debug {
    /// Takes the turn to do something until a time; false where another server has it.
    async fn take_turn(
        &self,
        name: &'static str,
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<bool, StoreError>;

    /// Sees which nodes are silent, if a look is due, else false. After a pause the count begins again: no server ran.
    async fn look_for_silence(&self, look: SilenceLook) -> Result<bool, StoreError>;

    /// Beginnings and ends that were not told, the oldest first, at most so many of each. What is acknowledged or silenced has not begun;
    /// only what was told to have begun ends, or says nothing against the node any more.
    async fn untold(&self, seen: Seen, limit: u32) -> Result<NodeAlerts, StoreError>;

    /// Groups that were told after this.
    async fn told_groups(&self, after: OffsetDateTime) -> Result<Vec<GroupName>, StoreError>;

    /// Keeps what is told now, with its deliveries. `None` where the turn is over, or another server has it; else how many older
    /// deliveries were given up for lack of room.
    async fn tell(
        &self,
        turn: Turn,
        told: &[ToldGroup],
        made: &[NewDelivery],
    ) -> Result<Option<u64>, StoreError>;

    /// All that is open, and what ended, was acknowledged or silenced after a time, in the order of its beginning; at most so many of
    /// what is open, of what ended and of silent nodes.
    async fn alerts(
        &self,
        seen: Seen,
        ended_after: OffsetDateTime,
        limit: u32,
    ) -> Result<NodeAlerts, StoreError>;
}

#[derive(Debug, Clone, Copy)]
pub struct SilenceLook {
    pub now: OffsetDateTime,
    /// Time from look to look.
    pub every: Duration,
    /// A node whose latest run ended before this is silent.
    pub silent_before: OffsetDateTime,
}

#[derive(Debug, Clone, Copy)]
pub struct Seen {
    pub now: OffsetDateTime,
    pub silent_before: OffsetDateTime,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeAlerts {
    pub list: Vec<NodeAlert>,
    /// There may be more than were asked for.
    pub is_cut: bool,
}

/// What one node shows, or that it is silent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeAlert {
    pub node: NodeId,
    pub labels: Labels,
    /// The record's id, else `rule:` and the rule, or [`SILENT`].
    pub cause: String,
    pub record: Option<RecordId>,
    /// What a report says of it; empty of silence.
    pub title: String,
    pub gravity: Gravity,
    pub opened_at: OffsetDateTime,
    /// `None`: it is open.
    pub ended_at: Option<OffsetDateTime>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GroupName {
    /// What is told of it: `finding.began`.
    pub kind: String,
    pub cause: String,
    /// The labels that its nodes share, as a JSON object.
    pub labels: String,
}

#[derive(Debug, Clone)]
pub struct ToldGroup {
    pub name: GroupName,
    pub has_ended: bool,
    pub nodes: Vec<NodeId>,
}

#[derive(Debug, Clone, Copy)]
pub struct Turn {
    pub name: &'static str,
    pub until: OffsetDateTime,
    pub now: OffsetDateTime,
}

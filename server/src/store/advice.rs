//! What nodes were advised, by which version of records and policy.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::{NodeId, RecordId, ReportId};
use kb_core::severity::Action;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::StoreError;

/// Decisions of a node that are kept, the newest.
pub const ADVICE_OF_NODE: usize = 200;

/// What was decided about a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    pub node: NodeId,
    pub at: OffsetDateTime,
    /// The report whose verdict stood.
    pub report: ReportId,
    pub verdict: Verdict,
    /// What to do first; none where no record says it.
    pub action: Option<Action>,
    pub record: Option<RecordId>,
    pub rule: String,
    /// Version of records and policy; none where it was not noted.
    pub rule_set: Option<String>,
}

#[async_trait]
pub trait AdviceStore: Send + Sync + Debug {
    /// Decisions about a node, the newest first.
    async fn advice(&self, node: &NodeId, limit: u32) -> Result<Vec<Advice>, StoreError>;
}

//! Which nodes have which policy: a new one is tried on a share of them first.

use kb_core::ids::NodeId;
use kb_core::policy::{Policy, Share, Stage};

use super::names::by_all_names;
use crate::feed::Generation;

/// The policies of a server.
#[derive(Debug, Clone, Default)]
pub struct Stages {
    pub current: Policy,
    /// One that is tried, and on how many nodes.
    pub candidate: Option<(Policy, Share)>,
}

impl Stages {
    /// The policy of a node, whatever its labels are.
    pub fn of(&self, node: &NodeId) -> (Stage, &Policy) {
        match &self.candidate {
            Some((policy, share)) if share.has(node) => (Stage::Candidate, policy),
            _ => (Stage::Current, &self.current),
        }
    }

    /// The same policies about their records under whatever id.
    #[must_use]
    pub fn by_all_names(&self, generation: &Generation) -> Self {
        let of = |policy: &Policy| by_all_names(policy.clone(), generation);
        let candidate = self.candidate.as_ref();
        Self {
            current: of(&self.current),
            candidate: candidate.map(|(policy, share)| (of(policy), *share)),
        }
    }

    /// Whether labels have to be known to judge a node.
    pub fn asks_for_labels(&self) -> bool {
        let candidate = self.candidate.as_ref();
        self.current.asks_for_labels() || candidate.is_some_and(|(policy, _)| policy.asks_for_labels())
    }
}

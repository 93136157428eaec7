//! What a server gives an agent to judge by.

use serde::{Deserialize, Serialize};

use super::Policy;

/// Which of the server's policies a node has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The one that all nodes have which are not chosen for another.
    #[default]
    Current,
    /// One that is tried on a share of the nodes first.
    Candidate,
}

impl Stage {
    /// `current`, `candidate`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Candidate => "candidate",
        }
    }
}

/// A policy as it is for one node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// Which one it is.
    #[serde(default)]
    pub stage: Stage,
    /// Version of everything that decides on the server: records and policy.
    #[serde(default)]
    pub rule_set: String,
    /// Its rules, as far as they are for this node.
    #[serde(flatten)]
    pub policy: Policy,
}

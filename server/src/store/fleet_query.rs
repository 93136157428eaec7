//! Which nodes are asked for, and in which order they come.

use kb_core::ids::{NodeId, RecordId};
use kb_core::severity::Action;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::NodeListing;

pub const MOST_LABELS: usize = 4;
pub const SEARCH_CHARACTERS: usize = 100;

/// A known value, or that none is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known<T> {
    Is(T),
    Unknown,
}

/// Conditions that a node meets, all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeFilter {
    pub verdict: Option<Verdict>,
    /// What to do first.
    pub action: Option<Known<Action>>,
    /// A record that explains something that is open on it.
    pub record: Option<RecordId>,
    pub model: Option<Known<String>>,
    pub driver: Option<Known<String>>,
    /// Labels that it has: name and value.
    pub labels: Vec<(String, String)>,
    /// Its latest run ended before.
    pub silent_before: Option<OffsetDateTime>,
    pub simulated: Option<bool>,
    /// A part of its id or host name, in whatever case.
    pub text: Option<String>,
}

impl NodeFilter {
    /// Whether every node meets it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NodeOrder {
    #[default]
    Id,
    /// The worst first.
    Verdict,
    /// The latest run first.
    Heard,
    /// The newest verdict first.
    Since,
    /// The most GPUs first.
    Gpus,
}

impl NodeOrder {
    pub const ALL: [Self; 5] = [Self::Id, Self::Verdict, Self::Heard, Self::Since, Self::Gpus];

    /// The word that the API uses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Verdict => "verdict",
            Self::Heard => "heard",
            Self::Since => "since",
            Self::Gpus => "gpus",
        }
    }
}

/// The value by which a node stands where it does in an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderKey {
    Id,
    Number(i64),
    Time(OffsetDateTime),
}

impl OrderKey {
    pub fn of(order: NodeOrder, node: &NodeListing) -> Self {
        let summary = &node.summary;
        match order {
            NodeOrder::Id => Self::Id,
            NodeOrder::Verdict => Self::Number(place_of(summary.verdict)),
            NodeOrder::Heard => Self::Time(summary.heard_at),
            NodeOrder::Since => Self::Time(summary.since),
            NodeOrder::Gpus => Self::Number(i64::from(summary.gpus)),
        }
    }
}

/// The place of a verdict among all, the worst first.
pub fn place_of(verdict: Verdict) -> i64 {
    let worse = Verdict::ALL.into_iter().filter(|other| *other > verdict);
    i64::try_from(worse.count()).unwrap_or_default()
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeQuery {
    pub filter: NodeFilter,
    pub order: NodeOrder,
    /// The other way round.
    pub reversed: bool,
    /// The node that was listed last.
    pub after: Option<(OrderKey, NodeId)>,
    pub limit: u32,
}

impl NodeQuery {
    /// The first nodes by id.
    pub fn first(limit: u32) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// The same behind a node.
    #[must_use]
    pub fn after(self, node: Option<&NodeId>) -> Self {
        Self {
            after: node.map(|node| (OrderKey::Id, node.clone())),
            ..self
        }
    }
}

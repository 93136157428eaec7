//! Edges between records, as the documents state them. An inverse is a view of the reader, never a copied number.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::RecordId;
use crate::record::Record;

/// What an edge says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// The target follows this error.
    LeadsTo,
    /// The target comes before this error.
    PrecededBy,
    /// The target is taken for this error.
    FrequentlyConfusedWith,
}

/// A word that names no kind of edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("kinds of edges are leads_to, preceded_by and frequently_confused_with")]
pub struct UnknownEdgeKind;

impl FromStr for EdgeKind {
    type Err = UnknownEdgeKind;

    fn from_str(text: &str) -> Result<Self, UnknownEdgeKind> {
        let mut all = Self::ALL.into_iter();
        all.find(|kind| kind.as_str() == text).ok_or(UnknownEdgeKind)
    }
}

impl EdgeKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::LeadsTo, Self::PrecededBy, Self::FrequentlyConfusedWith];

    /// The word for it in the store and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LeadsTo => "leads_to",
            Self::PrecededBy => "preceded_by",
            Self::FrequentlyConfusedWith => "frequently_confused_with",
        }
    }
}

/// A directed edge, owned by the record that states it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Edge {
    /// The record that states it.
    pub from: RecordId,
    /// The target as written; it need not exist, nor be an id.
    pub to_text: String,
    /// The target, where it reads as an id.
    pub to: Option<RecordId>,
    /// What it says.
    pub kind: EdgeKind,
    /// How often, from 0 to 1, as claimed.
    pub probability: Option<f64>,
    /// When it holds.
    pub condition: Option<String>,
    /// How to tell the two apart.
    pub distinction: Option<String>,
    /// How long it takes, in free text.
    pub typical_delay: Option<String>,
}

impl Record {
    /// The edges that the document states, in its order: what it leads to, what precedes it, what it is taken for.
    pub fn edges(&self) -> Vec<Edge> {
        let graph = &self.document.transition_graph;
        let leads_to = graph.leads_to.iter().map(|stated| Edge {
            probability: stated.probability,
            condition: stated.condition.clone(),
            typical_delay: stated.typical_delay.clone(),
            ..self.edge(EdgeKind::LeadsTo, &stated.error_id)
        });
        let preceded_by = graph.preceded_by.iter().map(|stated| Edge {
            probability: stated.probability,
            condition: stated.condition.clone(),
            ..self.edge(EdgeKind::PrecededBy, &stated.error_id)
        });
        let confused_with = graph.frequently_confused_with.iter().map(|stated| Edge {
            distinction: stated.distinction.clone(),
            ..self.edge(EdgeKind::FrequentlyConfusedWith, &stated.error_id)
        });
        leads_to.chain(preceded_by).chain(confused_with).collect()
    }

    fn edge(&self, kind: EdgeKind, target: &str) -> Edge {
        Edge {
            from: self.id().clone(),
            to_text: target.to_owned(),
            to: target.parse().ok(),
            kind,
            probability: None,
            condition: None,
            distinction: None,
            typical_delay: None,
        }
    }
}

/// How the records of a set are joined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// Records.
    pub records: usize,
    /// Those at either end of an edge that says something: when it holds, or how to tell the two apart.
    pub joined: usize,
    /// Pairs of records that are taken for each other.
    pub confused: usize,
    /// Those of which either record says how to tell them apart.
    pub told_apart: usize,
}

impl fmt::Display for Standing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            records,
            joined,
            confused,
            told_apart,
        } = self;
        let percent = (joined * 100).checked_div(*records).unwrap_or(0);
        write!(
            out,
            "graph: {joined} of {records} records ({percent} %) have an edge that says when it holds or how to tell apart; \
             of {confused} confused pairs {told_apart} say how"
        )
    }
}

/// Counts how the records of a set are joined. Edges to what is not in the set do not count.
pub fn standing(records: &[Record]) -> Standing {
    let ids: BTreeSet<&RecordId> = records.iter().map(Record::id).collect();
    let mut joined = BTreeSet::new();
    let mut confused = BTreeSet::new();
    let mut told_apart = BTreeSet::new();
    let filled = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
    for edge in records.iter().flat_map(Record::edges) {
        let Some(to) = edge.to.clone().filter(|to| ids.contains(to) && *to != edge.from) else {
            continue;
        };
        let pair = if edge.from < to {
            (edge.from.clone(), to.clone())
        } else {
            (to.clone(), edge.from.clone())
        };
        let is_confused = edge.kind == EdgeKind::FrequentlyConfusedWith;
        if is_confused {
            confused.insert(pair.clone());
        }
        if is_confused && filled(&edge.distinction) {
            told_apart.insert(pair);
        }
        if filled(&edge.condition) || filled(&edge.distinction) {
            joined.extend([edge.from, to]);
        }
    }
    Standing {
        records: records.len(),
        joined: joined.len(),
        confused: confused.len(),
        told_apart: told_apart.len(),
    }
}

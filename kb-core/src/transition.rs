//! Edges between records, as the documents state them. An inverse is a view of the reader, never a copied number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::RecordId;
use crate::record::Record;

/// What an edge says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// The target follows this error.
    LeadsTo,
    /// The target comes before this error.
    PrecededBy,
    /// The target is taken for this error.
    FrequentlyConfusedWith,
}

impl EdgeKind {
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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

//! Edges between records: "this error turns into that one", "these two are taken for each other".

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of edge that a document states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// This error leads to that one.
    LeadsTo,
    /// That error comes before this one.
    PrecededBy,
    /// The two look alike.
    FrequentlyConfusedWith,
}

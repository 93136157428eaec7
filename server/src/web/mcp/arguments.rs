//! What the tools take. The descriptions are read by language models; limits are those of the REST interface.

use std::collections::BTreeMap;

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

/// A text to explain.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct MatchArguments {
    /// The error message, traceback or log as it was printed, unchanged. Whole logs are welcome: line numbers count from 1.
    pub(super) text: String,
    /// Versions and models where it was printed, by component, for example `{"driver": "550.54.14", "cuda": "12.4",
    /// "nccl": "2.21.5", "gpu_model": "NVIDIA H200"}`. Records that do not apply there are marked and come last.
    #[serde(default)]
    pub(super) environment: BTreeMap<String, String>,
}

/// Words to search by.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    /// Words, a code such as "Xid 79", or a piece of an error; at most 4096 bytes. For whole messages use `match`.
    pub(super) query: String,
    /// Only of this domain, for example cuda, nccl, xid.
    pub(super) domain: Option<String>,
    /// Only of this category.
    pub(super) category: Option<String>,
    /// Only with this tag.
    pub(super) tag: Option<String>,
    /// Hits wanted, 1 to 100; 20 unless said.
    #[schemars(range(min = 1, max = 100))]
    pub(super) limit: Option<usize>,
    /// `next_cursor` of the answer before, for the hits after it.
    pub(super) cursor: Option<String>,
}

/// A record to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct RecordArguments {
    /// Its id, two or three segments, as other tools give it: cuda/peer-access-unsupported-by-hardware. A former id will do.
    pub(super) id: String,
}

/// A record to look around.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct GraphArguments {
    /// Id of the record in the middle, or where a path starts.
    pub(super) id: String,
    /// Id of another record: the answer is then the shortest paths by which the first error leads to it.
    pub(super) to: Option<String>,
    /// Steps to look around, 1 to 4; 1 unless said.
    #[schemars(range(min = 1, max = 4))]
    pub(super) depth: Option<u32>,
}

/// What came of trying something.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct OutcomeArguments {
    /// Id of the record that advised it.
    pub(super) id: String,
    /// What was tried: a JSON pointer into the record's document, `/workarounds/0` or `/dead_ends/0`, counted from 0.
    pub(super) tried: String,
    /// Whether the error was gone after it.
    pub(super) worked: bool,
    /// Whether it was there again within a week. Leave it out until you know; then send the same `environment` again.
    pub(super) came_back: Option<bool>,
    /// Versions and models where it was tried, as for `match`.
    #[serde(default)]
    pub(super) environment: BTreeMap<String, String>,
    /// The revision that was read; the published one unless said.
    #[schemars(range(min = 1))]
    pub(super) revision: Option<u32>,
}

//! Records as lines: one JSON object each, with both texts as strings, so that their bytes come back as they were.

use kb_core::ids::{RecordId, Revision};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One record of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Line {
    /// The record.
    #[schema(value_type = String, example = "cuda/peer-access-unsupported-by-hardware")]
    pub id: RecordId,
    /// Its published revision where it was exported; an import numbers anew.
    #[schema(value_type = u32)]
    pub revision: Revision,
    /// Document, byte for byte.
    pub document: String,
    /// Annex, byte for byte.
    pub annex: String,
    /// True where the record was withdrawn: an import keeps it so, that it does not come back with the program's records.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}

pub fn parse_line(line: &str) -> Result<Line, serde_json::Error> {
    serde_json::from_str(line)
}

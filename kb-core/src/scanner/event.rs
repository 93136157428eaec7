//! What a scan reports as it goes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{LinePart, Marked};
use crate::ids::{RecordId, Revision};

/// Where events go; nowhere for callers that want the summary only.
pub(super) type Sink<'a> = Option<&'a mut Vec<Event>>;

/// Something found while scanning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A record stands on a line.
    Hit(Hit),
    /// A record's generic words stand on a line; reported if the scan was asked to.
    Candidate(Hit),
}

/// A record found on a line. There is one for each line and record, whatever number of its patterns match there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Hit {
    /// The record.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub record: RecordId,
    /// Its revision.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub revision: Revision,
    /// What speaks for it: a pattern's id, `signature`, or `code:` and the code.
    pub pattern: String,
    /// What else of the record stands on the line, in the order of the record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Line number, from 1.
    pub line: u64,
    /// First byte of the match in the body.
    pub start: u64,
    /// First byte after the match in the body.
    pub end: u64,
    /// Captured values by name.
    pub captures: BTreeMap<String, String>,
    /// For a signature of several lines: those behind the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<LinePart>,
    /// The line, if it was asked for.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Marked>,
}

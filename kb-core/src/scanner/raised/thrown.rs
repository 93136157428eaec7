//! An error as a report names it, and who wrote the report.

use serde::{Deserialize, Serialize};

/// A line as it is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct RaisedLine<'l> {
    pub(super) text: &'l [u8],
    pub(super) number: u64,
    /// Whether one of the words of `RAISED` stands on it.
    pub(super) has_head: bool,
    /// Whether a record explains it.
    pub(super) is_explained: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::scanner) struct Thrown {
    pub(in crate::scanner) line: u64,
    pub(in crate::scanner) language: Language,
    pub(in crate::scanner) name: String,
    /// The first line of the message.
    pub(in crate::scanner) text: String,
    /// Whether a record explains its line.
    pub(in crate::scanner) is_explained: bool,
}

/// The language of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Language {
    /// A traceback of Python.
    Python,
    /// What the standard library of C++ prints when it ends a program.
    Cpp,
    /// A panic of Rust.
    Rust,
    /// A panic of Go.
    Go,
}

/// Who of many wrote a line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Writer {
    /// The host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The number of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The rank among the workers of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<String>,
}

impl Writer {
    /// Whether the line names nobody.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

//! What the knowledge base says about a report.

use kb_core::ids::{RecordId, Revision, Seq};

/// A finding to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFinding {
    /// The record that explains it; `None`: nothing known explains it.
    pub record: Option<(RecordId, Revision)>,
    /// Id of the rule or pattern in that record's annex, or of the built-in observation.
    pub rule: String,
    /// What it is about: `report`, `pair 0-1`, `gpu 3`, `direction 0-1`.
    pub subject: String,
    /// What is wrong, in the report's own words where it has some, else in those of the record.
    pub title: String,
    /// What led to it: JSON array of {pointer or expression, value}.
    pub evidence: String,
}

/// A finding as kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFinding {
    /// Position within the report.
    pub ordinal: u32,
    /// The finding.
    pub finding: NewFinding,
    /// Seq of the knowledge it was made with.
    pub seq: Seq,
}

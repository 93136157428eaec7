//! Why a report is not accepted. Nothing was kept, unless it says so.

use kb_core::ids::{NodeId, ReportId};
use kb_core::report::{MAJOR, SchemaVersion};
use kb_core::text::TextError;

use crate::domain::enrol::WriterError;
use crate::store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    #[error("the report is not strict JSON: {0}")]
    Text(#[from] TextError),
    #[error(
        "the report has schema version {}.{}, this server reads {MAJOR}: update the server, the agent keeps the report",
        found.major,
        found.minor
    )]
    NewerSchema { found: SchemaVersion },
    /// The sender may not write this node.
    #[error(transparent)]
    Writer(#[from] WriterError),
    #[error("this is not a report: {0}")]
    Shape(String),
    #[error("the report contradicts itself: {}", name_first(.0))]
    Invalid(Vec<Problem>),
    #[error(
        "node {node} has sent another body as report {id} before: a report id names one run, make a new one"
    )]
    Conflict { node: NodeId, id: ReportId },
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A kept body cannot be decompressed: another program wrote it, or the disk lost it.
    #[error("the kept body of the report is damaged: {0}")]
    Damaged(String),
    #[error("the report cannot be compressed: {0}")]
    Compress(#[source] std::io::Error),
    /// A fault of ours; the report may be sent again.
    #[error("reading the report panicked")]
    Panicked,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub pointer: String,
    /// What is wrong, and what would be right.
    pub reason: String,
}

fn name_first(problems: &[Problem]) -> String {
    let Some(first) = problems.first() else {
        return String::new();
    };
    let more = match problems.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    format!("{}: {}{more}", first.pointer, first.reason)
}

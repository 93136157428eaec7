//! A draft tried on a text, beside what is published: does it match, what comes before it, and would it pass the gate?

use std::sync::Arc;

use kb_core::ids::{RecordId, Revision};
use kb_core::record::{Record, signature_set};
use kb_core::scanner::{MatchedLine, ScanOptions, scan};
use kb_core::text::Violation;
use serde::Serialize;
use utoipa::ToSchema;

use super::gate::{NoHealthyLines, refused};
use crate::feed::Generation;

/// What came of trying a draft.
#[derive(Debug, Serialize, ToSchema)]
pub struct Trial {
    /// The draft.
    #[schema(value_type = String)]
    pub id: RecordId,
    /// Its place in the answer, from 1; absent where it does not match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// True where only generic words of it stand in the text.
    pub is_candidate: bool,
    /// Lines that it matches.
    pub count: u64,
    /// The first of them, with what was captured.
    #[schema(value_type = Vec<Object>)]
    pub lines: Vec<MatchedLine>,
    /// All that matches with the draft published, best first.
    #[schema(value_type = Vec<String>)]
    pub matches: Vec<RecordId>,
    /// What keeps it from being published.
    #[schema(value_type = Vec<Object>)]
    pub findings: Vec<Violation>,
}

/// Tries a record on a text as if it were published.
///
/// This computes; call it off the async threads.
pub fn try_draft(record: Record, generation: &Generation, text: &str) -> Result<Trial, NoHealthyLines> {
    let id = record.id().clone();
    let records = [record];
    let findings = refused(&records, generation)?.remove(&id).unwrap_or_default();
    let others = generation.records().map(|published| &published.record);
    let joined = others.filter(|other| *other.id() != id).chain(&records);
    let signatures = signature_set(joined.map(|record| (record, Revision(1))));
    let (matcher, _) = generation.matcher.rebuild(signatures);
    let summary = scan(&Arc::new(matcher), text.as_bytes(), ScanOptions::default());
    let place = summary.matches.iter().position(|found| found.id == id);
    let own = place.and_then(|place| summary.matches.get(place));
    Ok(Trial {
        rank: place.map(|place| place + 1),
        is_candidate: summary.candidates.iter().any(|found| found.id == id),
        count: own.map_or(0, |own| own.count),
        lines: own.map(|own| own.lines.clone()).unwrap_or_default(),
        matches: summary.matches.into_iter().map(|found| found.id).collect(),
        findings,
        id,
    })
}

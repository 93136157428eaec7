//! One text, answered as `POST /api/v1/match` answers it.

use std::collections::BTreeSet;
use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::scanner::Event;
use peerless::domain::lookup::{MatchOptions, Matching};
use peerless::feed::Generation;

/// Bytes pushed at once, as a body comes in.
const PIECE: usize = 64 << 10;

/// What came back.
#[derive(Default)]
pub(crate) struct Answer {
    /// Matches, best first.
    pub(crate) matches: Vec<RecordId>,
    /// Matches, then candidates: what a reader sees, from above.
    pub(crate) shown: Vec<RecordId>,
    /// Every line on which a record stands.
    pub(crate) hits: Vec<(u64, RecordId)>,
    /// The first of `root_causes`.
    pub(crate) first_cause: Option<RecordId>,
    /// Records named as first causes.
    pub(crate) root_causes: BTreeSet<RecordId>,
    /// Captured values of the first match.
    pub(crate) captures: Vec<(String, String)>,
}

/// Asks, with every hit kept.
pub(crate) fn ask(generation: &Arc<Generation>, text: &[u8]) -> Answer {
    let mut matching = Matching::start(Arc::clone(generation), MatchOptions::default());
    let mut hits = Vec::new();
    for piece in text.chunks(PIECE) {
        collect(matching.push(piece), &mut hits);
    }
    let Ok((events, answer)) = matching.finish_with_events() else {
        return Answer::default();
    };
    collect(events, &mut hits);
    let matches: Vec<RecordId> = answer.matches.iter().map(|found| found.id.clone()).collect();
    let candidates = answer.candidates.iter().map(|candidate| candidate.id.clone());
    let folds = answer.matches.first().map(|found| found.folds.as_slice());
    Answer {
        shown: matches.iter().cloned().chain(candidates).collect(),
        matches,
        hits,
        first_cause: answer.root_cause,
        root_causes: answer.root_causes.into_iter().map(|cause| cause.id).collect(),
        captures: folds
            .into_iter()
            .flatten()
            .flat_map(|fold| fold.captures.clone())
            .collect(),
    }
}

fn collect(events: Vec<Event>, hits: &mut Vec<(u64, RecordId)>) {
    for event in events {
        if let Event::Hit(hit) = event {
            hits.push((hit.line, hit.record));
        }
    }
}

/// The place of the first right one, from 0.
pub(crate) fn rank(list: &[RecordId], right: &BTreeSet<RecordId>) -> Option<usize> {
    list.iter().position(|id| right.contains(id))
}

/// The first few, for people.
pub(crate) fn first_few(list: &[RecordId]) -> String {
    let names: Vec<&str> = list.iter().take(3).map(RecordId::as_str).collect();
    if names.is_empty() {
        "nothing".to_owned()
    } else {
        names.join(", ")
    }
}

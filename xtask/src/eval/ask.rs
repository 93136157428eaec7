//! One text, answered as `POST /api/v1/match` answers it.

use std::collections::BTreeSet;
use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::scanner::Event;
use peerless::domain::lookup::{MatchOptions, Matching};
use peerless::feed::Generation;

/// Bytes pushed at once, as a body comes in.
const PIECE: usize = 64 << 10;

#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) matches: Vec<RecordId>,
    /// Matches, then candidates: what a reader sees, from above.
    pub(crate) shown: Vec<RecordId>,
    /// Every line on which a record stands.
    pub(crate) hits: Vec<(u64, RecordId)>,
    pub(crate) first_cause: Option<RecordId>,
    pub(crate) root_causes: BTreeSet<RecordId>,
    pub(crate) captures: Vec<(String, String)>,
}

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

pub(crate) fn first_few(list: &[RecordId]) -> String {
    let names: Vec<&str> = list.iter().take(3).map(RecordId::as_str).collect();
    if names.is_empty() {
        "nothing".to_owned()
    } else {
        names.join(", ")
    }
}

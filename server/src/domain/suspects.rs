//! What may have led to a match: records that the graph puts before it and that no line of the text proves. They are told
//! where the agent can find out which it is, because a rule over its report decides one of them.

use kb_core::ids::RecordId;
use kb_core::transition::EdgeKind;

use super::lookup::MatchAnswer;
use crate::feed::Generation;

/// What finds out which of them it is.
pub const FIND_OUT: &str = "peerless-agent probe";
/// Most of one match; the record has them all.
const MOST: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect {
    pub id: RecordId,
    /// When it is this one, in the words of whichever record states the edge.
    pub condition: Option<String>,
}

/// What may have led to this match, those first that the agent can prove; empty where it can prove none.
pub fn of(generation: &Generation, answer: &MatchAnswer, id: &RecordId) -> Vec<Suspect> {
    let is_matched = |other: &RecordId| answer.matches.iter().any(|found| found.id == *other);
    let mut provable: Vec<Suspect> = Vec::new();
    let mut others = Vec::new();
    for neighbour in generation.graph.neighbours(id) {
        let Ok(other) = neighbour.id.parse::<RecordId>() else {
            continue;
        };
        let is_known = provable.iter().chain(&others).any(|suspect| suspect.id == other);
        if neighbour.relation != EdgeKind::PrecededBy || is_known || is_matched(&other) {
            continue;
        }
        let Some(published) = generation.record(&other) else {
            continue;
        };
        let suspect = Suspect {
            id: other,
            condition: neighbour.condition,
        };
        if published.record.annex.probe.is_empty() {
            others.push(suspect);
        } else {
            provable.push(suspect);
        }
    }
    if provable.is_empty() {
        return Vec::new();
    }
    provable.append(&mut others);
    provable.truncate(MOST);
    provable
}

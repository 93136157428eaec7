//! What came first: matches that no earlier match leads to, and for each of them what it led to.

use std::collections::{BTreeMap, HashSet, VecDeque};

use super::RootCause;
use crate::ids::RecordId;
use crate::matcher::Matcher;

/// Longest way from a cause to what it leads to, in edges. Records on the way need not stand in the text.
const MAX_DEPTH: usize = 6;
/// Matches looked at for causes; the earliest ones.
pub(super) const MAX_MATCHES: usize = 200;

/// A match where it stands first.
pub(super) struct First {
    pub(super) record: u32,
    pub(super) line: u64,
    pub(super) captures: BTreeMap<String, String>,
}

/// Names the causes among matches that are in order, the better one first where two stand at the same place.
pub(super) fn root_causes(matcher: &Matcher, ordered: &[First]) -> Vec<RootCause> {
    let ordered = ordered.get(..MAX_MATCHES).unwrap_or(ordered);
    let reached: Vec<HashSet<u32>> = ordered.iter().map(|first| reach(matcher, first.record)).collect();
    let mut causes = Vec::new();
    for (at, first) in ordered.iter().enumerate() {
        let before = ordered.iter().zip(&reached).take(at);
        let has_cause = before.clone().any(|(_, reached)| reached.contains(&first.record));
        // Two records on one line describe one fault; the better one speaks for it.
        let is_second_view = before.clone().any(|(earlier, _)| earlier.line == first.line);
        if has_cause || is_second_view {
            continue;
        }
        let Some(reached) = reached.get(at) else {
            continue;
        };
        let later = ordered
            .iter()
            .skip(at + 1)
            .filter(|later| reached.contains(&later.record));
        let chain = std::iter::once(first)
            .chain(later)
            .filter_map(|link| id(matcher, link.record));
        if let Some(id) = id(matcher, first.record) {
            let captures = first.captures.clone();
            causes.push(RootCause {
                id,
                line: first.line,
                captures,
                chain: chain.collect(),
            });
        }
    }
    causes
}

fn id(matcher: &Matcher, record: u32) -> Option<RecordId> {
    matcher.record(record).map(|record| record.id.clone())
}

/// Every record that this one leads to, over at most [`MAX_DEPTH`] edges; in a circle that is itself too.
fn reach(matcher: &Matcher, from: u32) -> HashSet<u32> {
    let mut reached = HashSet::new();
    let mut queue = VecDeque::from([(from, 0)]);
    while let Some((record, depth)) = queue.pop_front() {
        let next = matcher.record(record).map_or(&[][..], |record| &record.leads_to);
        for target in next {
            if depth < MAX_DEPTH && reached.insert(*target) {
                queue.push_back((*target, depth + 1));
            }
        }
    }
    reached
}

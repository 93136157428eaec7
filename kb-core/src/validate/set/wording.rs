//! Texts that say the same in two records: each record is written for itself.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::{Entry, Finding, finding};
use crate::record::Document;
use crate::text::{Part, Violation};

/// Words of a shingle.
const WORDS: usize = 5;
/// Texts with fewer shingles have little to say and much in common.
const MIN_SHINGLES: usize = 8;

pub(super) fn check(entries: &[Entry<'_>], found: &mut Vec<Finding>) {
    overlaps(
        entries,
        "/root_cause",
        |document| document.root_cause.clone(),
        found,
    );
    overlaps(entries, "/workarounds", workarounds, found);
    distinctions(entries, found);
    signatures(entries, found);
}

fn workarounds(document: &Document) -> String {
    let texts = document.workarounds.iter().flat_map(|workaround| {
        let how = workaround.how.as_deref().filter(|how| *how != workaround.action);
        [Some(workaround.action.as_str()), how]
    });
    texts.flatten().collect::<Vec<_>>().join("\n")
}

/// Pairs of records that share more than half of the shingles of the shorter text.
fn overlaps(
    entries: &[Entry<'_>],
    pointer: &str,
    text: impl Fn(&Document) -> String,
    found: &mut Vec<Finding>,
) {
    let shingles: Vec<HashSet<u64>> = entries
        .iter()
        .map(|entry| shingles(&text(&entry.document)))
        .collect();
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, own) in shingles.iter().enumerate() {
        for shingle in own {
            holders.entry(*shingle).or_default().push(at);
        }
    }
    for (at, own) in shingles
        .iter()
        .enumerate()
        .filter(|(_, own)| own.len() >= MIN_SHINGLES)
    {
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for other in own.iter().filter_map(|shingle| holders.get(shingle)).flatten() {
            *shared.entry(*other).or_default() += 1;
        }
        shared.remove(&at);
        for (other, count) in shared {
            let Some((theirs, other)) = shingles.get(other).map(HashSet::len).zip(entries.get(other)) else {
                continue;
            };
            // Each pair is told once, at the shorter text, or at the later of two as long.
            let is_shorter = (own.len(), &other.path) < (theirs, &entries.get(at).map_or("", |own| own.path));
            if theirs < MIN_SHINGLES || !is_shorter || count * 2 <= own.len() {
                continue;
            }
            let Some(own_entry) = entries.get(at) else {
                continue;
            };
            let reason = format!(
                "{count} of its {} runs of {WORDS} words stand in {} too",
                own.len(),
                other.document.id
            );
            let violation = Violation::warning(Part::Document, pointer, "same-words", reason);
            let fix = "say what is true of this record only";
            found.push(finding(own_entry.path, violation.fix(fix)));
        }
    }
}

/// Runs of [`WORDS`] words, without case and punctuation, hashed.
fn shingles(text: &str) -> HashSet<u64> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let hash = |run: &[&str]| {
        let mut hasher = DefaultHasher::new();
        run.hash(&mut hasher);
        hasher.finish()
    };
    words.windows(WORDS).map(hash).collect()
}

/// A sentence that tells two records apart cannot tell two others apart.
fn distinctions(entries: &[Entry<'_>], found: &mut Vec<Finding>) {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for entry in entries {
        let edges = &entry.document.transition_graph.frequently_confused_with;
        for (index, edge) in edges.iter().enumerate() {
            let pointer = format!("/transition_graph/frequently_confused_with/{index}");
            let Some(distinction) = edge.distinction.as_deref().filter(|text| !text.trim().is_empty()) else {
                continue;
            };
            let words: Vec<&str> = distinction.split_whitespace().collect();
            let id = entry.document.id.as_str();
            if let Some(first) = seen.insert(words.join(" ").to_lowercase(), id) {
                let reason = format!("{first} has the same sentence");
                let violation = Violation::warning(
                    Part::Document,
                    format!("{pointer}/distinction"),
                    "same-distinction",
                    reason,
                );
                found.push(finding(
                    entry.path,
                    violation.fix("say how to tell these two apart, from this side"),
                ));
            }
        }
    }
}

/// Two records with one signature cannot both come first.
fn signatures(entries: &[Entry<'_>], found: &mut Vec<Finding>) {
    let mut seen: HashMap<String, &Entry<'_>> = HashMap::new();
    for entry in entries {
        if let Some(first) = seen.insert(entry.document.signature.to_lowercase(), entry) {
            let reason = format!("{} has the same signature", first.document.id);
            let violation = Violation::warning(Part::Document, "/signature", "same-signature", reason);
            found.push(finding(
                entry.path,
                violation.fix("make one record of the two, or write what is printed for this cause only"),
            ));
        }
    }
}

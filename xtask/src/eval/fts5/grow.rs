//! More records than there are: copies of the real ones, each word replaced by one drawn from the words of all.

use peerless_search::SearchDoc;

use crate::random::Vocabulary;

/// Adds records until there are `count`. The same records give the same ones.
pub(super) fn grow(documents: &mut Vec<SearchDoc>, count: usize) {
    let originals = documents.clone();
    let texts = originals
        .iter()
        .flat_map(|document| [&document.signature, &document.root_cause])
        .chain(originals.iter().flat_map(|document| &document.workarounds));
    let mut vocabulary = Vocabulary::new(texts.map(String::as_str), 65);
    for (number, original) in (0..).zip(originals.iter().cycle()) {
        if documents.len() >= count {
            return;
        }
        let Ok(id) = format!("grown/{number}").parse() else {
            return;
        };
        let mut other = |text: &str| vocabulary.instead_of(text);
        documents.push(SearchDoc {
            id,
            signature: other(&original.signature),
            root_cause: other(&original.root_cause),
            workarounds: original.workarounds.iter().map(|text| other(text)).collect(),
            dead_ends: original.dead_ends.iter().map(|text| other(text)).collect(),
            codes: vec![format!("GROWN_CODE_{number}")],
            ..original.clone()
        });
    }
}

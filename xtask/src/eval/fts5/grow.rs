//! More records than there are: copies of the real ones, each word replaced by one drawn from the words of all.

use peerless::search::SearchDoc;

use crate::bench::matching::corpus::Random;

/// Adds records until there are `count`. The same records give the same ones.
pub(super) fn grow(documents: &mut Vec<SearchDoc>, count: usize) {
    let originals = documents.clone();
    let words: Vec<String> = originals
        .iter()
        .flat_map(|document| [&document.signature, &document.root_cause])
        .chain(originals.iter().flat_map(|document| &document.workarounds))
        .flat_map(|text| text.split_whitespace())
        .map(str::to_owned)
        .collect();
    if words.is_empty() {
        return;
    }
    let mut random = Random::new(65);
    for (number, original) in (0..).zip(originals.iter().cycle()) {
        if documents.len() >= count {
            return;
        }
        let Ok(id) = format!("grown/{number}").parse() else {
            return;
        };
        let mut other = |text: &str| -> String {
            let drawn = text.split_whitespace().map(|_| {
                let at = random.below(words.len());
                words.get(at).map_or("", String::as_str)
            });
            drawn.collect::<Vec<_>>().join(" ")
        };
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

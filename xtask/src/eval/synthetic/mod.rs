//! Texts made from the records themselves. The same records give the same texts.

pub(crate) mod hosts;
pub(crate) mod mutated;
pub(crate) mod own;
pub(crate) mod planted;

use std::collections::BTreeSet;

use kb_core::ids::RecordId;
use peerless::feed::Generation;

pub(crate) struct Example<'g> {
    pub(crate) record: &'g RecordId,
    pub(crate) text: &'g str,
}

pub(crate) fn examples(generation: &Generation) -> impl Iterator<Item = Example<'_>> {
    generation.records().flat_map(|published| {
        let record = published.record.id();
        let examples = published.record.annex.examples.iter();
        examples.map(move |example| Example {
            record,
            text: &example.text,
        })
    })
}

/// Records with this signature: where two have the same one, either is right.
pub(crate) fn with_signature(generation: &Generation, signature: &str) -> BTreeSet<RecordId> {
    let same = generation
        .records()
        .filter(|published| published.record.document.signature == signature);
    same.map(|published| published.record.id().clone()).collect()
}

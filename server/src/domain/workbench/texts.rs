//! Examples and near misses of all records of a generation, in one list.

use kb_core::ids::RecordId;

use crate::feed::Generation;

#[derive(Debug)]
pub(super) struct Texts {
    pub(super) generation: u64,
    pub(super) list: Vec<TextOf>,
}

#[derive(Debug)]
pub(super) struct TextOf {
    pub(super) record: RecordId,
    pub(super) kind: Kind,
    /// Its place in the annex.
    pub(super) pointer: String,
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Example,
    NearMiss,
}

impl Texts {
    pub(super) fn of(generation: &Generation) -> Self {
        let list = generation.records().flat_map(|published| {
            let annex = &published.record.annex;
            let examples = annex.examples.iter().enumerate().map(|(at, example)| {
                let pointer = format!("/examples/{at}/text");
                (Kind::Example, pointer, example.text.clone())
            });
            let near_misses = annex.near_misses.iter().enumerate().map(|(at, near_miss)| {
                let pointer = format!("/near_misses/{at}/text");
                (Kind::NearMiss, pointer, near_miss.text.clone())
            });
            let record = published.record.id();
            examples.chain(near_misses).map(|(kind, pointer, text)| TextOf {
                record: record.clone(),
                kind,
                pointer,
                text,
            })
        });
        Self {
            generation: generation.number,
            list: list.collect(),
        }
    }
}

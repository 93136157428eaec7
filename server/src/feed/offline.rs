//! A generation from record files alone, without a database: for the command line.

use kb_core::ids::{Revision, Seq};
use kb_core::text::Sha256;
use time::OffsetDateTime;

use super::assembler::Assembler;
use super::generation::Generation;
use crate::store::{FeedChange, RevisionMeta, RevisionTexts, SeedRecord};
use peerless_search::SearchError;

pub fn offline(records: Vec<SeedRecord>) -> Result<Generation, SearchError> {
    let changes: Vec<FeedChange> = (1..)
        .zip(records)
        .map(|(seq, record)| change(Seq(seq), record))
        .collect();
    let reaches = changes.last().map_or(Seq::default(), |change| change.seq);
    Assembler::new().apply(changes, reaches)
}

pub(super) fn change(seq: Seq, record: SeedRecord) -> FeedChange {
    FeedChange {
        seq,
        id: record.id,
        changed_at: OffsetDateTime::UNIX_EPOCH,
        published: Some(RevisionTexts {
            meta: RevisionMeta {
                revision: Revision(1),
                actor: "seed".to_owned(),
                note: None,
                at: OffsetDateTime::UNIX_EPOCH,
                document_sha256: Sha256::of(&record.document).to_string(),
                annex_sha256: Sha256::of(&record.annex).to_string(),
            },
            document: record.document,
            annex: record.annex,
        }),
        forced: None,
        former: Vec::new(),
    }
}

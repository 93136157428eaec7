//! From the columns of a record or a revision to where it stands.

use kb_core::ids::Seq;

use super::convert::{id_from, maybe_revision_from, revision_from, unreadable};
use super::engine::Cells;
use crate::store::{RecordState, RecordStatus, RevisionMeta, StoreError};

macro_rules! meta_columns {
    () => {
        "revision, document_sha256, annex_sha256, actor, note, made_at"
    };
}
pub(super) use meta_columns;

macro_rules! status_columns {
    () => {
        "id, head_revision, published_revision, state, seq, changed_at, forced, withdrawn_reason, replaced_by"
    };
}
pub(super) use status_columns;

pub(super) fn status_from(row: &impl Cells) -> Result<RecordStatus, StoreError> {
    let state = row.text(3)?;
    Ok(RecordStatus {
        id: id_from(row.text(0)?)?,
        head: revision_from(row, 1)?,
        published: maybe_revision_from(row, 2)?,
        state: RecordState::from_word(&state).ok_or_else(|| unreadable("record state", &state))?,
        seq: row.maybe_integer(4)?.map(Seq),
        changed_at: row.time(5)?,
        forced: row.maybe_text(6)?,
        withdrawn_reason: row.maybe_text(7)?,
        replaced_by: row.maybe_text(8)?.map(id_from).transpose()?,
    })
}

/// Reads revision, both hashes, actor, note and time from column `first` on.
pub(super) fn meta_from(row: &impl Cells, first: usize) -> Result<RevisionMeta, StoreError> {
    Ok(RevisionMeta {
        revision: revision_from(row, first)?,
        document_sha256: row.text(first + 1)?,
        annex_sha256: row.text(first + 2)?,
        actor: row.text(first + 3)?,
        note: row.maybe_text(first + 4)?,
        at: row.time(first + 5)?,
    })
}

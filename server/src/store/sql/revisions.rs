//! Heads and revisions: making one, reading them.

use kb_core::ids::{RecordId, Revision};

use super::dialect::Dialect;
use super::engine::{Cells, Engine, values};
use super::face::{id_from, refuse_alias_as_id, unreadable};
use super::session::{SqlStore, Tx};
use crate::store::{Expected, NewRevision, RecordState, RecordStatus, RevisionMeta, RevisionTexts, Saved};
use crate::store::{StoreError, digest};

/// Columns of [`meta_from`], in its order.
macro_rules! meta_columns {
    () => {
        "revision, document_sha256, annex_sha256, actor, note, made_at"
    };
}

impl<DB: Engine> SqlStore<DB> {
    pub(super) async fn save_head(&self, change: NewRevision) -> Result<Saved, StoreError> {
        refuse_nul("the document", &change.document)?;
        refuse_nul("the annex", &change.annex)?;
        refuse_nul("the note", change.note.as_deref().unwrap_or_default())?;
        let document_sha256 = digest::text(&change.document);
        let annex_sha256 = digest::text(&change.annex);

        let mut tx = self.begin_write().await?;
        if change.expected == Expected::Absent {
            // The feed's lock, as publishers take: no alias appears while this id is made, and locks are taken in
            // one order everywhere.
            tx.one(<DB as Dialect>::LOCK_FEED, &[]).await?;
        }
        let head = match lock_head(&mut tx, &change.id).await? {
            Some(head) => Some(head),
            None => match change.expected {
                Expected::Head(_) => {
                    tx.end().await?;
                    return Ok(Saved::Stale(None));
                }
                Expected::Absent => None,
            },
        };
        if let Some(head) = head {
            let same = "SELECT 1 FROM revision \
                WHERE record_id = $1 AND revision = $2 AND document_sha256 = $3 AND annex_sha256 = $4";
            let texts = values![&change.id, head, &document_sha256, &annex_sha256];
            if tx.first(same, texts).await?.is_some() {
                tx.end().await?;
                return Ok(Saved::Unchanged(head));
            }
            if change.expected != Expected::Head(head) {
                tx.end().await?;
                return Ok(Saved::Stale(Some(head)));
            }
        }

        let next = Revision(head.map_or(0, |head| head.0) + 1);
        if head.is_none() {
            refuse_alias_as_id(&mut tx, &[change.id.as_str()]).await?;
            let insert =
                "INSERT INTO record (id, state, head_revision, changed_at) VALUES ($1, 'draft', $2, $3)";
            tx.run(insert, values![&change.id, next, change.at]).await?;
        } else {
            let update = "UPDATE record SET head_revision = $2, changed_at = $3 WHERE id = $1";
            tx.run(update, values![&change.id, next, change.at]).await?;
        }
        let insert = "INSERT INTO revision \
            (record_id, revision, document_sha256, annex_sha256, actor, note, made_at, document, annex) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        let row = values![
            &change.id,
            next,
            &document_sha256,
            &annex_sha256,
            &change.actor,
            change.note.as_deref(),
            change.at,
            &change.document,
            &change.annex,
        ];
        tx.run(insert, row).await?;
        tx.commit().await?;
        Ok(Saved::Saved(next))
    }

    pub(super) async fn status(&self, id: &RecordId) -> Result<Option<RecordStatus>, StoreError> {
        let sql = "SELECT id, head_revision, published_revision, state, seq, changed_at, forced FROM record WHERE id = $1";
        let row = self.read_once().await?.first(sql, values![id]).await?;
        row.as_ref().map(status_from).transpose()
    }

    pub(super) async fn revision(
        &self,
        id: &RecordId,
        revision: Revision,
    ) -> Result<Option<RevisionTexts>, StoreError> {
        let sql = concat!(
            "SELECT ",
            meta_columns!(),
            ", document, annex FROM revision WHERE record_id = $1 AND revision = $2"
        );
        let row = self.read_once().await?.first(sql, values![id, revision]).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(RevisionTexts {
            meta: meta_from(&row, 0)?,
            document: row.text(6)?,
            annex: row.text(7)?,
        }))
    }

    pub(super) async fn revisions(&self, id: &RecordId) -> Result<Vec<RevisionMeta>, StoreError> {
        let sql = concat!(
            "SELECT ",
            meta_columns!(),
            " FROM revision WHERE record_id = $1 ORDER BY revision DESC"
        );
        let rows = self.read_once().await?.all(sql, values![id]).await?;
        rows.iter().map(|row| meta_from(row, 0)).collect()
    }
}

/// The head of a record, which no other writer changes until the transaction ends.
pub(super) async fn lock_head<DB: Engine>(
    tx: &mut Tx<DB>,
    id: &RecordId,
) -> Result<Option<Revision>, StoreError> {
    let row = tx.first(<DB as Dialect>::LOCK_RECORD, values![id]).await?;
    row.map(|row| revision_from(&row, 0)).transpose()
}

/// PostgreSQL keeps no NUL in a text; SQLite would. One answer for both.
pub(super) fn refuse_nul(what: &'static str, text: &str) -> Result<(), StoreError> {
    if text.contains('\0') {
        return Err(StoreError::Unstorable {
            what,
            reason: "it holds a NUL character",
        });
    }
    Ok(())
}

/// Reads id, head, published revision, state, seq, time of change, why it was forced.
pub(super) fn status_from(row: &impl Cells) -> Result<RecordStatus, StoreError> {
    let state = row.text(3)?;
    Ok(RecordStatus {
        id: id_from(row.text(0)?)?,
        head: revision_from(row, 1)?,
        published: maybe_revision_from(row, 2)?,
        state: RecordState::from_word(&state).ok_or_else(|| unreadable("record state", &state))?,
        seq: row.maybe_integer(4)?.map(kb_core::ids::Seq),
        changed_at: row.time(5)?,
        forced: row.maybe_text(6)?,
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

/// Reads a revision's number.
pub(super) fn revision_from(row: &impl Cells, index: usize) -> Result<Revision, StoreError> {
    Ok(Revision(count_from(row.integer(index)?)?))
}

/// Reads a revision's number, if any.
pub(super) fn maybe_revision_from(row: &impl Cells, index: usize) -> Result<Option<Revision>, StoreError> {
    let number = row.maybe_integer(index)?;
    number.map(|number| Ok(Revision(count_from(number)?))).transpose()
}

/// A number that the store wrote and that is never negative.
pub(super) fn count_from<T: TryFrom<i64>>(number: i64) -> Result<T, StoreError> {
    T::try_from(number).map_err(|_| unreadable("number", &number.to_string()))
}

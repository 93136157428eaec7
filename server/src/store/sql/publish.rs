//! Publishing and withdrawing: what readers see changes, and the feed says so.

use kb_core::ids::{RecordId, Revision, Seq};
use time::OffsetDateTime;

use super::dialect::Dialect;
use super::engine::{Cells as _, Engine, values};
use super::face::{self, Face};
use super::revisions::status_from;
use super::session::{SqlStore, Tx};
use crate::store::{Publish, Published, RecordState, RecordStatus, StoreError};

impl<DB: Engine> SqlStore<DB> {
    pub(super) async fn publish(&self, publish: Publish) -> Result<Published, StoreError> {
        let mut tx = self.begin_write().await?;
        let newest = lock_feed(&mut tx).await?;
        let status = standing(&mut tx, &publish.id).await?;
        if let Some(published) = already(&status, RecordState::Published, Some(publish.revision)) {
            tx.end().await?;
            return Ok(published);
        }

        if publish.after.is_some_and(|after| after != newest) {
            tx.end().await?;
            return Err(StoreError::FeedMoved(newest));
        }

        let sql = "SELECT document, annex FROM revision WHERE record_id = $1 AND revision = $2";
        let texts = tx.first(sql, values![&publish.id, publish.revision]).await?;
        let Some(texts) = texts else {
            return Err(StoreError::NoRevision(publish.id, publish.revision));
        };
        let face = Face::of(&publish.id, publish.revision, &texts.text(0)?, &texts.text(1)?)?;
        let seq = Seq(newest.0 + 1);
        let sql = "UPDATE record SET state = 'published', published_revision = $2, seq = $3, signature = $4, \
            changed_at = $5, seq_at = $5, forced = $6 WHERE id = $1";
        let signature = face.derived.signature.as_str();
        tx.run(
            sql,
            values![
                &publish.id,
                publish.revision,
                seq,
                signature,
                publish.at,
                publish.forced.as_deref()
            ],
        )
        .await?;
        face::replace(&mut tx, &[face]).await?;
        set_newest(&mut tx, seq).await?;
        tx.commit().await?;
        tracing::info!(record = %publish.id, revision = %publish.revision, %seq, actor = publish.actor, forced = publish.forced, "published");
        Ok(Published {
            seq,
            revision: publish.revision,
        })
    }

    pub(super) async fn withdraw(
        &self,
        id: &RecordId,
        actor: &str,
        at: OffsetDateTime,
    ) -> Result<Published, StoreError> {
        let mut tx = self.begin_write().await?;
        let newest = lock_feed(&mut tx).await?;
        let status = standing(&mut tx, id).await?;
        if let Some(withdrawn) = already(&status, RecordState::Withdrawn, None) {
            tx.end().await?;
            return Ok(withdrawn);
        }
        let Some(revision) = status.published else {
            return Err(StoreError::NeverPublished(id.clone()));
        };
        let seq = Seq(newest.0 + 1);
        let sql =
            "UPDATE record SET state = 'withdrawn', seq = $2, changed_at = $3, seq_at = $3 WHERE id = $1";
        tx.run(sql, values![id, seq, at]).await?;
        face::remove(&mut tx, &[id.as_str()]).await?;
        set_newest(&mut tx, seq).await?;
        tx.commit().await?;
        tracing::info!(record = %id, %revision, %seq, actor, "withdrawn");
        Ok(Published { seq, revision })
    }
}

/// Takes the feed's lock; the newest seq.
pub(super) async fn lock_feed<DB: Engine>(tx: &mut Tx<DB>) -> Result<Seq, StoreError> {
    let row = tx.one(<DB as Dialect>::LOCK_FEED, &[]).await?;
    Ok(Seq(row.integer(0)?))
}

/// Says how far the feed reaches. Needs its lock.
pub(super) async fn set_newest<DB: Engine>(tx: &mut Tx<DB>, seq: Seq) -> Result<(), StoreError> {
    let sql = "UPDATE counter SET value = $1 WHERE name = 'feed'";
    tx.run(sql, values![seq]).await?;
    Ok(())
}

/// Where the record stands, locked until the transaction ends.
async fn standing<DB: Engine>(tx: &mut Tx<DB>, id: &RecordId) -> Result<RecordStatus, StoreError> {
    tx.first(<DB as Dialect>::LOCK_RECORD, values![id]).await?;
    let sql = "SELECT id, head_revision, published_revision, state, seq, changed_at, forced FROM record WHERE id = $1";
    match tx.first(sql, values![id]).await? {
        Some(row) => status_from(&row),
        None => Err(StoreError::NoRecord(id.clone())),
    }
}

/// The answer when the record stands as asked for.
fn already(status: &RecordStatus, state: RecordState, revision: Option<Revision>) -> Option<Published> {
    let (seq, published) = status.seq.zip(status.published)?;
    let same_revision = revision.is_none_or(|revision| revision == published);
    (status.state == state && same_revision).then_some(Published {
        seq,
        revision: published,
    })
}

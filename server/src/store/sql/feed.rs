//! The feed by SQL.

use std::collections::HashMap;

use async_trait::async_trait;
use kb_core::ids::{RecordId, Seq};

use super::convert::id_from;
use super::dialect::Dialect;
use super::engine::{Cells, Engine, values};
use super::record_rows::meta_from;
use super::session::{SqlStore, Tx};
use crate::store::{FeedChange, FeedPage, FeedStore, RevisionTexts, StoreError};

#[async_trait]
impl<DB: Engine> FeedStore for SqlStore<DB> {
    async fn head_seq(&self) -> Result<Seq, StoreError> {
        let sql = "SELECT value FROM counter WHERE name = 'feed'";
        let row = self.read_once().await?.one(sql, &[]).await?;
        Ok(Seq(row.integer(0)?))
    }

    async fn feed(&self, after: Seq, limit: u32) -> Result<FeedPage, StoreError> {
        let limit = limit.max(1);
        // Head and changes must belong together, else a change between the two reads would be skipped for ever.
        let mut tx = self.begin_read().await?;
        let head = tx
            .one("SELECT value FROM counter WHERE name = 'feed'", &[])
            .await?;
        let head = Seq(head.integer(0)?);
        let sql = "SELECT r.seq, r.id, r.state = 'published', \
            v.revision, v.document_sha256, v.annex_sha256, v.actor, v.note, v.made_at, v.document, v.annex, \
            r.seq_at, r.forced \
            FROM record r JOIN revision v ON v.record_id = r.id AND v.revision = r.published_revision \
            WHERE r.seq > $1 ORDER BY r.seq LIMIT $2";
        let rows = tx.all(sql, values![after, limit]).await?;
        let moved = tx
            .all("SELECT former, record_id FROM moved ORDER BY former", &[])
            .await?;
        tx.commit().await?;

        let mut changes = rows.iter().map(change_from).collect::<Result<Vec<_>, _>>()?;
        add_former(&mut changes, &moved)?;
        let last = changes.last().map(|change| change.seq);
        let full = changes.len() == limit as usize;
        let reaches = if full { last.unwrap_or(head) } else { head };
        Ok(FeedPage {
            reaches,
            more: reaches < head,
            changes,
        })
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

fn change_from(row: &impl Cells) -> Result<FeedChange, StoreError> {
    let published = if row.flag(2)? {
        Some(RevisionTexts {
            meta: meta_from(row, 3)?,
            document: row.text(9)?,
            annex: row.text(10)?,
        })
    } else {
        None
    };
    Ok(FeedChange {
        seq: Seq(row.integer(0)?),
        id: id_from(row.text(1)?)?,
        changed_at: row.time(11)?,
        published,
        forced: row.maybe_text(12)?,
        former: Vec::new(),
    })
}

/// Few records are ever moved, so that all moves are read with each page.
fn add_former(changes: &mut [FeedChange], moved: &[impl Cells]) -> Result<(), StoreError> {
    let mut by_record: HashMap<RecordId, Vec<RecordId>> = HashMap::new();
    for row in moved {
        let former = by_record.entry(id_from(row.text(1)?)?).or_default();
        former.push(id_from(row.text(0)?)?);
    }
    for change in changes {
        change.former = by_record.remove(&change.id).unwrap_or_default();
    }
    Ok(())
}

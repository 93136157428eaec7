//! The room of anonymous writing by SQL. Whoever changes it holds the counter of its entries, so that the sum of bytes is right.

use async_trait::async_trait;
use time::OffsetDateTime;

use super::convert::{count_from, refuse_nul, unreadable};
use super::engine::{Cells, Engine, values};
use super::session::{SqlStore, Tx};
use crate::store::{
    AnonymousEntry, AnonymousKept, AnonymousKind, AnonymousStore, AnonymousTotals, NewAnonymous, StoreError,
};

/// Entries that are looked at in one go where room is made.
const OLDEST: u32 = 100;

#[async_trait]
impl<DB: Engine> AnonymousStore for SqlStore<DB> {
    async fn keep_anonymous(&self, entry: NewAnonymous) -> Result<AnonymousKept, StoreError> {
        let mut tx = self.begin_write().await?;
        let kept = keep(&mut tx, &entry).await?;
        match kept {
            AnonymousKept::Kept { .. } => tx.commit().await?,
            AnonymousKept::TooManyToday => tx.end().await?,
        }
        Ok(kept)
    }

    async fn anonymous(
        &self,
        kind: AnonymousKind,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<AnonymousEntry>, StoreError> {
        let sql = "SELECT n, kind, subject, body, written_at, expires_at FROM anonymous_entry \
            WHERE kind = $1 AND n < $2 ORDER BY n DESC LIMIT $3";
        let range = values![kind.as_str(), before.unwrap_or(i64::MAX), limit];
        let rows = self.read_once().await?.all(sql, range).await?;
        rows.iter().map(entry_from).collect()
    }

    async fn remove_anonymous(&self, n: i64) -> Result<bool, StoreError> {
        let mut tx = self.begin_write().await?;
        lock(&mut tx).await?;
        let sql = "DELETE FROM anonymous_entry WHERE n = $1 RETURNING bytes";
        let gone = tx.all(sql, values![n]).await?;
        give_back(&mut tx, &gone).await?;
        tx.commit().await?;
        Ok(!gone.is_empty())
    }

    async fn take_back_anonymous(&self, key_sha256: &str) -> Result<bool, StoreError> {
        let mut tx = self.begin_write().await?;
        lock(&mut tx).await?;
        let sql = "DELETE FROM anonymous_entry WHERE key_sha256 = $1 RETURNING bytes";
        let gone = tx.all(sql, values![key_sha256]).await?;
        give_back(&mut tx, &gone).await?;
        tx.commit().await?;
        Ok(!gone.is_empty())
    }

    async fn anonymous_named(
        &self,
        name_sha256: &str,
        now: OffsetDateTime,
    ) -> Result<Option<AnonymousEntry>, StoreError> {
        let sql = "SELECT n, kind, subject, body, written_at, expires_at FROM anonymous_entry \
            WHERE name_sha256 = $1 AND expires_at > $2";
        let row = self
            .read_once()
            .await?
            .first(sql, values![name_sha256, now])
            .await?;
        row.as_ref().map(entry_from).transpose()
    }

    async fn expire_anonymous(&self, now: OffsetDateTime) -> Result<u64, StoreError> {
        let sql = "SELECT 1 FROM anonymous_entry WHERE expires_at <= $1 \
            UNION ALL SELECT 1 FROM anonymous_quota WHERE day < $2 LIMIT 1";
        let today = day(now);
        let over = values![now, &today];
        // Most of the time nothing is over, and nobody has to wait for this.
        if self.read_once().await?.first(sql, over).await?.is_none() {
            return Ok(0);
        }
        let mut tx = self.begin_write().await?;
        lock(&mut tx).await?;
        forget_days(&mut tx, now).await?;
        let sql = "DELETE FROM anonymous_entry WHERE expires_at <= $1 RETURNING bytes";
        let gone = tx.all(sql, values![now]).await?;
        give_back(&mut tx, &gone).await?;
        tx.commit().await?;
        Ok(gone.len() as u64)
    }

    async fn anonymous_totals(&self) -> Result<AnonymousTotals, StoreError> {
        let sql = "SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM anonymous_entry";
        let row = self.read_once().await?.one(sql, &[]).await?;
        Ok(AnonymousTotals {
            entries: count_from(row.integer(0)?)?,
            bytes: count_from(row.integer(1)?)?,
        })
    }
}

/// Keeps an entry within the transaction of what belongs to it. After [`AnonymousKept::TooManyToday`] that has to be ended.
pub(super) async fn keep<DB: Engine>(
    tx: &mut Tx<DB>,
    entry: &NewAnonymous,
) -> Result<AnonymousKept, StoreError> {
    refuse_nul("what was written", &entry.body)?;
    refuse_nul("what it is about", &entry.subject)?;
    let next = "UPDATE counter SET value = value + 1 WHERE name = 'anonymous' RETURNING value";
    let n = tx.one(next, &[]).await?.integer(0)?;
    forget_days(tx, entry.at).await?;
    let sql = "INSERT INTO anonymous_quota (day, source, written) VALUES ($1, $2, 1) \
        ON CONFLICT (day, source) DO UPDATE SET written = anonymous_quota.written + 1 RETURNING written";
    let written = tx.one(sql, values![&day(entry.at), &entry.source]).await?;
    if written.integer(0)? > i64::from(entry.most_a_day) {
        return Ok(AnonymousKept::TooManyToday);
    }
    let bytes = (entry.body.len() + entry.subject.len()) as u64;
    let (total, pushed_out) = make_room(tx, bytes, entry.room_bytes).await?;
    let sql = "INSERT INTO anonymous_entry (n, kind, subject, body, bytes, key_sha256, name_sha256, written_at, \
        expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let row = values![
        n,
        entry.kind.as_str(),
        &entry.subject,
        &entry.body,
        signed(bytes),
        entry.key_sha256.as_deref(),
        entry.name_sha256.as_deref(),
        entry.at,
        entry.expires_at,
    ];
    tx.run(sql, row).await?;
    let sql = "UPDATE counter SET value = value + $1 WHERE name = 'anonymous_bytes'";
    tx.run(sql, values![signed(bytes)]).await?;
    Ok(AnonymousKept::Kept {
        n,
        bytes_in_all: total + bytes,
        pushed_out,
    })
}

/// Removes the oldest entries until `bytes` more have room; the bytes that are left, and how many entries went.
async fn make_room<DB: Engine>(tx: &mut Tx<DB>, bytes: u64, room: u64) -> Result<(u64, u64), StoreError> {
    let sql = "SELECT value FROM counter WHERE name = 'anonymous_bytes'";
    let mut total: u64 = count_from(tx.one(sql, &[]).await?.integer(0)?)?;
    let mut pushed_out = 0;
    while total > 0 && total + bytes > room {
        let oldest = "SELECT n, bytes FROM anonymous_entry ORDER BY n LIMIT $1";
        let mut last = None;
        let mut freed = 0;
        for row in tx.all(oldest, values![OLDEST]).await? {
            if total - freed + bytes <= room {
                break;
            }
            freed = total.min(freed + count_from::<u64>(row.integer(1)?)?);
            last = Some(row.integer(0)?);
        }
        let Some(last) = last else { break };
        let sql = "DELETE FROM anonymous_entry WHERE n <= $1 RETURNING bytes";
        let gone = tx.all(sql, values![last]).await?;
        give_back(tx, &gone).await?;
        pushed_out += gone.len() as u64;
        total -= freed;
    }
    Ok((total, pushed_out))
}

/// Keeps others who change the room waiting.
async fn lock<DB: Engine>(tx: &mut Tx<DB>) -> Result<(), StoreError> {
    tx.run("UPDATE counter SET value = value WHERE name = 'anonymous'", &[])
        .await?;
    Ok(())
}

async fn give_back<DB: Engine>(tx: &mut Tx<DB>, gone: &[DB::Row]) -> Result<(), StoreError> {
    let mut bytes = 0;
    for row in gone {
        bytes += row.integer(0)?;
    }
    let sql = "UPDATE counter SET value = value - $1 WHERE name = 'anonymous_bytes'";
    tx.run(sql, values![bytes]).await?;
    Ok(())
}

async fn forget_days<DB: Engine>(tx: &mut Tx<DB>, now: OffsetDateTime) -> Result<(), StoreError> {
    let sql = "DELETE FROM anonymous_quota WHERE day < $1";
    tx.run(sql, values![&day(now)]).await?;
    Ok(())
}

/// A day as text, in UTC.
fn day(at: OffsetDateTime) -> String {
    at.to_offset(time::UtcOffset::UTC).date().to_string()
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

fn entry_from(row: &impl Cells) -> Result<AnonymousEntry, StoreError> {
    let kind = row.text(1)?;
    Ok(AnonymousEntry {
        n: row.integer(0)?,
        kind: AnonymousKind::from_word(&kind).ok_or_else(|| unreadable("kind of entry", &kind))?,
        subject: row.text(2)?,
        body: row.text(3)?,
        written_at: row.time(4)?,
        expires_at: row.time(5)?,
    })
}

//! Records that become another, by SQL.

use async_trait::async_trait;
use kb_core::ids::{RecordId, Revision, Seq};
use serde_json::json;
use time::OffsetDateTime;

use super::audit;
use super::convert::refuse_nul;
use super::derive::Derived;
use super::derived_rows::{self, refuse_alias_as_id};
use super::engine::{Cells as _, Engine, values};
use super::feed::{lock_feed, set_newest};
use super::records::{put_head, refuse_nuls, standing};
use super::reviews;
use super::session::{SqlStore, Tx};
use crate::store::{
    Asks, Merge, MoveStore, NewAudit, Published, RecordState, Rename, Saved, Split, SplitSaved, StoreError,
    digest,
};

#[async_trait]
impl<DB: Engine> MoveStore for SqlStore<DB> {
    async fn merge(&self, merge: Merge) -> Result<Option<Published>, StoreError> {
        let Merge {
            id,
            into,
            by,
            reason,
            expected,
            approves,
            at,
        } = merge;
        refuse_nul("the reason", reason.as_deref().unwrap_or_default())?;
        let mut tx = self.begin_write().await?;
        let newest = lock_feed(&mut tx).await?;
        let (from, target) = (standing(&mut tx, &id).await?, standing(&mut tx, &into).await?);
        reviews::check_open(&mut tx, &id, approves).await?;
        // A draft that came meanwhile would be lost.
        let as_seen = expected.is_none_or(|expected| from.published == Some(expected));
        let is_settled = as_seen && from.published == Some(from.head);
        let published =
            is_settled && (from.state, target.state) == (RecordState::Published, RecordState::Published);
        let Some(revision) = target.published.filter(|_| published && id != into) else {
            tx.end().await?;
            return Ok(None);
        };
        let (left, seq) = (Seq(newest.0 + 1), Seq(newest.0 + 2));
        let aliases = "INSERT INTO moved (former, record_id) SELECT alias, $2 FROM alias WHERE record_id = $1 \
            ON CONFLICT (former) DO UPDATE SET record_id = excluded.record_id";
        tx.run(aliases, values![&id, &into]).await?;
        leave(&mut tx, (&id, &into), (left, at), reason.as_deref()).await?;
        let asks = Asks::Merge { into: into.clone() };
        let leaving = reviews::Leaving {
            seen: from.published,
            approves,
            asks: Some(&asks),
        };
        reviews::end_with_record(&mut tx, &id, leaving, (&by, reason.as_deref()), at).await?;
        derived_rows::remove(&mut tx, &[id.as_str()]).await?;
        let sql = "UPDATE record SET seq = $2, seq_at = $3 WHERE id = $1";
        tx.run(sql, values![&into, seq, at]).await?;
        set_newest(&mut tx, seq).await?;
        let detail = json!({ "into": into.as_str(), "reason": reason, "seq": seq.0 });
        let entry = NewAudit::new("record.merge", id.as_str(), &by, at);
        audit::add(&mut tx, &entry.revisions(from.published, None).detail(detail)).await?;
        tx.commit().await?;
        tracing::info!(record = %id, %into, %seq, actor = by.name, "merged");
        Ok(Some(Published { seq, revision }))
    }

    async fn rename(&self, rename: Rename) -> Result<Option<Published>, StoreError> {
        let Rename {
            id,
            revision,
            to,
            document,
            annex,
            by,
            at,
        } = rename;
        refuse_nul("the document", &document)?;
        refuse_nul("the annex", &annex)?;
        let mut tx = self.begin_write().await?;
        let newest = lock_feed(&mut tx).await?;
        let from = standing(&mut tx, &id).await?;
        let as_seen = from.head == revision && from.published == Some(revision);
        if from.state != RecordState::Published || !as_seen {
            tx.end().await?;
            return Ok(None);
        }
        let next = revision_there(&mut tx, (&id, &to)).await?;
        refuse_alias_as_id(&mut tx, &[to.as_str()]).await?;
        let derived = Derived::of(&to, next, &document, &annex)?;
        let (left, seq) = (Seq(newest.0 + 1), Seq(newest.0 + 2));
        let sql = "INSERT INTO record (id, state, head_revision, published_revision, seq, signature, changed_at, seq_at, forced) \
            VALUES ($1, 'published', $2, $2, $3, $4, $5, $5, $6) \
            ON CONFLICT (id) DO UPDATE SET state = excluded.state, head_revision = excluded.head_revision, \
            published_revision = excluded.published_revision, seq = excluded.seq, signature = excluded.signature, \
            changed_at = excluded.changed_at, seq_at = excluded.seq_at, forced = excluded.forced, \
            withdrawn_reason = NULL, replaced_by = NULL";
        let signature = derived.signature.as_str();
        let forced = from.forced.as_deref();
        tx.run(sql, values![&to, next, seq, signature, at, forced])
            .await?;
        let sql = "INSERT INTO revision \
            (record_id, revision, document_sha256, annex_sha256, actor, note, made_at, document, annex) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        let note = format!("{id} {revision} under another id");
        let (document_sha256, annex_sha256) = (digest::text(&document), digest::text(&annex));
        let row = values![
            &to,
            next,
            &document_sha256,
            &annex_sha256,
            &by.name,
            note.as_str(),
            at,
            &document,
            &annex,
        ];
        tx.run(sql, row).await?;
        leave(&mut tx, (&id, &to), (left, at), None).await?;
        for ended in [&id, &to] {
            let leaving = reviews::Leaving {
                seen: None,
                approves: None,
                asks: None,
            };
            reviews::end_with_record(&mut tx, ended, leaving, (&by, None), at).await?;
        }
        derived_rows::remove(&mut tx, &[id.as_str()]).await?;
        derived_rows::replace(&mut tx, &[derived]).await?;
        set_newest(&mut tx, seq).await?;
        let detail = json!({ "from": id.as_str(), "seq": seq.0 });
        let entry = NewAudit::new("record.rename", to.as_str(), &by, at);
        let entry = entry.revisions(Some(revision), Some(next));
        audit::add(&mut tx, &entry.detail(detail)).await?;
        tx.commit().await?;
        tracing::info!(record = %id, %to, %seq, actor = by.name, "renamed");
        Ok(Some(Published { seq, revision: next }))
    }

    async fn split(&self, split: Split) -> Result<SplitSaved, StoreError> {
        let Split { old, new } = split;
        refuse_nuls(&old)?;
        refuse_nuls(&new)?;
        let mut tx = self.begin_write().await?;
        // Locks are taken in one order everywhere: the feed's first, which a new id needs.
        lock_feed(&mut tx).await?;
        let saved = match put_head(&mut tx, &old).await? {
            Saved::Saved(revision) => revision,
            Saved::Unchanged(head) | Saved::Stale(Some(head)) => {
                tx.end().await?;
                return Ok(SplitSaved::Stale(Some(head)));
            }
            Saved::Stale(None) => {
                tx.end().await?;
                return Ok(SplitSaved::Stale(None));
            }
        };
        let Saved::Saved(made) = put_head(&mut tx, &new).await? else {
            tx.end().await?;
            return Ok(SplitSaved::Taken);
        };
        let entry = NewAudit::new("record.split", old.id.as_str(), &old.by, old.at);
        let entry = entry.revisions(Some(Revision(saved.0.saturating_sub(1))), Some(saved));
        let detail = json!({ "into": new.id.as_str() });
        audit::add(&mut tx, &entry.detail(detail)).await?;
        tx.commit().await?;
        tracing::info!(record = %old.id, into = %new.id, actor = old.by.name, "split");
        Ok(SplitSaved::Saved {
            old: saved,
            new: made,
        })
    }
}

/// The number that a record's texts get under another id: the first of an id that is free. An id that leads to the record and is
/// withdrawn is its own former one, and its history goes on.
async fn revision_there<DB: Engine>(
    tx: &mut Tx<DB>,
    (id, to): (&RecordId, &RecordId),
) -> Result<Revision, StoreError> {
    let known = "SELECT id FROM record WHERE id = $1";
    if tx.first(known, values![to]).await?.is_none() {
        return Ok(Revision(1));
    }
    let there = standing(tx, to).await?;
    // A draft there would be lost.
    let is_at_rest = there.state == RecordState::Withdrawn && there.published == Some(there.head);
    let leads_here = "SELECT former FROM moved WHERE former = $1 AND record_id = $2";
    if !is_at_rest || tx.first(leads_here, values![to, id]).await?.is_none() {
        return Err(StoreError::AliasTaken {
            alias: to.to_string(),
            holder: to.clone(),
        });
    }
    tx.run("DELETE FROM moved WHERE former = $1", values![to]).await?;
    Ok(Revision(there.head.0 + 1))
}

/// Withdraws a record, and leads its names, votes, feedback and unknown lines to another.
async fn leave<DB: Engine>(
    tx: &mut Tx<DB>,
    (id, to): (&RecordId, &RecordId),
    (seq, at): (Seq, OffsetDateTime),
    reason: Option<&str>,
) -> Result<(), StoreError> {
    let sql = "UPDATE record SET state = 'withdrawn', seq = $2, changed_at = $3, seq_at = $3, \
        withdrawn_reason = $4, replaced_by = $5 WHERE id = $1";
    tx.run(sql, values![id, seq, at, reason, to]).await?;
    tx.run("DELETE FROM alias WHERE record_id = $1", values![id])
        .await?;
    tx.run(
        "UPDATE moved SET record_id = $2 WHERE record_id = $1",
        values![id, to],
    )
    .await?;
    tx.run(
        "INSERT INTO moved (former, record_id) VALUES ($1, $2)",
        values![id, to],
    )
    .await?;
    let next = "UPDATE counter SET value = value + 1 WHERE name = 'vote' RETURNING value";
    let votes = tx.one(next, &[]).await?.integer(0)?;
    // Who voted on both has one vote: that on the other record.
    let sql = "UPDATE vote SET record_id = $2, seq = $3 WHERE record_id = $1 AND NOT EXISTS (SELECT 1 FROM vote v \
        WHERE v.record_id = $2 AND v.action_sha256 = vote.action_sha256 AND v.model = vote.model \
        AND v.voter_kind = vote.voter_kind AND v.voter_id = vote.voter_id)";
    tx.run(sql, values![id, to, votes]).await?;
    for sql in [
        "UPDATE feedback SET record_id = $2 WHERE record_id = $1",
        "UPDATE unmatched SET record_id = $2 WHERE record_id = $1",
    ] {
        tx.run(sql, values![id, to]).await?;
    }
    Ok(())
}

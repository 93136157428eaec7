//! Records by SQL: heads, publishing, lists, and what a published record is found by.

use async_trait::async_trait;
use kb_core::ids::{RecordId, Revision, Seq};
use serde_json::json;

use super::audit;
use super::convert::{id_from, kind_from, refuse_nul, revision_from};
use super::derive::{Derived, fold_code};
use super::derived_rows::{self, refuse_alias_as_id};
use super::dialect::Dialect;
use super::engine::{Cells as _, Engine, values};
use super::feed::{lock_feed, set_newest};
use super::record_rows::{meta_columns, meta_from, status_columns, status_from};
use super::reviews;
use super::session::{SqlStore, Tx};
use crate::store::{
    Asks, Expected, ListQuery, NewAudit, NewRevision, Publish, Published, RecordListing, RecordState,
    RecordStatus, RecordStore, RevisionMeta, RevisionTexts, Saved, StoreError, StoredEdge, Withdrawal,
    digest,
};

#[async_trait]
impl<DB: Engine> RecordStore for SqlStore<DB> {
    async fn save_head(&self, change: NewRevision) -> Result<Saved, StoreError> {
        refuse_nuls(&change)?;
        let mut tx = self.begin_write().await?;
        let saved = put_head(&mut tx, &change).await?;
        match saved {
            Saved::Saved(_) => tx.commit().await?,
            Saved::Unchanged(_) | Saved::Stale(_) => tx.end().await?,
        }
        Ok(saved)
    }

    async fn publish(&self, publish: Publish) -> Result<Published, StoreError> {
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
        let derived = Derived::of(&publish.id, publish.revision, &texts.text(0)?, &texts.text(1)?)?;
        let seq = Seq(newest.0 + 1);
        let sql = "UPDATE record SET state = 'published', published_revision = $2, seq = $3, signature = $4, \
            changed_at = $5, seq_at = $5, forced = $6, withdrawn_reason = NULL, replaced_by = NULL WHERE id = $1";
        let signature = derived.signature.as_str();
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
        derived_rows::replace(&mut tx, &[derived]).await?;
        // What is brought back stands for itself again.
        tx.run("DELETE FROM moved WHERE former = $1", values![&publish.id])
            .await?;
        let approved = reviews::decide(&mut tx, &publish).await?;
        set_newest(&mut tx, seq).await?;
        let mut detail = match &publish.forced {
            Some(reason) => json!({ "seq": seq.0, "forced": reason }),
            None => json!({ "seq": seq.0 }),
        };
        if let (Some(review), Some(detail)) = (approved, detail.as_object_mut()) {
            detail.insert("review".to_owned(), review.into());
        }
        let entry = NewAudit::new("record.publish", publish.id.as_str(), &publish.by, publish.at)
            .revisions(status.published, Some(publish.revision))
            .detail(detail);
        audit::add(&mut tx, &entry).await?;
        tx.commit().await?;
        tracing::info!(record = %publish.id, revision = %publish.revision, %seq, actor = publish.by.name, forced = publish.forced, "published");
        Ok(Published {
            seq,
            revision: publish.revision,
        })
    }

    async fn take_back(&self, withdrawal: Withdrawal) -> Result<Published, StoreError> {
        let Withdrawal {
            id,
            by,
            reason,
            replaced_by,
            expected,
            approves,
            at,
        } = withdrawal;
        refuse_nul("the reason", reason.as_deref().unwrap_or_default())?;
        let mut tx = self.begin_write().await?;
        let newest = lock_feed(&mut tx).await?;
        let status = standing(&mut tx, &id).await?;
        reviews::check_open(&mut tx, &id, approves).await?;
        if let Some(withdrawn) = already(&status, RecordState::Withdrawn, None) {
            tx.end().await?;
            return Ok(withdrawn);
        }
        let Some(revision) = status.published else {
            return Err(StoreError::NeverPublished(id));
        };
        if expected.is_some_and(|expected| expected != revision) {
            return Err(StoreError::AnotherPublished(revision));
        }
        let seq = Seq(newest.0 + 1);
        let sql = "UPDATE record SET state = 'withdrawn', seq = $2, changed_at = $3, seq_at = $3, \
            withdrawn_reason = $4, replaced_by = $5 WHERE id = $1";
        let instead = replaced_by.as_ref().map(RecordId::as_str);
        tx.run(sql, values![&id, seq, at, reason.as_deref(), instead])
            .await?;
        derived_rows::remove(&mut tx, &[id.as_str()]).await?;
        let asks = Asks::Withdraw {
            replaced_by: replaced_by.clone(),
        };
        let leaving = reviews::Leaving {
            seen: Some(revision),
            approves,
            asks: Some(&asks),
        };
        reviews::end_with_record(&mut tx, &id, leaving, (&by, reason.as_deref()), at).await?;
        set_newest(&mut tx, seq).await?;
        let mut detail = json!({ "seq": seq.0 });
        for (key, value) in [("reason", reason.as_deref()), ("replaced_by", instead)] {
            if let (Some(value), Some(detail)) = (value, detail.as_object_mut()) {
                detail.insert(key.to_owned(), value.into());
            }
        }
        let entry = NewAudit::new("record.withdraw", id.as_str(), &by, at)
            .revisions(Some(revision), None)
            .detail(detail);
        audit::add(&mut tx, &entry).await?;
        tx.commit().await?;
        tracing::info!(record = %id, %revision, %seq, actor = by.name, "withdrawn");
        Ok(Published { seq, revision })
    }

    async fn status(&self, id: &RecordId) -> Result<Option<RecordStatus>, StoreError> {
        let sql = concat!("SELECT ", status_columns!(), " FROM record WHERE id = $1");
        let row = self.read_once().await?.first(sql, values![id]).await?;
        row.as_ref().map(status_from).transpose()
    }

    async fn revision(&self, id: &RecordId, revision: Revision) -> Result<Option<RevisionTexts>, StoreError> {
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

    async fn revisions(&self, id: &RecordId) -> Result<Vec<RevisionMeta>, StoreError> {
        let sql = concat!(
            "SELECT ",
            meta_columns!(),
            " FROM revision WHERE record_id = $1 ORDER BY revision DESC"
        );
        let rows = self.read_once().await?.all(sql, values![id]).await?;
        rows.iter().map(|row| meta_from(row, 0)).collect()
    }

    async fn list(&self, query: ListQuery) -> Result<Vec<RecordListing>, StoreError> {
        let mut session = self.read_once().await?;
        // Ids are ASCII: what begins with `cuda/` stands before `cuda0`, and everything before `~`.
        let (from, to) = match &query.domain {
            Some(domain) => (format!("{domain}/"), format!("{domain}0")),
            None => (String::new(), "~".to_owned()),
        };
        let state = query.state.map_or("", RecordState::as_str);
        let rows = if let Some(before) = query.before {
            let sql = concat!(
                "SELECT ",
                status_columns!(),
                ", signature \
                FROM record WHERE seq < $1 AND id >= $3 AND id < $4 AND ($5 = '' OR state = $5) \
                ORDER BY seq DESC LIMIT $2"
            );
            session
                .all(sql, values![before, query.limit, &from, &to, state])
                .await?
        } else if let Some(since) = query.since {
            let sql = concat!(
                "SELECT ",
                status_columns!(),
                ", signature \
                FROM record WHERE seq > $1 AND id >= $3 AND id < $4 AND ($5 = '' OR state = $5) \
                ORDER BY seq LIMIT $2"
            );
            session
                .all(sql, values![since, query.limit, &from, &to, state])
                .await?
        } else {
            let sql = concat!(
                "SELECT ",
                status_columns!(),
                ", signature \
                FROM record WHERE id > $1 AND ($2 OR seq IS NOT NULL) AND id >= $4 AND id < $5 \
                AND ($6 = '' OR state = $6) ORDER BY id LIMIT $3"
            );
            let after = query.after.as_ref().map_or("", RecordId::as_str);
            session
                .all(sql, values![after, query.drafts, query.limit, &from, &to, state])
                .await?
        };
        let listing = |row: &DB::Row| {
            Ok(RecordListing {
                status: status_from(row)?,
                signature: row.maybe_text(9)?,
            })
        };
        rows.iter().map(listing).collect()
    }

    async fn resolve_alias(&self, alias: &str) -> Result<Option<RecordId>, StoreError> {
        let sql = "SELECT record_id FROM alias WHERE alias = $1 \
            UNION ALL SELECT record_id FROM moved WHERE former = $1";
        let row = self.read_once().await?.first(sql, values![alias]).await?;
        row.map(|row| id_from(row.text(0)?)).transpose()
    }

    async fn records_by_code(&self, code: &str) -> Result<Vec<RecordId>, StoreError> {
        let folded = fold_code(code);
        let sql = "SELECT record_id FROM code WHERE folded = $1 ORDER BY record_id";
        let rows = self.read_once().await?.all(sql, values![&folded]).await?;
        rows.iter().map(|row| id_from(row.text(0)?)).collect()
    }

    async fn edges_around(&self, id: &RecordId) -> Result<Vec<StoredEdge>, StoreError> {
        // Whether a target is known is asked now, not remembered: it may be published later, or withdrawn.
        let sql = "SELECT e.from_id, e.kind, e.to_id, e.probability, e.condition, e.distinction, \
            e.typical_delay, EXISTS (SELECT 1 FROM record r WHERE r.state = 'published' AND (r.id = e.to_id \
                OR r.id IN (SELECT a.record_id FROM alias a WHERE a.alias = e.to_id \
                    UNION ALL SELECT m.record_id FROM moved m WHERE m.former = e.to_id))) \
            FROM edge e \
            WHERE e.from_id = $1 OR e.to_id = $1 \
                OR e.to_id IN (SELECT a.alias FROM alias a WHERE a.record_id = $1 \
                    UNION ALL SELECT m.former FROM moved m WHERE m.record_id = $1) \
            ORDER BY e.from_id, e.ordinal";
        let rows = self.read_once().await?.all(sql, values![id]).await?;
        let edge = |row: &DB::Row| {
            Ok(StoredEdge {
                from: id_from(row.text(0)?)?,
                kind: kind_from(&row.text(1)?)?,
                to: row.text(2)?,
                resolved: row.flag(7)?,
                probability: row.maybe_fraction(3)?,
                condition: row.maybe_text(4)?,
                distinction: row.maybe_text(5)?,
                typical_delay: row.maybe_text(6)?,
            })
        };
        rows.iter().map(edge).collect()
    }
}

/// What no text of a database may hold; asked before a transaction is begun.
pub(super) fn refuse_nuls(change: &NewRevision) -> Result<(), StoreError> {
    refuse_nul("the document", &change.document)?;
    refuse_nul("the annex", &change.annex)?;
    refuse_nul("the note", change.note.as_deref().unwrap_or_default())
}

/// Makes a new head, and tells what it found where it did not. Nothing is kept until the transaction is.
pub(super) async fn put_head<DB: Engine>(tx: &mut Tx<DB>, change: &NewRevision) -> Result<Saved, StoreError> {
    let document_sha256 = digest::text(&change.document);
    let annex_sha256 = digest::text(&change.annex);

    if change.expected == Expected::Absent {
        // The feed's lock, as publishers take it: no alias appears while this id is made; the order of locks is the same everywhere.
        tx.one(<DB as Dialect>::LOCK_FEED, &[]).await?;
    }
    let head = match lock_head(tx, &change.id).await? {
        Some(head) => Some(head),
        None => match change.expected {
            Expected::Head(_) => {
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
            return Ok(Saved::Unchanged(head));
        }
        if change.expected != Expected::Head(head) {
            return Ok(Saved::Stale(Some(head)));
        }
    }

    let next = Revision(head.map_or(0, |head| head.0) + 1);
    if head.is_none() {
        refuse_alias_as_id(tx, &[change.id.as_str()]).await?;
        let insert = "INSERT INTO record (id, state, head_revision, changed_at) VALUES ($1, 'draft', $2, $3)";
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
        &change.by.name,
        change.note.as_deref(),
        change.at,
        &change.document,
        &change.annex,
    ];
    tx.run(insert, row).await?;
    let entry = NewAudit::new("record.save", change.id.as_str(), &change.by, change.at);
    audit::add(tx, &entry.revisions(head, Some(next))).await?;
    Ok(Saved::Saved(next))
}

/// The head of a record, which no other writer changes until the transaction ends.
async fn lock_head<DB: Engine>(tx: &mut Tx<DB>, id: &RecordId) -> Result<Option<Revision>, StoreError> {
    let row = tx.first(<DB as Dialect>::LOCK_RECORD, values![id]).await?;
    row.map(|row| revision_from(&row, 0)).transpose()
}

/// Where the record stands, locked until the transaction ends.
pub(super) async fn standing<DB: Engine>(tx: &mut Tx<DB>, id: &RecordId) -> Result<RecordStatus, StoreError> {
    tx.first(<DB as Dialect>::LOCK_RECORD, values![id]).await?;
    let sql = concat!("SELECT ", status_columns!(), " FROM record WHERE id = $1");
    match tx.first(sql, values![id]).await? {
        Some(row) => status_from(&row),
        None => Err(StoreError::NoRecord(id.clone())),
    }
}

fn already(status: &RecordStatus, state: RecordState, revision: Option<Revision>) -> Option<Published> {
    let (seq, published) = status.seq.zip(status.published)?;
    let same_revision = revision.is_none_or(|revision| revision == published);
    (status.state == state && same_revision).then_some(Published {
        seq,
        revision: published,
    })
}

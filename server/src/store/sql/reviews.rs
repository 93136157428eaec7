//! Reviews and comments by SQL.

use async_trait::async_trait;
use kb_core::ids::{RecordId, Revision, Seq};
use serde_json::json;
use time::OffsetDateTime;

use super::audit;
use super::convert::{count_from, refuse_nul};
use super::dialect::Dialect;
use super::engine::{Cells, Engine, values};
use super::records::standing;
use super::review_rows::{comment_from, part_word, review_columns, review_from};
use super::session::{SqlStore, Tx};
use crate::store::{
    Asks, By, Comment, EndReview, MAX_COMMENTS, NewAudit, NewComment, NewReview, Publish, RecordState,
    Review, ReviewState, ReviewStore, StoreError,
};

#[async_trait]
impl<DB: Engine> ReviewStore for SqlStore<DB> {
    async fn ask_review(&self, ask: NewReview) -> Result<Review, StoreError> {
        refuse_nul("the note", ask.note.as_deref().unwrap_or_default())?;
        let mut tx = self.begin_write().await?;
        let status = standing(&mut tx, &ask.record).await?;
        let published = status
            .published
            .filter(|_| status.state == RecordState::Published);
        match (ask.asks.is_withdrawal(), published) {
            (false, Some(published)) if published == ask.revision => {
                return Err(StoreError::IsPublished(published));
            }
            (true, None) => return Err(StoreError::NotPublished(ask.record)),
            (true, Some(published)) if published != ask.revision => {
                return Err(StoreError::AnotherPublished(published));
            }
            _ => {}
        }
        let sql = "SELECT 1 FROM revision WHERE record_id = $1 AND revision = $2";
        if tx.first(sql, values![&ask.record, ask.revision]).await?.is_none() {
            return Err(StoreError::NoRevision(ask.record, ask.revision));
        }
        let open = concat!(
            "SELECT ",
            review_columns!(),
            " FROM review WHERE record_id = $1 AND state = 'open'"
        );
        let before = tx.first(open, values![&ask.record]).await?;
        let before = before.map(|row| review_from(&row)).transpose()?;
        if let Some(before) = &before {
            match beside(before, &ask) {
                Beside::Same => {
                    let before = before.clone();
                    tx.end().await?;
                    return Ok(before);
                }
                Beside::GivesWay => {}
                Beside::Refused(error) => return Err(error),
            }
        }
        let sql = "SELECT COALESCE(MAX(n), 0) + 1 FROM review WHERE record_id = $1";
        let n = tx.one(sql, values![&ask.record]).await?.integer(0)?;
        if let Some(before) = &before {
            let sql = "UPDATE review SET state = 'withdrawn', decided_name = $3, decided_at = $4 \
                WHERE record_id = $1 AND n = $2";
            tx.run(sql, values![&ask.record, before.n, &ask.by.name, ask.at])
                .await?;
            let entry = NewAudit::new("review.withdraw", ask.record.as_str(), &ask.by, ask.at)
                .revisions(Some(before.revision), None)
                .detail(json!({ "n": before.n, "instead": n }));
            audit::add(&mut tx, &entry).await?;
        }
        let sql = "INSERT INTO review (record_id, n, revision, state, asked_kind, asked_id, asked_name, asked_at, note, \
            asks, replaced_by) VALUES ($1, $2, $3, 'open', $4, $5, $6, $7, $8, $9, $10)";
        let row = values![
            &ask.record,
            n,
            ask.revision,
            ask.by.kind.as_str(),
            &ask.by.id,
            &ask.by.name,
            ask.at,
            ask.note.as_deref(),
            ask.asks.as_str(),
            ask.asks.replaced_by().map(RecordId::as_str),
        ];
        tx.run(sql, row).await?;
        let mut detail = json!({ "n": n, "asks": ask.asks.as_str() });
        if let (Some(other), Some(detail)) = (ask.asks.replaced_by(), detail.as_object_mut()) {
            detail.insert("replaced_by".to_owned(), other.as_str().into());
        }
        let entry = NewAudit::new("review.ask", ask.record.as_str(), &ask.by, ask.at)
            .revisions(None, Some(ask.revision))
            .detail(detail);
        audit::add(&mut tx, &entry).await?;
        let row = tx.one(open, values![&ask.record]).await?;
        let asked = review_from(&row)?;
        tx.commit().await?;
        Ok(asked)
    }

    async fn end_review(&self, end: EndReview) -> Result<bool, StoreError> {
        refuse_nul("the reason", &end.reason)?;
        let mut tx = self.begin_write().await?;
        lock(&mut tx, &end.record).await?;
        let sql = "UPDATE review SET state = $3, decided_name = $4, decided_at = $5, reason = $6 \
            WHERE record_id = $1 AND n = $2 AND state = 'open'";
        let ended = tx
            .run(
                sql,
                values![
                    &end.record,
                    end.n,
                    end.state.as_str(),
                    &end.by.name,
                    end.at,
                    &end.reason
                ],
            )
            .await?;
        if ended == 0 {
            tx.end().await?;
            return Ok(false);
        }
        let action = match end.state {
            ReviewState::SentBack => "review.send_back",
            _ => "review.withdraw",
        };
        let entry = NewAudit::new(action, end.record.as_str(), &end.by, end.at)
            .revisions(Some(end.revision), None)
            .detail(json!({ "reason": end.reason }));
        audit::add(&mut tx, &entry).await?;
        tx.commit().await?;
        Ok(true)
    }

    async fn reviews(&self, id: &RecordId, limit: u32) -> Result<Vec<Review>, StoreError> {
        let sql = concat!(
            "SELECT ",
            review_columns!(),
            " FROM review WHERE record_id = $1 ORDER BY n DESC LIMIT $2"
        );
        let rows = self.read_once().await?.all(sql, values![id, limit]).await?;
        rows.iter().map(review_from).collect()
    }

    async fn open_reviews(&self, limit: u32) -> Result<Vec<Review>, StoreError> {
        let sql = concat!(
            "SELECT ",
            review_columns!(),
            " FROM review WHERE state = 'open' ORDER BY asked_at, record_id LIMIT $1"
        );
        let rows = self.read_once().await?.all(sql, values![limit]).await?;
        rows.iter().map(review_from).collect()
    }

    async fn add_comment(&self, comment: NewComment) -> Result<Option<u32>, StoreError> {
        refuse_nul("the comment", &comment.body)?;
        refuse_nul("the pointer", &comment.pointer)?;
        let mut tx = self.begin_write().await?;
        lock(&mut tx, &comment.record).await?;
        let sql = "SELECT COALESCE(MAX(n), 0) + 1 FROM review_comment WHERE record_id = $1";
        let n = tx.one(sql, values![&comment.record]).await?.integer(0)?;
        if n > i64::from(MAX_COMMENTS) {
            tx.end().await?;
            return Ok(None);
        }
        let sql = "INSERT INTO review_comment (record_id, n, revision, part, pointer, author, body, made_at) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let row = values![
            &comment.record,
            n,
            comment.revision,
            part_word(comment.part),
            &comment.pointer,
            &comment.by.name,
            &comment.body,
            comment.at,
        ];
        tx.run(sql, row).await?;
        let entry = NewAudit::new("comment.add", comment.record.as_str(), &comment.by, comment.at)
            .revisions(None, Some(comment.revision))
            .detail(json!({ "n": n, "pointer": comment.pointer }));
        audit::add(&mut tx, &entry).await?;
        tx.commit().await?;
        count_from(n).map(Some)
    }

    async fn resolve_comment(
        &self,
        id: &RecordId,
        n: u32,
        by: &By,
        at: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin_write().await?;
        lock(&mut tx, id).await?;
        let sql = "UPDATE review_comment SET resolved_by = $3, resolved_at = $4 \
            WHERE record_id = $1 AND n = $2 AND resolved_at IS NULL";
        if tx.run(sql, values![id, n, &by.name, at]).await? == 0 {
            tx.end().await?;
            return Ok(false);
        }
        let entry = NewAudit::new("comment.resolve", id.as_str(), by, at).detail(json!({ "n": n }));
        audit::add(&mut tx, &entry).await?;
        tx.commit().await?;
        Ok(true)
    }

    async fn comments(&self, id: &RecordId) -> Result<Vec<Comment>, StoreError> {
        let sql = "SELECT n, revision, part, pointer, author, body, made_at, resolved_by, resolved_at \
            FROM review_comment WHERE record_id = $1 ORDER BY n";
        let rows = self.read_once().await?.all(sql, values![id]).await?;
        rows.iter().map(comment_from).collect()
    }
}

/// What becomes of the open review of a record when somebody asks for another.
enum Beside {
    Same,
    GivesWay,
    Refused(StoreError),
}

fn beside(open: &Review, ask: &NewReview) -> Beside {
    let is_same = (open.revision, &open.asks) == (ask.revision, &ask.asks);
    if is_same && (ask.note.is_none() || ask.note == open.note) {
        return Beside::Same;
    }
    let is_replaced = !is_same && (&open.asks, &ask.asks) == (&Asks::Publish, &Asks::Publish);
    let by = open.asked_by.name.clone();
    match ask.gives_way {
        Some(n) if n == open.n => Beside::GivesWay,
        _ if is_replaced => Beside::GivesWay,
        _ if is_same => Beside::Refused(StoreError::AskedAlready { by }),
        _ => Beside::Refused(StoreError::AnotherQuestion { by }),
    }
}

/// What takes a record away, as far as an open review may have asked for it.
pub(super) struct Leaving<'l> {
    /// The revision that readers saw, where the record is gone with it.
    pub(super) seen: Option<Revision>,
    /// The review that is approved by it, where one is named.
    pub(super) approves: Option<u32>,
    /// The question that it answers; `None` where the record only moves.
    pub(super) asks: Option<&'l Asks>,
}

/// Ends the open review of a record that goes: approved where it is the one that is named, or where none is and it asked for just this;
/// else withdrawn.
pub(super) async fn end_with_record<DB: Engine>(
    tx: &mut Tx<DB>,
    id: &RecordId,
    leaving: Leaving<'_>,
    (by, reason): (&By, Option<&str>),
    at: OffsetDateTime,
) -> Result<(), StoreError> {
    let sql = "UPDATE review SET \
        state = CASE WHEN revision = $2 AND asks <> 'publish' \
            AND COALESCE(n = $6, asks = $7 AND COALESCE(replaced_by, '') = $8) \
            THEN 'approved' ELSE 'withdrawn' END, \
        decided_name = $3, decided_at = $4, reason = $5 WHERE record_id = $1 AND state = 'open'";
    let seen = leaving.seen.map(|seen| i64::from(seen.0));
    let approves = leaving.approves.map(i64::from);
    let asks = leaving.asks.map_or("", Asks::as_str);
    let replaced_by = leaving.asks.and_then(Asks::replaced_by);
    let replaced_by = replaced_by.map_or("", RecordId::as_str);
    let row = values![id, seen, &by.name, at, reason, approves, asks, replaced_by];
    tx.run(sql, row).await?;
    Ok(())
}

/// Refuses what relies on a review that is not open any more.
pub(super) async fn check_open<DB: Engine>(
    tx: &mut Tx<DB>,
    id: &RecordId,
    approves: Option<u32>,
) -> Result<(), StoreError> {
    let Some(n) = approves else { return Ok(()) };
    let sql = "SELECT 1 FROM review WHERE record_id = $1 AND n = $2 AND state = 'open'";
    match tx.first(sql, values![id, n]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::NoOpenReview(id.clone())),
    }
}

/// Publishing a revision decides the review that asks for it; one that asks for an older revision, or for the withdrawal of another
/// one, has nothing left to decide. Gives the number of the review that is approved, if one is.
pub(super) async fn decide<DB: Engine>(
    tx: &mut Tx<DB>,
    publish: &Publish,
) -> Result<Option<i64>, StoreError> {
    let sql = "UPDATE review SET \
        state = CASE WHEN revision = $2 AND asks = 'publish' THEN 'approved' ELSE 'withdrawn' END, \
        decided_name = $3, decided_at = $4, reason = $5 \
        WHERE record_id = $1 AND (revision <= $2 OR asks <> 'publish') AND state = 'open' RETURNING n, state";
    let decision = values![
        &publish.id,
        publish.revision,
        &publish.by.name,
        publish.at,
        publish.reason.as_deref(),
    ];
    let mut approved = None;
    for row in tx.all(sql, decision).await? {
        if row.text(1)? == "approved" {
            approved = Some(row.integer(0)?);
        }
    }
    Ok(approved)
}

/// Ends the open reviews of revisions that others, which were published after `before`, took the place of.
pub(super) async fn end_replaced<DB: Engine>(
    tx: &mut Tx<DB>,
    before: Seq,
    by: &By,
    at: OffsetDateTime,
) -> Result<(), StoreError> {
    let sql = "UPDATE review SET state = 'withdrawn', decided_name = $2, decided_at = $3 \
        WHERE state = 'open' AND EXISTS (SELECT 1 FROM record r \
        WHERE r.id = review.record_id AND r.seq > $1 AND r.published_revision >= review.revision)";
    tx.run(sql, values![before, &by.name, at]).await?;
    Ok(())
}

async fn lock<DB: Engine>(tx: &mut Tx<DB>, id: &RecordId) -> Result<(), StoreError> {
    match tx.first(<DB as Dialect>::LOCK_RECORD, values![id]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::NoRecord(id.clone())),
    }
}

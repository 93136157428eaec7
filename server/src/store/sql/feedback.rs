//! The queue of feedback by SQL.

use async_trait::async_trait;
use serde_json::json;

use super::convert::{id_from, refuse_nul, revision_from, unreadable};
use super::engine::{Cells, Engine, values};
use super::session::SqlStore;
use super::{anonymous, audit};
use crate::store::{
    AnonymousKept, DecideFeedback, Feedback, FeedbackAdded, FeedbackBody, FeedbackDecided, FeedbackKind,
    FeedbackState, FeedbackStore, NewAudit, NewFeedback, StoreError, Voter, VoterKind,
};

#[async_trait]
impl<DB: Engine> FeedbackStore for SqlStore<DB> {
    async fn add_feedback(&self, feedback: NewFeedback) -> Result<FeedbackAdded, StoreError> {
        refuse_nul("the name", &feedback.name)?;
        let (voter_kind, voter_id) = (feedback.from.kind.as_str(), &feedback.from.id);
        let mut tx = self.begin_write().await?;
        // Whoever adds waits for others who do, so that the number of waiting entries is right.
        let next = "UPDATE counter SET value = value + 1 WHERE name = 'feedback' RETURNING value";
        let n = tx.one(next, &[]).await?.integer(0)?;
        let sql = "SELECT 1 FROM record WHERE id = $1";
        if tx.first(sql, values![&feedback.record]).await?.is_none() {
            return Err(StoreError::NoRecord(feedback.record));
        }
        let (body, kept) = match &feedback.body {
            FeedbackBody::Known(body) => {
                refuse_nul("what was written", body)?;
                if !feedback.topic.is_empty() {
                    let sql = "DELETE FROM feedback WHERE record_id = $1 AND voter_kind = $2 AND voter_id = $3 \
                        AND topic = $4 AND state = 'waiting'";
                    let before = values![&feedback.record, voter_kind, voter_id, &feedback.topic];
                    tx.run(sql, before).await?;
                }
                let sql = "SELECT COUNT(*) FROM feedback WHERE voter_kind = $1 AND voter_id = $2 \
                    AND state = 'waiting'";
                let waiting = tx.one(sql, values![voter_kind, voter_id]).await?.integer(0)?;
                if waiting >= i64::from(feedback.most_waiting) {
                    tx.end().await?;
                    return Ok(FeedbackAdded::TooManyWait);
                }
                (Some(body.as_str()), None)
            }
            FeedbackBody::Anonymous(entry) => match anonymous::keep(&mut tx, entry).await? {
                AnonymousKept::TooManyToday => {
                    tx.end().await?;
                    return Ok(FeedbackAdded::Anonymous(AnonymousKept::TooManyToday));
                }
                kept @ AnonymousKept::Kept { .. } => (None, Some(kept)),
            },
        };
        let anonymous_n = kept.and_then(|kept| match kept {
            AnonymousKept::Kept { n, .. } => Some(n),
            AnonymousKept::TooManyToday => None,
        });
        let sql = "INSERT INTO feedback (n, kind, record_id, revision, voter_kind, voter_id, voter_name, topic, body, \
            anonymous_n, written_at, state) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'waiting')";
        let row = values![
            n,
            feedback.kind.as_str(),
            &feedback.record,
            feedback.revision,
            voter_kind,
            voter_id,
            &feedback.name,
            &feedback.topic,
            body,
            anonymous_n,
            feedback.at,
        ];
        tx.run(sql, row).await?;
        tx.commit().await?;
        Ok(kept.map_or(FeedbackAdded::Added(n), FeedbackAdded::Anonymous))
    }

    async fn feedback(
        &self,
        state: FeedbackState,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Feedback>, StoreError> {
        let sql = "SELECT f.n, f.kind, f.record_id, f.revision, f.voter_kind, f.voter_id, f.voter_name, \
            COALESCE(f.body, a.body), f.written_at, f.state, f.decided_name, f.decided_at, f.reason \
            FROM feedback f LEFT JOIN anonymous_entry a ON a.n = f.anonymous_n \
            WHERE f.state = $1 AND f.n < $2 ORDER BY f.n DESC LIMIT $3";
        let range = values![state.as_str(), before.unwrap_or(i64::MAX), limit];
        let rows = self.read_once().await?.all(sql, range).await?;
        rows.iter().map(feedback_from).collect()
    }

    async fn decide_feedback(&self, decision: DecideFeedback) -> Result<FeedbackDecided, StoreError> {
        refuse_nul("the reason", &decision.reason)?;
        let mut tx = self.begin_write().await?;
        let sql = "UPDATE feedback SET state = $2, decided_name = $3, decided_at = $4, reason = $5 \
            WHERE n = $1 AND state = 'waiting' RETURNING record_id";
        let values = values![
            decision.n,
            decision.state.as_str(),
            &decision.by.name,
            decision.at,
            &decision.reason,
        ];
        let Some(row) = tx.first(sql, values).await? else {
            let sql = "SELECT 1 FROM feedback WHERE n = $1";
            let is_there = tx.first(sql, values![decision.n]).await?.is_some();
            tx.end().await?;
            return Ok(if is_there {
                FeedbackDecided::Before
            } else {
                FeedbackDecided::Nothing
            });
        };
        let action = match decision.state {
            FeedbackState::Ignored => "feedback.ignore",
            _ => "feedback.take",
        };
        let entry = NewAudit::new(action, row.text(0)?, &decision.by, decision.at)
            .detail(json!({ "n": decision.n, "reason": decision.reason }));
        audit::add(&mut tx, &entry).await?;
        tx.commit().await?;
        Ok(FeedbackDecided::Done)
    }
}

fn feedback_from(row: &impl Cells) -> Result<Feedback, StoreError> {
    let (kind, voter_kind, state) = (row.text(1)?, row.text(4)?, row.text(9)?);
    let decided = row.maybe_text(10)?.zip(row.maybe_time(11)?);
    let reason = row.maybe_text(12)?.unwrap_or_default();
    Ok(Feedback {
        n: row.integer(0)?,
        kind: FeedbackKind::from_word(&kind).ok_or_else(|| unreadable("kind of feedback", &kind))?,
        record: id_from(row.text(2)?)?,
        revision: revision_from(row, 3)?,
        from: Voter {
            kind: VoterKind::from_word(&voter_kind)
                .ok_or_else(|| unreadable("kind of voter", &voter_kind))?,
            id: row.text(5)?,
        },
        name: row.text(6)?,
        body: row.text(7)?,
        at: row.time(8)?,
        state: FeedbackState::from_word(&state).ok_or_else(|| unreadable("state of feedback", &state))?,
        decided: decided.map(|(by, at)| (by, at, reason)),
    })
}

//! Votes on what records advise, by SQL.

use async_trait::async_trait;
use kb_core::ids::RecordId;

use super::convert::{id_from, refuse_nul, unreadable};
use super::dialect::Dialect;
use super::engine::{Cells, Engine, values};
use super::session::SqlStore;
use crate::store::{
    ActionKind, NewOutcome, OutcomeSaved, OutcomeStore, StoreError, Vote, VoteOutcome, Voter, VoterKind,
    digest,
};

/// GPU models for which one voter may vote on an action: more than anybody runs, few enough that invented ones weigh little.
const MAX_MODELS: i64 = 16;

#[async_trait]
impl<DB: Engine> OutcomeStore for SqlStore<DB> {
    async fn save_outcome(&self, outcome: NewOutcome) -> Result<OutcomeSaved, StoreError> {
        refuse_nul("the action", &outcome.action)?;
        refuse_nul("the environment", &outcome.environment)?;
        refuse_nul("the model", &outcome.model)?;
        let action_sha256 = digest::text(&format!("{}:{}", outcome.kind.as_str(), outcome.action));
        let (voter_kind, voter_id) = (outcome.voter.kind.as_str(), &outcome.voter.id);
        let mut tx = self.begin_write().await?;
        // Two votes of one voter wait for each other on the record.
        let locked = tx
            .first(<DB as Dialect>::LOCK_RECORD, values![&outcome.record])
            .await?;
        if locked.is_none() {
            return Err(StoreError::NoRecord(outcome.record));
        }
        let sql = "SELECT outcome, environment FROM vote WHERE record_id = $1 AND action_sha256 = $2 AND model = $3 \
            AND voter_kind = $4 AND voter_id = $5";
        let key = values![
            &outcome.record,
            &action_sha256,
            &outcome.model,
            voter_kind,
            voter_id
        ];
        let before = tx.first(sql, key).await?;
        let before = before.map(|row| Ok::<_, StoreError>((row.text(0)?, row.text(1)?)));
        let before = before.transpose()?;
        if before.is_none() {
            let sql = "SELECT COUNT(*) FROM vote WHERE record_id = $1 AND action_sha256 = $2 AND voter_kind = $3 \
                AND voter_id = $4";
            let key = values![&outcome.record, &action_sha256, voter_kind, voter_id];
            if tx.one(sql, key).await?.integer(0)? >= MAX_MODELS {
                tx.end().await?;
                return Ok(OutcomeSaved::TooManyModels);
            }
        }
        if before == Some((outcome.outcome.as_str().to_owned(), outcome.environment.clone())) {
            tx.end().await?;
            return Ok(OutcomeSaved::Unchanged);
        }
        // Others who vote wait from here on.
        let next = "UPDATE counter SET value = value + 1 WHERE name = 'vote' RETURNING value";
        let seq = tx.one(next, &[]).await?.integer(0)?;
        let sql = "INSERT INTO vote (record_id, action_sha256, model, voter_kind, voter_id, kind, action, position, \
            environment, driver, revision, outcome, reported_at, seq) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
            ON CONFLICT (record_id, action_sha256, model, voter_kind, voter_id) DO UPDATE SET \
            position = excluded.position, environment = excluded.environment, driver = excluded.driver, \
            revision = excluded.revision, outcome = excluded.outcome, reported_at = excluded.reported_at, \
            seq = excluded.seq";
        let row = values![
            &outcome.record,
            &action_sha256,
            &outcome.model,
            voter_kind,
            voter_id,
            outcome.kind.as_str(),
            &outcome.action,
            outcome.position,
            &outcome.environment,
            &outcome.driver,
            outcome.revision,
            outcome.outcome.as_str(),
            outcome.at,
            seq,
        ];
        tx.run(sql, row).await?;
        tx.commit().await?;
        Ok(match before {
            None => OutcomeSaved::Added,
            Some(_) => OutcomeSaved::Changed,
        })
    }

    async fn votes(&self, id: &RecordId) -> Result<Vec<Vote>, StoreError> {
        let sql = "SELECT kind, action, model, driver, voter_kind, voter_id, outcome, reported_at FROM vote \
            WHERE record_id = $1 ORDER BY kind DESC, action_sha256, reported_at, seq";
        let rows = self.read_once().await?.all(sql, values![id]).await?;
        rows.iter().map(vote).collect()
    }

    async fn voted_since(&self, seq: i64) -> Result<(Vec<RecordId>, i64), StoreError> {
        let mut tx = self.begin_read().await?;
        let now = tx
            .one("SELECT value FROM counter WHERE name = 'vote'", &[])
            .await?;
        let now = now.integer(0)?;
        if now == seq {
            tx.end().await?;
            return Ok((Vec::new(), now));
        }
        let sql = "SELECT DISTINCT record_id FROM vote WHERE seq > $1 ORDER BY record_id";
        let rows = tx.all(sql, values![seq]).await?;
        tx.end().await?;
        let ids = rows
            .iter()
            .map(|row| id_from(row.text(0)?))
            .collect::<Result<_, _>>()?;
        Ok((ids, now))
    }
}

fn vote(row: &impl Cells) -> Result<Vote, StoreError> {
    let (kind, voter_kind, outcome) = (row.text(0)?, row.text(4)?, row.text(6)?);
    Ok(Vote {
        kind: ActionKind::from_word(&kind).ok_or_else(|| unreadable("action kind", &kind))?,
        action: row.text(1)?,
        model: row.text(2)?,
        driver: row.text(3)?,
        voter: Voter {
            kind: VoterKind::from_word(&voter_kind)
                .ok_or_else(|| unreadable("kind of voter", &voter_kind))?,
            id: row.text(5)?,
        },
        outcome: VoteOutcome::from_word(&outcome).ok_or_else(|| unreadable("outcome", &outcome))?,
        at: row.time(7)?,
    })
}

//! Votes on what records advise, by SQL.

use async_trait::async_trait;
use kb_core::ids::RecordId;

use super::convert::{count_from, refuse_nul, unreadable};
use super::dialect::Dialect;
use super::engine::{Cells, Engine, values};
use super::session::SqlStore;
use crate::store::{ActionKind, NewOutcome, OutcomeCount, OutcomeSaved, OutcomeStore, StoreError, digest};

/// GPU models for which one reporter may vote on an action: more than anybody runs, and few enough that invented ones
/// weigh little.
const MAX_MODELS: i64 = 16;

#[async_trait]
impl<DB: Engine> OutcomeStore for SqlStore<DB> {
    async fn save_outcome(&self, outcome: NewOutcome) -> Result<OutcomeSaved, StoreError> {
        refuse_nul("the action", &outcome.action)?;
        refuse_nul("the environment", &outcome.environment)?;
        let action_sha256 = digest::text(&format!("{}:{}", outcome.kind.as_str(), outcome.action));
        refuse_nul("the model", &outcome.model)?;
        let mut tx = self.begin_write().await?;
        // Two votes of one reporter wait for each other on the record.
        let locked = tx
            .first(<DB as Dialect>::LOCK_RECORD, values![&outcome.record])
            .await?;
        if locked.is_none() {
            return Err(StoreError::NoRecord(outcome.record));
        }
        let sql = "SELECT worked, environment FROM outcome \
            WHERE record_id = $1 AND action_sha256 = $2 AND model = $3 AND reporter = $4";
        let key = values![&outcome.record, &action_sha256, &outcome.model, &outcome.reporter];
        let before = tx.first(sql, key).await?;
        let before = before.map(|row| Ok::<_, StoreError>((row.flag(0)?, row.text(1)?)));
        let before = before.transpose()?;
        if before.is_none() {
            let sql =
                "SELECT COUNT(*) FROM outcome WHERE record_id = $1 AND action_sha256 = $2 AND reporter = $3";
            let key = values![&outcome.record, &action_sha256, &outcome.reporter];
            let models = tx.first(sql, key).await?.map(|row| row.integer(0)).transpose()?;
            if models.is_some_and(|models| models >= MAX_MODELS) {
                tx.end().await?;
                return Ok(OutcomeSaved::TooManyModels);
            }
        }
        if before == Some((outcome.worked, outcome.environment.clone())) {
            tx.end().await?;
            return Ok(OutcomeSaved::Unchanged);
        }
        let sql = "INSERT INTO outcome (record_id, action_sha256, model, reporter, kind, action, \
            environment, revision, worked, reported_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
            ON CONFLICT (record_id, action_sha256, model, reporter) DO UPDATE SET \
            worked = excluded.worked, environment = excluded.environment, revision = excluded.revision, reported_at = excluded.reported_at";
        let row = values![
            &outcome.record,
            &action_sha256,
            &outcome.model,
            &outcome.reporter,
            outcome.kind.as_str(),
            &outcome.action,
            &outcome.environment,
            outcome.revision,
            outcome.worked,
            outcome.at,
        ];
        tx.run(sql, row).await?;
        tx.commit().await?;
        Ok(match before {
            None => OutcomeSaved::Added,
            Some(_) => OutcomeSaved::Changed,
        })
    }

    async fn outcomes(&self, id: &RecordId) -> Result<Vec<OutcomeCount>, StoreError> {
        let sql = "SELECT kind, action, environment, COUNT(CASE WHEN worked THEN 1 END), \
            COUNT(CASE WHEN NOT worked THEN 1 END) FROM outcome WHERE record_id = $1 \
            GROUP BY kind, action_sha256, action, environment \
            ORDER BY kind DESC, action_sha256, environment";
        let rows = self.read_once().await?.all(sql, values![id]).await?;
        rows.iter().map(count).collect()
    }
}

fn count(row: &impl Cells) -> Result<OutcomeCount, StoreError> {
    let kind = row.text(0)?;
    Ok(OutcomeCount {
        kind: ActionKind::from_word(&kind).ok_or_else(|| unreadable("action kind", &kind))?,
        action: row.text(1)?,
        environment: row.text(2)?,
        worked: count_from(row.integer(3)?)?,
        failed: count_from(row.integer(4)?)?,
    })
}

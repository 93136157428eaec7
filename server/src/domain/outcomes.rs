//! What came of trying what a record advises: votes of known reporters, one for each action and GPU model, and what
//! they add up to. Nothing of it changes a record.

use std::collections::BTreeMap;

use kb_core::ids::{RecordId, Revision};
use kb_core::record::{Document, Record};
use kb_core::scanner::{EnvironmentError, check_environment};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::ToSchema;

use super::tokens::Actor;
use crate::feed::Generation;
use crate::store::{ActionKind, NewOutcome, OutcomeCount, OutcomeSaved, RecordStore, Store, StoreError};

/// Component of an environment with the GPU model.
const MODEL: &str = "gpu_model";
const MAX_COMPONENTS: usize = 16;
/// Longest name of a component and longest version or model, in characters.
const MAX_CHARACTERS: usize = 100;

/// A vote as it is sent.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OutcomeVote {
    /// What was tried: a JSON pointer into the document.
    #[schema(example = "/workarounds/0")]
    pub tried: String,
    /// Whether it helped.
    pub worked: bool,
    /// Versions and models where it was tried.
    #[serde(default)]
    #[schema(example = json!({"driver": "550.54.14"}))]
    pub environment: BTreeMap<String, String>,
    /// The revision that was read; the published one unless said.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub revision: Option<u32>,
}

/// What became of a vote, and what all of them add up to.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OutcomeReceipt {
    /// `added`, `changed` (the reporter had said otherwise) or `unchanged`.
    #[schema(example = "added")]
    pub outcome: &'static str,
    /// All votes on the record.
    pub outcomes: Outcomes,
}

/// Votes on a record.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Outcomes {
    /// The record.
    #[schema(value_type = String)]
    pub id: RecordId,
    /// One entry for each action that was voted on; those of the published document first, in its order.
    pub actions: Vec<ActionOutcome>,
}

/// Votes on one action.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ActionOutcome {
    /// Where it stands in the published document; null when it is no longer there.
    #[schema(example = "/workarounds/0")]
    pub tried: Option<String>,
    /// Its text.
    pub action: String,
    /// Reporters that it helped.
    pub worked: u64,
    /// Reporters that it did not help.
    pub failed: u64,
    /// Share that it helped, with the interval of Wilson that holds it in 95 of 100 cases.
    pub rate: Rate,
    /// The same by environment.
    pub environments: Vec<EnvironmentOutcome>,
}

/// A share and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Rate {
    /// `worked` of all.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Votes on an action in one environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct EnvironmentOutcome {
    /// Versions and models.
    pub environment: BTreeMap<String, String>,
    /// Reporters that it helped.
    pub worked: u64,
    /// Reporters that it did not help.
    pub failed: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum OutcomeError {
    /// No such record, or none that was ever published.
    #[error("there is no published record {0}")]
    NoRecord(RecordId),
    /// No such revision that readers could see.
    #[error("record {0} has no published revision {1}")]
    NoRevision(RecordId, u32),
    #[error("{0:?} is no action of revision {1}: write /workarounds/0 or /dead_ends/0, counted from 0")]
    NoAction(String, Revision),
    #[error(
        "an environment has at most {MAX_COMPONENTS} components of 1 to {MAX_CHARACTERS} characters without control characters"
    )]
    Environment,
    /// The environment names what no record knows, or a version that is none.
    #[error(transparent)]
    Component(#[from] EnvironmentError),
    #[error("this token has voted on this action for as many GPU models as count; change one of those votes")]
    TooManyModels,
    /// Votes are kept by token.
    #[error("a vote is sent with a token: make one of your own on the page /account")]
    NoToken,
    /// The credential of a node: each enrolment makes a new one, which would be a new voter.
    #[error(
        "a node's credential writes its reports and has no vote: use a token with the scope \"report\" of its own"
    )]
    NoVote,
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub async fn vote(
    (store, generation): (&dyn Store, &Generation),
    id: &RecordId,
    vote: OutcomeVote,
    reporter: &Actor,
    at: OffsetDateTime,
) -> Result<OutcomeReceipt, OutcomeError> {
    if reporter.node.is_some() {
        return Err(OutcomeError::NoVote);
    }
    let (published, document) = published(store, id).await?;
    let (revision, document) = match vote.revision {
        Some(number) if number != published.0 => {
            let revision = Revision(number);
            let no_revision = || OutcomeError::NoRevision(id.clone(), number);
            // Later ones are drafts.
            if revision > published {
                return Err(no_revision());
            }
            let document = read(store, id, revision).await?.ok_or_else(no_revision)?;
            (revision, document)
        }
        _ => (published, document),
    };
    let (kind, action) = actions(&document)
        .find(|(pointer, ..)| *pointer == vote.tried)
        .map(|(_, kind, action)| (kind, action))
        .ok_or_else(|| OutcomeError::NoAction(vote.tried.clone(), revision))?;
    check_size(&vote.environment)?;
    check_environment(&vote.environment, &generation.matcher)?;
    // Names as the check has read them, so that equal environments are equal texts.
    let environment: BTreeMap<String, &str> = vote
        .environment
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
        .collect();
    let model = environment.get(MODEL).map(|model| model.to_lowercase());
    let saved = store
        .save_outcome(NewOutcome {
            record: id.clone(),
            revision,
            kind,
            action,
            // A map with its keys in order always has the same JSON.
            environment: serde_json::to_string(&environment).unwrap_or_default(),
            model: model.unwrap_or_default(),
            reporter: reporter.token().ok_or(OutcomeError::NoToken)?.to_owned(),
            worked: vote.worked,
            at,
        })
        .await?;
    Ok(OutcomeReceipt {
        outcome: match saved {
            OutcomeSaved::Added => "added",
            OutcomeSaved::Changed => "changed",
            OutcomeSaved::Unchanged => "unchanged",
            OutcomeSaved::TooManyModels => return Err(OutcomeError::TooManyModels),
        },
        outcomes: outcomes(store, id).await?,
    })
}

/// What the votes on a record add up to.
pub async fn outcomes(store: &dyn Store, id: &RecordId) -> Result<Outcomes, OutcomeError> {
    let (_, document) = published(store, id).await?;
    let mut rest = store.outcomes(id).await?;
    let mut counted = Vec::new();
    for (pointer, kind, action) in actions(&document) {
        let of_action = |count: &OutcomeCount| count.kind == kind && count.action == action;
        let (own, others) = rest.into_iter().partition(of_action);
        rest = others;
        counted.extend(sum(Some(pointer), action, own));
    }
    while let Some(first) = rest.first() {
        let (kind, action) = (first.kind, first.action.clone());
        let of_action = |count: &OutcomeCount| count.kind == kind && count.action == action;
        let (own, others) = rest.into_iter().partition(of_action);
        rest = others;
        counted.extend(sum(None, action, own));
    }
    Ok(Outcomes {
        id: id.clone(),
        actions: counted,
    })
}

fn sum(tried: Option<String>, action: String, counts: Vec<OutcomeCount>) -> Option<ActionOutcome> {
    let worked = counts.iter().map(|count| count.worked).sum();
    let failed = counts.iter().map(|count| count.failed).sum();
    let rate = wilson(worked, failed)?;
    let environments = counts.into_iter().map(|count| EnvironmentOutcome {
        environment: serde_json::from_str(&count.environment).unwrap_or_default(),
        worked: count.worked,
        failed: count.failed,
    });
    Some(ActionOutcome {
        tried,
        action,
        worked,
        failed,
        rate,
        environments: environments.collect(),
    })
}

/// E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927): the interval of
/// a share, right for few votes too. `None` without votes.
fn wilson(worked: u64, failed: u64) -> Option<Rate> {
    /// Quantile of the normal distribution for 95 % on both sides.
    const Z: f64 = 1.959_964;
    if worked + failed == 0 {
        return None;
    }
    #[allow(clippy::cast_precision_loss, reason = "votes are far fewer than 2^53")]
    let (worked, n) = (worked as f64, (worked + failed) as f64);
    let value = worked / n;
    let centre = value + Z * Z / (2.0 * n);
    let spread = Z * (value * (1.0 - value) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    Some(Rate {
        value,
        low: ((centre - spread) / scale).max(0.0),
        high: ((centre + spread) / scale).min(1.0),
    })
}

async fn published(store: &dyn RecordStore, id: &RecordId) -> Result<(Revision, Document), OutcomeError> {
    let no_record = || OutcomeError::NoRecord(id.clone());
    let status = store.status(id).await?.ok_or_else(no_record)?;
    let revision = status.published.ok_or_else(no_record)?;
    let document = read(store, id, revision).await?.ok_or_else(no_record)?;
    Ok((revision, document))
}

async fn read(
    store: &dyn RecordStore,
    id: &RecordId,
    revision: Revision,
) -> Result<Option<Document>, OutcomeError> {
    let Some(texts) = store.revision(id, revision).await? else {
        return Ok(None);
    };
    // What was published could be read; a text that no longer can has no actions to vote on.
    let record = Record::parse(&texts.document, &texts.annex);
    Ok(record.ok().map(|record| record.document))
}

/// All that a document says to do, or not to do, each with its place.
fn actions(document: &Document) -> impl Iterator<Item = (String, ActionKind, String)> {
    let workarounds = document
        .workarounds
        .iter()
        .enumerate()
        .map(|(index, workaround)| {
            let text = said(&workaround.action, workaround.how.as_deref());
            (format!("/workarounds/{index}"), ActionKind::Workaround, text)
        });
    let dead_ends = document.dead_ends.iter().enumerate().map(|(index, dead_end)| {
        let text = said(&dead_end.action, dead_end.why_fails.as_deref());
        (format!("/dead_ends/{index}"), ActionKind::DeadEnd, text)
    });
    workarounds.chain(dead_ends)
}

/// The first text that says something: the seeds leave `action` empty where the reason says it all.
pub(crate) fn said(action: &str, more: Option<&str>) -> String {
    if action.trim().is_empty() {
        more.unwrap_or_default().to_owned()
    } else {
        action.to_owned()
    }
}

fn check_size(environment: &BTreeMap<String, String>) -> Result<(), OutcomeError> {
    let fits = |text: &String| {
        let characters = text.chars().count();
        (1..=MAX_CHARACTERS).contains(&characters) && !text.chars().any(char::is_control)
    };
    let all_fit = environment.iter().all(|(name, value)| fits(name) && fits(value));
    if environment.len() > MAX_COMPONENTS || !all_fit {
        return Err(OutcomeError::Environment);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_votes_are_less_sure_than_many() {
        assert_eq!(wilson(0, 0), None);
        let rounded = |worked, failed| {
            let rate = wilson(worked, failed).unwrap();
            [rate.value, rate.low, rate.high].map(|share| format!("{share:.3}"))
        };
        // By hand, from the formula with z = 1.96.
        assert_eq!(rounded(1, 0), ["1.000", "0.207", "1.000"]);
        assert_eq!(rounded(8, 2), ["0.800", "0.490", "0.943"]);
        assert_eq!(rounded(0, 100), ["0.000", "0.000", "0.037"]);
    }
}

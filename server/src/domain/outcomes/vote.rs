//! Voting: of known people the vote counts in a share; what nobody vouches for is put into the queue of editors.

use std::collections::BTreeMap;

use kb_core::ids::{RecordId, Revision};
use kb_core::record::Record;
use kb_core::scanner::{EnvironmentError, check_environment};
use serde::{Deserialize, Serialize};
use serde_json::json;
use time::OffsetDateTime;
use utoipa::ToSchema;

use super::actions::{Action, actions};
use super::share::{ActionTally, GroupShare, Share, tally};
use crate::domain::anonymous::{AnonymousError, Nobody};
use crate::domain::tokens::{Actor, Who};
use crate::feed::Generation;
use crate::store::{
    AnonymousKept, AnonymousKind, FeedbackAdded, FeedbackBody, FeedbackKind, NewFeedback, NewOutcome,
    OutcomeSaved, RecordStore, Scope, Store, StoreError, VoteOutcome, Voter, VoterKind,
};

/// Components of an environment by which shares are told apart.
const MODEL: &str = "gpu_model";
const DRIVER: &str = "driver";
const MAX_COMPONENTS: usize = 16;
/// Longest name of a component and longest version or model, in characters.
const MAX_CHARACTERS: usize = 100;
/// Votes of an assistant's token that wait for an editor.
const MOST_WAITING: u32 = 200;

/// A vote as it is sent.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OutcomeVote {
    /// What was tried: a JSON pointer into the document.
    #[schema(example = "/workarounds/0")]
    pub tried: String,
    /// Whether it helped.
    pub worked: bool,
    /// Whether the error was there again within a week. Leave it out until you know: the vote can be sent again with it.
    #[serde(default)]
    pub came_back: Option<bool>,
    /// Versions and models where it was tried.
    #[serde(default)]
    #[schema(example = json!({"driver": "550.54.14"}))]
    pub environment: BTreeMap<String, String>,
    /// The revision that was read; the published one unless said.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub revision: Option<u32>,
}

impl OutcomeVote {
    fn outcome(&self) -> Result<VoteOutcome, OutcomeError> {
        match (self.worked, self.came_back) {
            (true, Some(true)) => Ok(VoteOutcome::CameBack),
            (true, _) => Ok(VoteOutcome::Worked),
            (false, Some(true)) => Err(OutcomeError::NeverGone),
            (false, _) => Ok(VoteOutcome::DidNotHelp),
        }
    }
}

/// What became of a vote, and what all of them add up to.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OutcomeReceipt {
    /// `added`, `changed` (the voter had said otherwise), `unchanged`, or `queued`: an editor reads it, and it counts in no share.
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
    /// One entry for each action that was voted on; those of the published document first, in the order in which it is shown.
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
    /// People who voted: by a session, or a token of their own.
    pub reporters: u64,
    /// Tokens without an owner that voted; they count in no share.
    pub tokens: u64,
    /// How many of them it helped; null below ten.
    pub share: Option<Share>,
    /// The same by driver, of those with ten.
    pub drivers: Vec<GroupShare>,
    /// The same by GPU model, of those with ten.
    pub gpu_models: Vec<GroupShare>,
}

#[derive(Debug, thiserror::Error)]
pub enum OutcomeError {
    #[error("there is no published record {0}")]
    NoRecord(RecordId),
    #[error("record {0} has no published revision {1}")]
    NoRevision(RecordId, u32),
    #[error("{0:?} is no action of revision {1}: write /workarounds/0 or /dead_ends/0, counted from 0")]
    NoAction(String, Revision),
    #[error("only what worked at first can have come back: send `came_back` with `worked: true`")]
    NeverGone,
    #[error(
        "an environment has at most {MAX_COMPONENTS} components of 1 to {MAX_CHARACTERS} characters without control characters"
    )]
    Environment,
    /// The environment names what no record knows, or a version that is none.
    #[error(transparent)]
    Component(#[from] EnvironmentError),
    #[error("you have voted on this action for as many GPU models as count; change one of those votes")]
    TooManyModels,
    #[error("{MOST_WAITING} votes of this token wait for an editor: try again when they were read")]
    TooManyWait,
    #[error(
        "a vote needs a login, a token of one's own (make one on the page /account), or one with the scope \"report\""
    )]
    NoScope,
    /// The credential of a node: each enrolment makes a new one, which would be a new voter.
    #[error(
        "a node's credential writes its reports and has no vote: use a token with the scope \"report\" of its own"
    )]
    NoVote,
    #[error(transparent)]
    Anonymous(#[from] AnonymousError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, Clone, Copy)]
pub enum Voting<'a> {
    /// Somebody who is logged in, or the holder of a token.
    Known(&'a Actor),
    /// A coding assistant with somebody's token.
    Assistant(&'a Actor),
    Nobody(Nobody),
}

#[derive(Debug)]
pub struct Cast {
    pub receipt: OutcomeReceipt,
    pub anonymous: Option<AnonymousKept>,
}

pub async fn vote(
    (store, generation): (&dyn Store, &Generation),
    id: &RecordId,
    vote: OutcomeVote,
    voting: Voting<'_>,
    at: OffsetDateTime,
) -> Result<Cast, OutcomeError> {
    let known = match voting {
        Voting::Known(actor) => Some(voter(actor)?),
        Voting::Assistant(actor) => Some(Voter {
            kind: VoterKind::Assistant,
            ..voter(actor)?
        }),
        Voting::Nobody(nobody) => {
            nobody.check()?;
            None
        }
    };
    let (published, record) = published(store, id).await?;
    let (revision, record) = match vote.revision {
        Some(number) if number != published.0 => {
            let revision = Revision(number);
            let no_revision = || OutcomeError::NoRevision(id.clone(), number);
            // Later ones are drafts.
            if revision > published {
                return Err(no_revision());
            }
            let record = read(store, id, revision).await?.ok_or_else(no_revision)?;
            (revision, record)
        }
        _ => (published, record),
    };
    let action = actions(&record)
        .into_iter()
        .find(|action| action.pointer() == vote.tried)
        .ok_or_else(|| OutcomeError::NoAction(vote.tried.clone(), revision))?;
    let outcome = vote.outcome()?;
    check_size(&vote.environment)?;
    check_environment(&vote.environment, &generation.matcher)?;
    // Names as the check has read them, so that equal environments are equal texts.
    let environment: BTreeMap<String, &str> = vote
        .environment
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
        .collect();
    let model = environment.get(MODEL).map(|model| model.to_lowercase());
    let model = model.unwrap_or_default();
    let (told, anonymous) = match known {
        Some(voter) if voter.kind != VoterKind::Assistant => {
            let driver = environment.get(DRIVER).copied().unwrap_or_default();
            let saved = store
                .save_outcome(NewOutcome {
                    record: id.clone(),
                    revision,
                    kind: action.kind,
                    action: action.text,
                    position: u32::try_from(action.position).unwrap_or(u32::MAX),
                    // A map with its keys in order always has the same JSON.
                    environment: serde_json::to_string(&environment).unwrap_or_default(),
                    model,
                    driver: driver.to_owned(),
                    voter,
                    outcome,
                    at,
                })
                .await?;
            (saved_word(saved)?, None)
        }
        known => {
            let about = (id, revision, &action);
            let queued = queued(about, (outcome, &environment, &model), (known, voting), at)?;
            ("queued", taken(store.add_feedback(queued).await?)?)
        }
    };
    Ok(Cast {
        receipt: OutcomeReceipt {
            outcome: told,
            outcomes: outcomes(store, id).await?,
        },
        anonymous,
    })
}

/// Who the holder of a session or a token is as a voter. A person with several tokens is one voter.
pub fn voter(actor: &Actor) -> Result<Voter, OutcomeError> {
    if actor.node.is_some() {
        return Err(OutcomeError::NoVote);
    }
    let (kind, id) = match (&actor.who, actor.person()) {
        (_, Some(person)) => (VoterKind::Person, person),
        (Who::Token { id, .. }, None) if actor.may(Scope::Report) => (VoterKind::Token, id.as_str()),
        _ => return Err(OutcomeError::NoScope),
    };
    Ok(Voter {
        kind,
        id: id.to_owned(),
    })
}

fn saved_word(saved: OutcomeSaved) -> Result<&'static str, OutcomeError> {
    match saved {
        OutcomeSaved::Added => Ok("added"),
        OutcomeSaved::Changed => Ok("changed"),
        OutcomeSaved::Unchanged => Ok("unchanged"),
        OutcomeSaved::TooManyModels => Err(OutcomeError::TooManyModels),
    }
}

fn queued(
    (id, revision, action): (&RecordId, Revision, &Action),
    (outcome, environment, model): (VoteOutcome, &BTreeMap<String, &str>, &str),
    (known, voting): (Option<Voter>, Voting<'_>),
    at: OffsetDateTime,
) -> Result<NewFeedback, OutcomeError> {
    let body = json!({
        "tried": action.pointer(),
        "action": action.text,
        "outcome": outcome.as_str(),
        "environment": environment,
    })
    .to_string();
    // By its topic a later vote finds the earlier one of its voter; nobody has an earlier one.
    let topic = match voting {
        Voting::Nobody(_) => String::new(),
        Voting::Known(_) | Voting::Assistant(_) => {
            format!("{}:{}:{model}", action.kind.as_str(), action.text)
        }
    };
    let (from, name, body) = match (known, voting) {
        (Some(voter), Voting::Known(actor) | Voting::Assistant(actor)) => {
            (voter, actor.name.clone(), FeedbackBody::Known(body))
        }
        (_, Voting::Nobody(nobody)) => {
            let entry = nobody.entry((AnonymousKind::Vote, id.as_str()), body, at)?;
            (nobody.voter(), String::new(), FeedbackBody::Anonymous(entry))
        }
        (None, _) => return Err(OutcomeError::NoScope),
    };
    Ok(NewFeedback {
        kind: FeedbackKind::Vote,
        record: id.clone(),
        revision,
        from,
        name,
        topic,
        body,
        at,
        most_waiting: MOST_WAITING,
    })
}

fn taken(added: FeedbackAdded) -> Result<Option<AnonymousKept>, OutcomeError> {
    match added {
        FeedbackAdded::Added(_) => Ok(None),
        FeedbackAdded::Anonymous(AnonymousKept::TooManyToday) => Err(AnonymousError::TooManyToday.into()),
        FeedbackAdded::Anonymous(kept) => Ok(Some(kept)),
        FeedbackAdded::TooManyWait => Err(OutcomeError::TooManyWait),
    }
}

pub async fn outcomes(store: &dyn Store, id: &RecordId) -> Result<Outcomes, OutcomeError> {
    let (_, record) = published(store, id).await?;
    let mut rest = tally(&store.votes(id).await?);
    let mut counted = Vec::new();
    for action in actions(&record) {
        let of_action = |tally: &ActionTally| tally.kind == action.kind && tally.action == action.text;
        if let Some(place) = rest.iter().position(of_action) {
            counted.push(outcome_of(Some(action.pointer()), rest.remove(place)));
        }
    }
    counted.extend(rest.into_iter().map(|tally| outcome_of(None, tally)));
    Ok(Outcomes {
        id: id.clone(),
        actions: counted,
    })
}

fn outcome_of(tried: Option<String>, tally: ActionTally) -> ActionOutcome {
    ActionOutcome {
        tried,
        action: tally.action,
        reporters: tally.reporters,
        tokens: tally.tokens,
        share: tally.share,
        drivers: tally.drivers,
        gpu_models: tally.gpu_models,
    }
}

async fn published(store: &dyn RecordStore, id: &RecordId) -> Result<(Revision, Record), OutcomeError> {
    let no_record = || OutcomeError::NoRecord(id.clone());
    let status = store.status(id).await?.ok_or_else(no_record)?;
    let revision = status.published.ok_or_else(no_record)?;
    let record = read(store, id, revision).await?.ok_or_else(no_record)?;
    Ok((revision, record))
}

async fn read(
    store: &dyn RecordStore,
    id: &RecordId,
    revision: Revision,
) -> Result<Option<Record>, OutcomeError> {
    let Some(texts) = store.revision(id, revision).await? else {
        return Ok(None);
    };
    // What was published could be read; a text that no longer can has no actions to vote on.
    Ok(Record::parse(&texts.document, &texts.annex).ok())
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

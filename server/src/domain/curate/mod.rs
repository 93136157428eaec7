//! Changing records: a draft is checked and becomes the head; publishing is its own step; withdrawing takes a
//! record out of matching and search.

mod advised;
mod alike;
mod begun;
mod check;
mod deciding;
mod error;
mod foresee;
mod gate;
mod moves;
mod removal;
mod review;
mod second_person;
mod split;
mod together;
mod trial;

use std::sync::Arc;
use std::time::Duration;

use kb_core::annex;
use kb_core::ids::{RecordId, Revision, Seq};
use kb_core::record::Record;
use kb_core::text::Violation;
use time::OffsetDateTime;

use crate::feed::Knowledge;
use crate::feed::background::{self, Beside};
use crate::store::{
    By, Expected, NewRevision, Publish, Published, RecordState, RecordStatus, RecordStore, Saved, Store,
    StoreError, Withdrawal,
};

pub use alike::{Alike, Likeness, alike};
pub use begun::begun;
pub use check::check_texts;
pub use error::CurateError;
pub use foresee::{Foreseen, Otherwise};
pub use gate::{NoHealthyLines, loose_pattern, refused, refused_without};
pub use moves::{merge_away, merges_into, rename};
pub use removal::{TakenAway, needs_second_person, take_away};
pub use review::{MAX_TEXT_CHARS, Shown, approve, comment, end, outlook, propose, resolve, revert};
pub use second_person::Approver;
pub use split::{Movable, Parted, Parting, movable, split};
pub use together::{Pair, together};
pub use trial::{Trial, try_draft};

#[derive(Debug, Clone)]
pub struct Draft {
    pub id: RecordId,
    pub document: String,
    /// Annex; `None` keeps the head's.
    pub annex: Option<String>,
    pub expected: Expected,
    pub by: By,
    pub note: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Accepted {
    pub revision: Revision,
    /// False when the texts were the head's already.
    pub changed: bool,
    /// What is not good, but was accepted.
    pub warnings: Vec<Violation>,
    /// The feed's seq of the records beside which the gate let it pass; `None` where the gate was not asked.
    pub passed: Option<Seq>,
}

/// Checks a draft and makes it the head. With a gate, which a draft that is to be published needs, it is asked first, so
/// that nothing is stored of what it refuses.
pub async fn save(
    store: &dyn RecordStore,
    draft: Draft,
    gate: Option<&Gate>,
    at: OffsetDateTime,
) -> Result<Accepted, CurateError> {
    let annex = match draft.annex {
        Some(annex) => annex,
        None => annex_of_head(store, &draft.id).await?,
    };
    let warnings = check_texts(&draft.id, &draft.document, &annex).map_err(CurateError::Invalid)?;
    let passed = match gate {
        Some(gate) if !is_published(store, &draft.id, (&draft.document, &annex)).await? => {
            ask_gate(gate, &draft.document, &annex).await?
        }
        _ => None,
    };
    let saved = store
        .save_head(NewRevision {
            id: draft.id,
            document: draft.document,
            annex,
            expected: draft.expected,
            by: draft.by,
            note: draft.note,
            at,
        })
        .await?;
    match saved {
        Saved::Saved(revision) => Ok(Accepted {
            revision,
            changed: true,
            warnings,
            passed,
        }),
        Saved::Unchanged(revision) => Ok(Accepted {
            revision,
            changed: false,
            warnings,
            passed,
        }),
        Saved::Stale(head) => Err(CurateError::Stale(head)),
    }
}

/// Whether readers see these texts already. The gate does not take back what they see.
async fn is_published(
    store: &dyn RecordStore,
    id: &RecordId,
    (document, annex): (&str, &str),
) -> Result<bool, CurateError> {
    let status = store.status(id).await?;
    let published = status.filter(|status| status.state == RecordState::Published);
    let Some(revision) = published.and_then(|status| status.published) else {
        return Ok(false);
    };
    let texts = store.revision(id, revision).await?;
    Ok(texts.is_some_and(|texts| texts.document == document && texts.annex == annex))
}

async fn annex_of_head(store: &dyn RecordStore, id: &RecordId) -> Result<String, CurateError> {
    let Some(status) = store.status(id).await? else {
        return Ok(annex::EMPTY.to_owned());
    };
    let head = store.revision(id, status.head).await?;
    Ok(head.map_or_else(|| annex::EMPTY.to_owned(), |texts| texts.annex))
}

#[derive(Debug, Clone)]
pub enum Gate {
    /// The record joins what readers see now.
    Asked(Arc<Knowledge>),
    /// An administrator has a reason to publish whatever the gate says.
    Forced(String),
}

/// Asks the gate about texts that keep the rules. Returns the seq of the records they pass beside; `None` if it was not asked.
async fn ask_gate(gate: &Gate, document: &str, annex: &str) -> Result<Option<Seq>, CurateError> {
    let Gate::Asked(knowledge) = gate else {
        return Ok(None);
    };
    let record = Record::parse(document, annex).map_err(CurateError::Invalid)?;
    let generation = knowledge.current();
    let seq = generation.seq;
    let asked = background::run(Beside::Requests, move || refused(&[record], &generation));
    let findings = asked.await.ok_or(CurateError::NotAsked)??;
    match findings.into_values().next() {
        Some(findings) => Err(CurateError::Gate(findings)),
        None => Ok(Some(seq)),
    }
}

/// What stands before the reason of an administrator who did without a second person.
const ALONE: &str = "without a second person: ";
/// How often a publication asks the gate again because another one came first.
const ATTEMPTS: usize = 8;
/// How long it waits for the records that came first.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a publication waits for those that came before it on this server.
const TURN: Duration = Duration::from_secs(20);

/// Makes `revision`, or the head, what readers see. It is checked again: rules may have become stricter since.
/// `passed` is what [`save`] told of these texts.
///
/// Two records may be good by themselves and not beside each other, so that the gate's answer holds only until another
/// record is published: then it is asked again. What decides a node's verdict is not published by the one who wrote it.
pub async fn publish(
    store: &dyn Store,
    (gate, passed): (&Gate, Option<Seq>),
    (id, revision): (&RecordId, Option<Revision>),
    (approver, reason): (&Approver, Option<&str>),
    at: OffsetDateTime,
) -> Result<Published, CurateError> {
    let status = store
        .status(id)
        .await?
        .ok_or_else(|| CurateError::NoRecord(id.clone()))?;
    let revision = revision.unwrap_or(status.head);
    let alone = second_person::check_second_person(store, &status, revision, approver).await?;
    let by = (&approver.by, reason, alone);
    publish_checked(store, (gate, passed), (id, revision), by, at).await
}

/// The same once one person may, with the reason of an administrator where that was needed.
async fn publish_checked(
    store: &dyn Store,
    (gate, mut passed): (&Gate, Option<Seq>),
    (id, revision): (&RecordId, Revision),
    (by, reason, alone): (&By, Option<&str>, Option<String>),
    at: OffsetDateTime,
) -> Result<Published, CurateError> {
    // Whoever is forced through asks no gate, and cannot be overtaken.
    let _turn = match gate {
        Gate::Asked(knowledge) => {
            let turn = knowledge.turn_to_publish(TURN).await;
            Some(turn.ok_or(CurateError::Overtaken)?)
        }
        Gate::Forced(_) => None,
    };
    let texts = store.revision(id, revision).await?;
    let texts = texts.ok_or_else(|| CurateError::NoRevision(id.clone(), revision))?;
    check_texts(id, &texts.document, &texts.annex).map_err(CurateError::Invalid)?;
    let is_published_already = is_published(store, id, (&texts.document, &texts.annex)).await?;
    let publish = Publish {
        id: id.clone(),
        revision,
        by: by.clone(),
        after: None,
        forced: match gate {
            Gate::Asked(_) => alone.as_ref().map(|reason| format!("{ALONE}{reason}")),
            Gate::Forced(reason) => Some(reason.clone()),
        },
        reason: reason.map(str::to_owned),
        at,
    };
    for _ in 0..ATTEMPTS {
        if passed.is_none() && !is_published_already {
            passed = ask_gate(gate, &texts.document, &texts.annex).await?;
        }
        let publish = Publish {
            after: passed.take(),
            ..publish.clone()
        };
        match store.publish(publish).await {
            Err(StoreError::FeedMoved(newest)) => {
                if let Gate::Asked(knowledge) = gate {
                    knowledge.holds(newest, PATIENCE).await;
                }
            }
            done => return Ok(done?),
        }
    }
    Err(CurateError::Overtaken)
}

/// Takes a record out of matching and search, whatever it decides: [`take_away`] asks first. It stays readable by its id, marked.
pub async fn withdraw(store: &dyn RecordStore, withdrawal: Withdrawal) -> Result<Published, CurateError> {
    if let Some(reason) = &withdrawal.reason {
        review::check_text(reason)?;
    }
    take_out(store, withdrawal).await
}

/// The same with a reason that was checked before an administrator's was added to it.
async fn take_out(store: &dyn RecordStore, withdrawal: Withdrawal) -> Result<Published, CurateError> {
    if let Some(status) = store.status(&withdrawal.id).await? {
        check_own(store, &status).await?;
    }
    check_replacement(store, &withdrawal).await?;
    match store.take_back(withdrawal).await {
        Err(StoreError::AnotherPublished(revision)) => Err(CurateError::Stale(Some(revision))),
        taken => Ok(taken?),
    }
}

/// Refuses a record that was merged or renamed: it is another one now.
async fn check_own(store: &dyn RecordStore, status: &RecordStatus) -> Result<(), CurateError> {
    if status.state != RecordState::Withdrawn {
        return Ok(());
    }
    match store.resolve_alias(status.id.as_str()).await? {
        Some(now) => Err(CurateError::Became(status.id.clone(), now)),
        None => Ok(()),
    }
}

async fn check_replacement(store: &dyn RecordStore, withdrawal: &Withdrawal) -> Result<(), CurateError> {
    let Some(other) = &withdrawal.replaced_by else {
        return Ok(());
    };
    let status = store.status(other).await?;
    let published = status.is_some_and(|status| status.state == RecordState::Published);
    if !published || *other == withdrawal.id {
        return Err(CurateError::NoReplacement(other.clone()));
    }
    Ok(())
}

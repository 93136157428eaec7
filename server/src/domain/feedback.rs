//! The queue of editors: suggestions of corrections, and votes that count in no share.

use kb_core::ids::RecordId;
use serde_json::json;
use time::OffsetDateTime;

use super::anonymous::AnonymousError;
use super::outcomes::{OutcomeError, Voting, voter};
use crate::store::{
    AnonymousKept, AnonymousKind, By, DecideFeedback, FeedbackAdded, FeedbackBody, FeedbackDecided,
    FeedbackKind, FeedbackState, NewFeedback, Store, StoreError, Voter, VoterKind,
};

pub const SUGGESTION_CHARACTERS: usize = 4_000;
/// Longest source of a suggestion, and longest reason, in characters.
pub const LINE_CHARACTERS: usize = 500;
/// Suggestions of one person that wait for an editor.
const MOST_WAITING: u32 = 50;

#[derive(Debug, thiserror::Error)]
pub enum FeedbackError {
    #[error("there is no published record {0}")]
    NoRecord(RecordId),
    #[error(
        "write what is wrong, in 1 to {SUGGESTION_CHARACTERS} characters; a source has at most {LINE_CHARACTERS}"
    )]
    Text,
    #[error("say why, in 1 to {LINE_CHARACTERS} characters")]
    Reason,
    #[error("there is no entry {0}: if it was written without a login, its 90 days may be over")]
    Nothing(i64),
    #[error(
        "entry {0} does not wait: somebody has decided it; see /feedback?state=taken and /feedback?state=ignored"
    )]
    Decided(i64),
    #[error("{MOST_WAITING} suggestions of yours wait for an editor: try again when they were read")]
    TooManyWait,
    /// Who may not vote may not suggest.
    #[error(transparent)]
    Voter(OutcomeError),
    #[error(transparent)]
    Anonymous(#[from] AnonymousError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, Clone)]
pub struct Suggestion {
    pub text: String,
    /// Where one can read it; empty where nothing was said.
    pub source: String,
}

/// Puts a suggestion into the queue; what was kept in the room of anonymous writing, where it went there.
pub async fn suggest(
    store: &dyn Store,
    id: &RecordId,
    suggestion: &Suggestion,
    voting: Voting<'_>,
    at: OffsetDateTime,
) -> Result<Option<AnonymousKept>, FeedbackError> {
    let (text, source) = (suggestion.text.trim(), suggestion.source.trim());
    let fits = (1..=SUGGESTION_CHARACTERS).contains(&text.chars().count())
        && source.chars().count() <= LINE_CHARACTERS
        && !text.contains('\0')
        && !source.chars().any(char::is_control);
    let (from, name, nobody) = match voting {
        Voting::Known(actor) => {
            let from = voter(actor).map_err(FeedbackError::Voter)?;
            (from, actor.name.clone(), None)
        }
        Voting::Assistant(actor) => {
            let from = Voter {
                kind: VoterKind::Assistant,
                ..voter(actor).map_err(FeedbackError::Voter)?
            };
            (from, actor.name.clone(), None)
        }
        Voting::Nobody(nobody) => {
            nobody.check()?;
            (nobody.voter(), String::new(), Some(nobody))
        }
    };
    if !fits {
        return Err(FeedbackError::Text);
    }
    let status = store.status(id).await?;
    let revision = status.and_then(|status| status.published);
    let revision = revision.ok_or_else(|| FeedbackError::NoRecord(id.clone()))?;
    let body = json!({ "text": text, "source": source }).to_string();
    let body = match nobody {
        Some(nobody) => {
            let about = (AnonymousKind::Suggestion, id.as_str());
            FeedbackBody::Anonymous(nobody.entry(about, body, at)?)
        }
        None => FeedbackBody::Known(body),
    };
    let added = store.add_feedback(NewFeedback {
        kind: FeedbackKind::Suggestion,
        record: id.clone(),
        revision,
        from,
        name,
        topic: String::new(),
        body,
        at,
        most_waiting: MOST_WAITING,
    });
    match added.await? {
        FeedbackAdded::Added(_) => Ok(None),
        FeedbackAdded::Anonymous(AnonymousKept::TooManyToday) => Err(AnonymousError::TooManyToday.into()),
        FeedbackAdded::Anonymous(kept) => Ok(Some(kept)),
        FeedbackAdded::TooManyWait => Err(FeedbackError::TooManyWait),
    }
}

pub async fn decide(
    store: &dyn Store,
    n: i64,
    state: FeedbackState,
    reason: &str,
    by: &By,
    at: OffsetDateTime,
) -> Result<(), FeedbackError> {
    let reason = reason.trim();
    let is_said = !reason.is_empty() || state == FeedbackState::Taken;
    if !is_said || reason.chars().count() > LINE_CHARACTERS {
        return Err(FeedbackError::Reason);
    }
    let decision = DecideFeedback {
        n,
        state,
        by: by.clone(),
        reason: reason.to_owned(),
        at,
    };
    match store.decide_feedback(decision).await? {
        FeedbackDecided::Done => Ok(()),
        FeedbackDecided::Before => Err(FeedbackError::Decided(n)),
        FeedbackDecided::Nothing => Err(FeedbackError::Nothing(n)),
    }
}

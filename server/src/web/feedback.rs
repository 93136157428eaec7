//! Votes and suggestions as far as HTTP is concerned: taking them, and how refusals look. For the interface and for pages.

use kb_core::ids::RecordId;

use super::anonymous;
use super::error::{Code, Problem};
use super::state::AppState;
use crate::domain::feedback::{self as domain, FeedbackError, Suggestion};
use crate::domain::outcomes::{self, OutcomeError, OutcomeReceipt, OutcomeVote, Voting};

/// Takes a vote, and has this server's readers see at once what it changes.
pub(super) async fn cast(
    state: &AppState,
    id: &RecordId,
    vote: OutcomeVote,
    voting: Voting<'_>,
) -> Result<OutcomeReceipt, Problem> {
    let generation = state.knowledge.current();
    let at = state.clock.now();
    let cast = outcomes::vote((state.store.as_ref(), &generation), id, vote, voting, at).await;
    let cast = cast.map_err(|error| problem(state, error))?;
    if let Some(kept) = cast.anonymous {
        anonymous::count(state, kept);
    }
    // Else they see it a few seconds later.
    if let Err(error) = state.shares.refresh(state.store.as_ref()).await {
        tracing::warn!(%error, "the shares of votes are behind");
    }
    Ok(cast.receipt)
}

pub(super) fn problem(state: &AppState, error: OutcomeError) -> Problem {
    match error {
        OutcomeError::Anonymous(error) => anonymous::refuse(state, error),
        other => other.into(),
    }
}

impl From<OutcomeError> for Problem {
    fn from(error: OutcomeError) -> Self {
        let code = match error {
            OutcomeError::Store(error) => return error.into(),
            OutcomeError::NoRecord(_) | OutcomeError::NoRevision(..) => Code::NotFound,
            OutcomeError::NoAction(..)
            | OutcomeError::NeverGone
            | OutcomeError::Environment
            | OutcomeError::Component(_) => Code::MalformedBody,
            OutcomeError::NoVote | OutcomeError::NoScope => Code::Forbidden,
            OutcomeError::TooManyModels | OutcomeError::TooManyWait => Code::RateLimited,
            OutcomeError::Anonymous(_) => Code::Unauthorized,
        };
        Self::new(code, error.to_string())
    }
}

pub(super) fn refused(state: &AppState, error: FeedbackError) -> Problem {
    let code = match error {
        FeedbackError::Store(error) => return error.into(),
        FeedbackError::Anonymous(error) => return anonymous::refuse(state, error),
        FeedbackError::Voter(error) => return problem(state, error),
        FeedbackError::NoRecord(_) | FeedbackError::Nothing(_) => Code::NotFound,
        FeedbackError::Decided(_) => Code::Overtaken,
        FeedbackError::Text | FeedbackError::Reason => Code::MalformedBody,
        FeedbackError::TooManyWait => Code::RateLimited,
    };
    Problem::new(code, error.to_string())
}

pub(super) async fn suggest(
    state: &AppState,
    id: &RecordId,
    suggestion: &Suggestion,
    voting: Voting<'_>,
) -> Result<(), Problem> {
    let at = state.clock.now();
    let kept = domain::suggest(state.store.as_ref(), id, suggestion, voting, at).await;
    if let Some(kept) = kept.map_err(|error| refused(state, error))? {
        anonymous::count(state, kept);
    }
    Ok(())
}

//! What editors do with a template: take it on, ignore it, say which record is about it.

use crate::store::{StoreError, UnmatchedChange, UnmatchedChanged, UnmatchedStep, UnmatchedStore};

pub const MAX_REASON_CHARS: usize = 1_000;
const MAX_NAME_CHARS: usize = 200;

#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("there are no unknown lines with the id {0}")]
    Nothing(String),
    #[error("{0} changed these lines meanwhile: reload the page")]
    Overtaken(String),
    #[error("a reason has 1 to {MAX_REASON_CHARS} characters")]
    Reason,
    #[error("a name has 1 to {MAX_NAME_CHARS} characters")]
    Name,
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub async fn change(store: &dyn UnmatchedStore, mut change: UnmatchedChange) -> Result<(), ChangeError> {
    let is_good = |text: &str, most: usize| !text.is_empty() && text.chars().count() <= most;
    match &mut change.step {
        UnmatchedStep::Ignore(reason) => {
            *reason = reason.trim().to_owned();
            if !is_good(reason, MAX_REASON_CHARS) {
                return Err(ChangeError::Reason);
            }
        }
        UnmatchedStep::Assign(Some(name)) => {
            *name = name.trim().to_owned();
            if !is_good(name, MAX_NAME_CHARS) {
                return Err(ChangeError::Name);
            }
        }
        UnmatchedStep::Assign(None) | UnmatchedStep::KnownAs(_) | UnmatchedStep::Reopen => {}
    }
    let id = change.id.clone();
    match store.change_unmatched(change).await? {
        UnmatchedChanged::Done => Ok(()),
        UnmatchedChanged::Nothing => Err(ChangeError::Nothing(id)),
        UnmatchedChanged::Before(by) => Err(ChangeError::Overtaken(by)),
    }
}

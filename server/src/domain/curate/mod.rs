//! Changing records: a draft is checked and becomes the head; publishing is its own step; withdrawing takes a
//! record out of matching and search.

mod check;
mod error;

use kb_core::annex;
use kb_core::ids::{RecordId, Revision};
use kb_core::text::Violation;
use time::OffsetDateTime;

use crate::store::{Expected, NewRevision, Publish, Published, Saved, Store};

pub use check::check_texts;
pub use error::CurateError;

/// A change that an editor sends.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The record.
    pub id: RecordId,
    /// Document.
    pub document: String,
    /// Annex; `None` keeps the head's.
    pub annex: Option<String>,
    /// What the editor saw.
    pub expected: Expected,
    /// Who.
    pub actor: String,
    /// Why.
    pub note: Option<String>,
}

/// A change that was accepted.
#[derive(Debug, Clone)]
pub struct Accepted {
    /// The head now.
    pub revision: Revision,
    /// False when the texts were the head's already.
    pub changed: bool,
    /// What is not good, but was accepted.
    pub warnings: Vec<Violation>,
}

/// Checks a draft and makes it the head.
pub async fn save(store: &dyn Store, draft: Draft, at: OffsetDateTime) -> Result<Accepted, CurateError> {
    let annex = match draft.annex {
        Some(annex) => annex,
        None => annex_of_head(store, &draft.id).await?,
    };
    let warnings = check_texts(&draft.id, &draft.document, &annex).map_err(CurateError::Invalid)?;
    let saved = store
        .save_head(NewRevision {
            id: draft.id,
            document: draft.document,
            annex,
            expected: draft.expected,
            actor: draft.actor,
            note: draft.note,
            at,
        })
        .await?;
    match saved {
        Saved::Saved(revision) => Ok(Accepted {
            revision,
            changed: true,
            warnings,
        }),
        Saved::Unchanged(revision) => Ok(Accepted {
            revision,
            changed: false,
            warnings,
        }),
        Saved::Stale(head) => Err(CurateError::Stale(head)),
    }
}

async fn annex_of_head(store: &dyn Store, id: &RecordId) -> Result<String, CurateError> {
    let Some(status) = store.status(id).await? else {
        return Ok(annex::EMPTY.to_owned());
    };
    let head = store.revision(id, status.head).await?;
    Ok(head.map_or_else(|| annex::EMPTY.to_owned(), |texts| texts.annex))
}

/// Makes `revision`, or the head, what readers see. It is checked again: rules may have become stricter since.
pub async fn publish(
    store: &dyn Store,
    id: &RecordId,
    revision: Option<Revision>,
    actor: &str,
    at: OffsetDateTime,
) -> Result<Published, CurateError> {
    let status = store
        .status(id)
        .await?
        .ok_or_else(|| CurateError::NoRecord(id.clone()))?;
    let revision = revision.unwrap_or(status.head);
    let texts = store.revision(id, revision).await?;
    let texts = texts.ok_or_else(|| CurateError::NoRevision(id.clone(), revision))?;
    check_texts(id, &texts.document, &texts.annex).map_err(CurateError::Invalid)?;
    let publish = Publish {
        id: id.clone(),
        revision,
        actor: actor.to_owned(),
        at,
    };
    Ok(store.publish(publish).await?)
}

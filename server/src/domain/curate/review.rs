//! From a draft to what readers see, with a second pair of eyes: asking, sending back, approving, going back.

use std::sync::Arc;

use kb_core::ids::{RecordId, Revision};
use kb_core::record::Record;
use kb_core::text::{Part, Violation, steps};
use time::OffsetDateTime;

use super::foresee::{Foreseen, foresee};
use super::second_person::{Approver, are_one, check_second_person, gives_way};
use super::{CurateError, Draft, Gate, check_texts, publish, publish_checked, save};
use crate::clock::Clock;
use crate::feed::Knowledge;
use crate::store::{
    Asks, By, EndReview, Expected, NewComment, NewReview, Published, Review, ReviewState, Store, StoreError,
};

/// Longest reason, note or comment, in characters.
pub const MAX_TEXT_CHARS: usize = 4_000;
/// Newest reviews of a record among which one that was shown is looked for.
const MOST_LOOKED_AT: u32 = 50;

/// Asks for a review of a revision, the head where none is said.
pub async fn propose(
    store: &dyn Store,
    (id, revision): (&RecordId, Option<Revision>),
    note: Option<String>,
    by: &By,
    at: OffsetDateTime,
) -> Result<Review, CurateError> {
    let status = store.status(id).await?;
    let status = status.ok_or_else(|| CurateError::NoRecord(id.clone()))?;
    let revision = revision.unwrap_or(status.head);
    let note = note
        .map(|note| note.trim().to_owned())
        .filter(|note| !note.is_empty());
    if let Some(note) = &note {
        check_text(note)?;
    }
    let ask = NewReview {
        record: id.clone(),
        revision,
        asks: Asks::Publish,
        gives_way: gives_way(store, id, by).await?,
        by: by.clone(),
        note,
        at,
    };
    match store.ask_review(ask).await {
        Err(StoreError::IsPublished(revision)) => Err(CurateError::NothingToReview(revision)),
        asked => Ok(asked?),
    }
}

/// A review as whoever decides it was shown it.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    pub id: &'a RecordId,
    pub revision: Revision,
    /// Its number. Without it, it must be clear which one is meant.
    pub n: Option<u32>,
}

/// Ends an open review without doing what it asks; a reason is needed. Whoever asked takes it back.
pub async fn end(
    store: &dyn Store,
    shown: Shown<'_>,
    state: ReviewState,
    reason: &str,
    by: &By,
    at: OffsetDateTime,
) -> Result<(), CurateError> {
    let reason = reason.trim();
    check_text(reason)?;
    let open = open_review(store, shown).await?;
    if state == ReviewState::Withdrawn && !are_one(store, by, &open.asked_by).await? {
        return Err(CurateError::NotAsker(open.asked_by.name));
    }
    let end = EndReview {
        record: shown.id.clone(),
        n: open.n,
        revision: shown.revision,
        state,
        by: by.clone(),
        reason: reason.to_owned(),
        at,
    };
    if store.end_review(end).await? {
        Ok(())
    } else {
        Err(shown.is_closed())
    }
}

impl Shown<'_> {
    fn is_closed(self) -> CurateError {
        CurateError::NoReview(self.id.clone(), self.revision)
    }
}

/// The open review, where it is the one that was shown.
async fn open_review(store: &dyn Store, shown: Shown<'_>) -> Result<Review, CurateError> {
    let mut reviews = store.reviews(shown.id, MOST_LOOKED_AT).await?;
    let open = reviews
        .iter()
        .position(|review| review.state == ReviewState::Open);
    let open = open.map(|place| reviews.swap_remove(place));
    let open = open.ok_or_else(|| shown.is_closed())?;
    match shown.n {
        Some(n) if n == open.n && open.revision == shown.revision => Ok(open),
        Some(n) => Err(CurateError::AnotherReview {
            n,
            shown: reviews.into_iter().find(|review| review.n == n).map(Box::new),
            open: Box::new(open),
        }),
        None if open.revision != shown.revision => Err(shown.is_closed()),
        None if reviews.iter().any(|other| is_mistakable(other, &open)) => {
            Err(CurateError::WhichReview(Box::new(open)))
        }
        None => Ok(open),
    }
}

/// Whether both reviews ask to take the same revision away, in different ways: by the revision alone nobody knows which of both was
/// read.
fn is_mistakable(earlier: &Review, open: &Review) -> bool {
    let is_other = (&earlier.asks, &earlier.note) != (&open.asks, &open.note);
    let both_withdraw = earlier.asks.is_withdrawal() && open.asks.is_withdrawal();
    both_withdraw && earlier.revision == open.revision && is_other
}

/// Publishes a revision that waits for a review, or withdraws the record where that waits. Warnings need a reason, which is kept with the review.
pub async fn approve(
    store: &dyn Store,
    gate: &Gate,
    shown: Shown<'_>,
    reason: Option<&str>,
    approver: &Approver,
    at: OffsetDateTime,
) -> Result<Published, CurateError> {
    let waits = open_review(store, shown).await?;
    let (id, revision) = (shown.id, shown.revision);
    if waits.asks.is_withdrawal() {
        let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
        if let Some(reason) = reason {
            check_text(reason)?;
        }
        return super::removal::approve(store, &waits, reason, approver, at).await;
    }
    let texts = store.revision(id, revision).await?;
    let texts = texts.ok_or_else(|| CurateError::NoRevision(id.clone(), revision))?;
    let warnings = check_texts(id, &texts.document, &texts.annex).map_err(CurateError::Invalid)?;
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    match reason {
        Some(reason) => check_text(reason)?,
        None if !warnings.is_empty() => return Err(CurateError::ReasonNeeded(warnings)),
        None => {}
    }
    publish(store, (gate, None), (id, Some(revision)), (approver, reason), at).await
}

pub async fn revert(
    store: &dyn Store,
    gate: &Gate,
    (id, revision): (&RecordId, Revision),
    expected: Revision,
    approver: &Approver,
    at: OffsetDateTime,
) -> Result<(Revision, Published), CurateError> {
    let texts = store.revision(id, revision).await?;
    let texts = texts.ok_or_else(|| CurateError::NoRevision(id.clone(), revision))?;
    let status = store.status(id).await?;
    let status = status.ok_or_else(|| CurateError::NoRecord(id.clone()))?;
    let alone = check_second_person(store, &status, revision, approver).await?;
    let draft = Draft {
        id: id.clone(),
        document: texts.document,
        annex: Some(texts.annex),
        expected: Expected::Head(expected),
        by: approver.by.clone(),
        note: Some(format!("Back to {revision}")),
    };
    let accepted = save(store, draft, Some(gate), at).await?;
    // Whether one person may go back was asked of the old revision; the new one has the same texts.
    let by = (&approver.by, None, alone);
    let which = (id, accepted.revision);
    let published = publish_checked(store, (gate, accepted.passed), which, by, at).await?;
    Ok((accepted.revision, published))
}

pub async fn outlook(
    store: &dyn Store,
    knowledge: &Arc<Knowledge>,
    review: &Review,
    clock: &dyn Clock,
) -> Result<(Vec<Violation>, Foreseen), CurateError> {
    let (id, revision) = (&review.record, review.revision);
    let generation = knowledge.current();
    let before = generation.record(id).map(|published| published.record.clone());
    if review.asks.is_withdrawal() {
        return Ok((Vec::new(), foresee(store, before, None, clock).await?));
    }
    let texts = store.revision(id, revision).await?;
    let texts = texts.ok_or_else(|| CurateError::NoRevision(id.clone(), revision))?;
    let warnings = check_texts(id, &texts.document, &texts.annex).map_err(CurateError::Invalid)?;
    let after = Record::from_texts(texts.document, texts.annex).map_err(CurateError::Invalid)?;
    let foreseen = foresee(store, before, Some(after), clock).await?;
    Ok((warnings, foreseen))
}

pub async fn comment(store: &dyn Store, comment: NewComment) -> Result<u32, CurateError> {
    check_text(comment.body.trim())?;
    let texts = store.revision(&comment.record, comment.revision).await?;
    let texts = texts.ok_or_else(|| CurateError::NoRevision(comment.record.clone(), comment.revision))?;
    let text = match comment.part {
        Part::Document => &texts.document,
        Part::Annex => &texts.annex,
    };
    let there = steps(&comment.pointer).is_some()
        && kb_core::text::parse(text).is_ok_and(|root| root.find(&comment.pointer).is_some());
    if !there {
        return Err(CurateError::NoField(comment.pointer));
    }
    let body = comment.body.trim().to_owned();
    let added = store.add_comment(NewComment { body, ..comment }).await?;
    added.ok_or(CurateError::TooManyComments)
}

/// Marks a comment as done; false where there is none that is open.
pub async fn resolve(
    store: &dyn Store,
    id: &RecordId,
    n: u32,
    by: &By,
    at: OffsetDateTime,
) -> Result<bool, CurateError> {
    Ok(store.resolve_comment(id, n, by, at).await?)
}

pub(super) fn check_text(text: &str) -> Result<(), CurateError> {
    if text.is_empty() || text.chars().count() > MAX_TEXT_CHARS {
        return Err(CurateError::Text(MAX_TEXT_CHARS));
    }
    Ok(())
}

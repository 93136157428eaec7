//! Taking away a record that decides how nodes are judged: without it, what it told of is no known error. One person alone does
//! not. What somebody asks for waits in review, and a second person approves it or does the same.

use kb_core::ids::{RecordId, Revision};
use time::OffsetDateTime;

use super::deciding::decides;
use super::second_person::{Approver, author_of, gives_way, record_of};
use super::{ALONE, CurateError, moves, review, take_out};
use crate::store::{
    Asks, NewReview, Published, RecordState, RecordStatus, Review, ReviewState, Store, Withdrawal,
};

#[derive(Debug)]
pub enum TakenAway {
    Gone(Published),
    Asked(Box<Review>),
}

pub async fn take_away(
    store: &dyn Store,
    withdrawal: Withdrawal,
    approver: &Approver,
) -> Result<TakenAway, CurateError> {
    let reason = withdrawal.reason.as_deref().map(str::trim);
    let reason = reason.filter(|reason| !reason.is_empty()).map(str::to_owned);
    if let Some(reason) = &reason {
        review::check_text(reason)?;
    }
    let asks = Asks::Withdraw {
        replaced_by: withdrawal.replaced_by.clone(),
    };
    match may_go(store, (&withdrawal.id, Some(&asks)), approver).await {
        Ok(leave) => {
            let withdrawal = Withdrawal {
                reason: with_alone(reason, leave.alone),
                expected: withdrawal.expected.or(leave.seen),
                approves: withdrawal.approves.or(leave.asked),
                ..withdrawal
            };
            Ok(TakenAway::Gone(take_out(store, withdrawal).await?))
        }
        Err(CurateError::StillDecides(revision, keys)) => {
            let Some(reason) = reason else {
                return Err(CurateError::StillDecides(revision, keys));
            };
            super::check_replacement(store, &withdrawal).await?;
            let ask = NewReview {
                gives_way: gives_way(store, &withdrawal.id, &withdrawal.by).await?,
                record: withdrawal.id,
                revision,
                asks,
                by: withdrawal.by,
                note: Some(reason),
                at: withdrawal.at,
            };
            Ok(TakenAway::Asked(Box::new(store.ask_review(ask).await?)))
        }
        Err(error) => Err(error),
    }
}

/// Withdraws a record whose withdrawal waits in review, or merges it where that is asked.
pub(super) async fn approve(
    store: &dyn Store,
    waits: &Review,
    reason: Option<&str>,
    approver: &Approver,
    at: OffsetDateTime,
) -> Result<Published, CurateError> {
    if let Some(into) = moves::merges_into(waits) {
        let why = both_reasons(waits.note.as_deref(), reason);
        let which = (&waits.record, &into);
        return moves::merge_into(store, which, why.as_deref(), (approver, Some(waits)), at).await;
    }
    let leave = may_go(store, (&waits.record, Some(&waits.asks)), approver).await?;
    let reason = both_reasons(waits.note.as_deref(), reason);
    let withdrawal = Withdrawal {
        id: waits.record.clone(),
        by: approver.by.clone(),
        reason: with_alone(reason, leave.alone),
        replaced_by: waits.asks.replaced_by().cloned(),
        expected: Some(waits.revision),
        approves: Some(waits.n),
        at,
    };
    take_out(store, withdrawal).await
}

/// Readers are told why it was asked for, whatever whoever approves adds.
fn both_reasons(note: Option<&str>, reason: Option<&str>) -> Option<String> {
    match (note, reason) {
        (Some(note), Some(reason)) => Some(format!("{note} ({reason})")),
        (note, reason) => note.or(reason).map(str::to_owned),
    }
}

/// Leave to take a record away, and what it rests on: the store holds the withdrawal to it.
#[derive(Debug, Default)]
pub(super) struct Leave {
    /// An administrator's reason to do it alone.
    pub(super) alone: Option<String>,
    /// The published revision that was looked at; of any other one nobody was asked.
    pub(super) seen: Option<Revision>,
    /// Number of the open review by which another person asked for it.
    pub(super) asked: Option<u32>,
}

/// Refuses to let one person take away what decides a verdict, unless another asked for the same, with the same record in its place, or an
/// administrator says why. Where it is not said how the record goes, any question of another will do.
pub(super) async fn may_go(
    store: &dyn Store,
    (id, how): (&RecordId, Option<&Asks>),
    approver: &Approver,
) -> Result<Leave, CurateError> {
    let Some(person) = &approver.person else {
        return Ok(Leave::default());
    };
    let status = store.status(id).await?;
    let status = status.ok_or_else(|| CurateError::NoRecord(id.clone()))?;
    let leave = Leave {
        seen: status.published,
        ..Leave::default()
    };
    let Some((revision, keys)) = what_decides(store, &status).await? else {
        return Ok(leave);
    };
    let reviews = store.reviews(id, 1).await?;
    let open = reviews.iter().filter(|review| review.state == ReviewState::Open);
    let is_same = |review: &&Review| review.asks.is_withdrawal() && how.is_none_or(|how| *how == review.asks);
    for asked in open.filter(is_same) {
        if !author_of(store, &asked.asked_by).await?.may_be(person) {
            return Ok(Leave {
                asked: Some(asked.n),
                ..leave
            });
        }
    }
    match &approver.alone {
        Some(reason) => Ok(Leave {
            alone: Some(reason.clone()),
            ..leave
        }),
        None => Err(CurateError::StillDecides(revision, keys)),
    }
}

/// The keys by which a record decides, where this person alone may not take it away.
pub async fn needs_second_person(
    store: &dyn Store,
    id: &RecordId,
    approver: &Approver,
) -> Result<Option<Vec<&'static str>>, CurateError> {
    match may_go(store, (id, None), approver).await {
        Ok(_) => Ok(None),
        Err(CurateError::StillDecides(_, keys)) => Ok(Some(keys)),
        Err(error) => Err(error),
    }
}

/// The published revision and the keys by which it decides; `None` where readers do not see it, or it decides nothing.
async fn what_decides(
    store: &dyn Store,
    status: &RecordStatus,
) -> Result<Option<(Revision, Vec<&'static str>)>, CurateError> {
    let published = status
        .published
        .filter(|_| status.state == RecordState::Published);
    let Some(revision) = published else {
        return Ok(None);
    };
    let record = record_of(store, &status.id, Some(revision)).await?;
    let keys = record.map(|record| decides(&record)).unwrap_or_default();
    Ok((!keys.is_empty()).then_some((revision, keys)))
}

pub(super) fn with_alone(reason: Option<String>, alone: Option<String>) -> Option<String> {
    match (reason, alone) {
        (Some(reason), Some(alone)) => Some(format!("{reason} ({ALONE}{alone})")),
        (None, Some(alone)) => Some(format!("{ALONE}{alone}")),
        (reason, None) => reason,
    }
}

//! A record that becomes another: merged into one, or given another id. Former addresses, edges and votes follow.

use kb_core::ids::RecordId;
use kb_core::text::{Part, Violation, replace_value};
use time::OffsetDateTime;

use super::removal::{TakenAway, may_go, with_alone};
use super::second_person::gives_way;
use super::{Approver, CurateError, check_texts, review};
use crate::store::{Asks, By, Merge, NewReview, Published, RecordState, RecordStatus, Rename, Review, Store};

/// Merges a record, or asks a second person to: [`merge_into`] refuses to let one alone do it.
pub async fn merge_away(
    store: &dyn Store,
    (id, into): (&RecordId, &RecordId),
    reason: Option<&str>,
    approver: &Approver,
    at: OffsetDateTime,
) -> Result<TakenAway, CurateError> {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    let merged = merge_into(store, (id, into), reason, (approver, None), at).await;
    match (merged, reason) {
        (Ok(merged), _) => Ok(TakenAway::Gone(merged)),
        (Err(CurateError::StillDecides(revision, _)), Some(reason)) => {
            let asks = Asks::Merge { into: into.clone() };
            let ask = NewReview {
                gives_way: gives_way(store, id, &approver.by).await?,
                asks,
                record: id.clone(),
                revision,
                by: approver.by.clone(),
                note: Some(reason.to_owned()),
                at,
            };
            Ok(TakenAway::Asked(Box::new(store.ask_review(ask).await?)))
        }
        (Err(error), _) => Err(error),
    }
}

pub fn merges_into(review: &Review) -> Option<RecordId> {
    match &review.asks {
        Asks::Merge { into } => Some(into.clone()),
        _ => None,
    }
}

/// Withdraws a record for another, to which its addresses then lead. It must still stand as a review, if any, names it.
pub(super) async fn merge_into(
    store: &dyn Store,
    (id, into): (&RecordId, &RecordId),
    reason: Option<&str>,
    (approver, waits): (&Approver, Option<&Review>),
    at: OffsetDateTime,
) -> Result<Published, CurateError> {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    if let Some(reason) = reason {
        review::check_text(reason)?;
    }
    settled(store, id).await?;
    let target = store.status(into).await?;
    let published = target.is_some_and(|status| status.state == RecordState::Published);
    if !published || id == into {
        return Err(CurateError::NoReplacement(into.clone()));
    }
    let asks = Asks::Merge { into: into.clone() };
    let leave = may_go(store, (id, Some(&asks)), approver).await?;
    let merge = Merge {
        id: id.clone(),
        into: into.clone(),
        by: approver.by.clone(),
        reason: with_alone(reason.map(str::to_owned), leave.alone),
        expected: waits.map(|review| review.revision).or(leave.seen),
        approves: waits.map(|review| review.n).or(leave.asked),
        at,
    };
    let merged = store.merge(merge).await?;
    merged.ok_or_else(|| CurateError::NotSettled(id.clone()))
}

/// Gives a record another id. Its texts are those that readers see, so that the gate is not asked again.
pub async fn rename(
    store: &dyn Store,
    (id, to): (&RecordId, &RecordId),
    by: &By,
    at: OffsetDateTime,
) -> Result<Published, CurateError> {
    let status = settled(store, id).await?;
    let revision = status.head;
    let texts = store.revision(id, revision).await?;
    let texts = texts.ok_or_else(|| CurateError::NoRevision(id.clone(), revision))?;
    let new_id = serde_json::Value::from(to.as_str()).to_string();
    let document = replace_value(&texts.document, "/id", &new_id).map_err(|error| {
        let told = Violation::error(Part::Document, "/id", "rename", error.to_string());
        CurateError::Invalid(vec![told])
    })?;
    check_texts(to, &document, &texts.annex).map_err(CurateError::Invalid)?;
    let rename = Rename {
        id: id.clone(),
        revision,
        to: to.clone(),
        document,
        annex: texts.annex,
        by: by.clone(),
        at,
    };
    let renamed = store.rename(rename).await?;
    renamed.ok_or_else(|| CurateError::NotSettled(id.clone()))
}

/// A record that is published and has no newer draft, which nobody would find under the former id.
async fn settled(store: &dyn Store, id: &RecordId) -> Result<RecordStatus, CurateError> {
    let status = store.status(id).await?;
    let status = status.ok_or_else(|| CurateError::NoRecord(id.clone()))?;
    if status.state != RecordState::Published || status.published != Some(status.head) {
        return Err(CurateError::NotSettled(id.clone()));
    }
    Ok(status)
}

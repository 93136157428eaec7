//! Rows of reviews and comments.

use kb_core::ids::Revision;
use kb_core::text::Part;

use super::convert::{count_from, id_from, revision_from, unreadable};
use super::engine::Cells;
use crate::store::{ActorKind, Asks, By, Comment, Decision, Review, ReviewState, StoreError};

/// Columns of a review, in the order of [`review_from`].
macro_rules! review_columns {
    () => {
        "record_id, n, revision, state, asked_name, asked_at, note, decided_name, decided_at, reason, asked_kind, asked_id, \
        asks, replaced_by"
    };
}
pub(super) use review_columns;

pub(super) fn review_from(row: &impl Cells) -> Result<Review, StoreError> {
    let (state, kind, asks) = (row.text(3)?, row.text(10)?, row.text(12)?);
    let asks = match asks.as_str() {
        "publish" => Asks::Publish,
        "withdraw" => Asks::Withdraw {
            replaced_by: row.maybe_text(13)?.map(id_from).transpose()?,
        },
        "merge" => match row.maybe_text(13)? {
            Some(into) => Asks::Merge { into: id_from(into)? },
            None => return Err(unreadable("question of a review", "merge")),
        },
        other => return Err(unreadable("question of a review", other)),
    };
    let decided = match (row.maybe_text(7)?, row.maybe_time(8)?) {
        (Some(by), Some(at)) => Some(Decision {
            by,
            at,
            reason: row.maybe_text(9)?,
        }),
        _ => None,
    };
    Ok(Review {
        record: id_from(row.text(0)?)?,
        n: count_from(row.integer(1)?)?,
        revision: revision_from(row, 2)?,
        state: ReviewState::from_word(&state).ok_or_else(|| unreadable("state of a review", &state))?,
        asks,
        asked_by: By {
            kind: ActorKind::from_word(&kind).ok_or_else(|| unreadable("kind of actor", &kind))?,
            id: row.text(11)?,
            name: row.text(4)?,
            address: None,
        },
        asked_at: row.time(5)?,
        note: row.maybe_text(6)?,
        decided,
    })
}

pub(super) fn comment_from(row: &impl Cells) -> Result<Comment, StoreError> {
    let part = row.text(2)?;
    let part = match part.as_str() {
        "document" => Part::Document,
        "annex" => Part::Annex,
        other => return Err(unreadable("part of a record", other)),
    };
    Ok(Comment {
        n: count_from(row.integer(0)?)?,
        revision: Revision(count_from(row.integer(1)?)?),
        part,
        pointer: row.text(3)?,
        author: row.text(4)?,
        body: row.text(5)?,
        at: row.time(6)?,
        resolved: row.maybe_text(7)?.zip(row.maybe_time(8)?),
    })
}

pub(super) fn part_word(part: Part) -> &'static str {
    match part {
        Part::Document => "document",
        Part::Annex => "annex",
    }
}

//! Why a change was refused.

use kb_core::ids::{RecordId, Revision};
use kb_core::text::Violation;

use super::gate::NoHealthyLines;
use crate::store::{Asks, Review, StoreError};

/// Why a change was refused. Nothing was stored.
#[derive(Debug, thiserror::Error)]
pub enum CurateError {
    /// The texts break rules; errors and warnings, in that order.
    #[error("the record breaks {} rules", .0.len())]
    Invalid(Vec<Violation>),
    /// The gate refuses the record: what it would take from healthy runs and from other records.
    #[error("the record may not be published: {} findings of the gate", .0.len())]
    Gate(Vec<Violation>),
    /// The check ended in a fault of the program.
    #[error("the gate could not be asked")]
    NotAsked,
    #[error(
        "other records are being published at the same time, so that the gate's answer did not hold: publish it again (a revision \
        that came with the request is saved)"
    )]
    Overtaken,
    /// The gate has nothing to compare with.
    #[error(transparent)]
    NoHealthyLines(#[from] NoHealthyLines),
    /// Somebody was faster; `None`: the record does not exist.
    #[error("the record's head is another one")]
    Stale(Option<Revision>),
    #[error(
        "{} decides how nodes are judged, or what is said and done about an error that stops work on a node, and nobody else has a hand in this change: ask for a review, so that somebody else \
        approves it; an administrator may do it alone and says why (`alone`, or `force`)", .0.join(", ")
    )]
    SecondPerson(Vec<&'static str>),
    #[error(
        "this record decides how nodes are judged ({}), so that one person alone does not take it away: ask for it with a reason \
        (…/-/withdraw?reason=WHY, …/-/merge?into=ID&reason=WHY), which waits in review until somebody else approves it or does the same; an administrator may do it \
        alone and says why (`alone`)", .1.join(", ")
    )]
    StillDecides(Revision, Vec<&'static str>),
    #[error("no review of {0} {1} is open")]
    NoReview(RecordId, Revision),
    /// Another review is open than the one that was shown, if that is still known.
    #[error(
        "review {n} is not open any more, and nothing was done. {}Open is review {}: {}. Look at it before you decide",
        .shown.as_ref().map(|shown| format!("It was: {}. ", question(shown))).unwrap_or_default(), .open.n, question(.open)
    )]
    AnotherReview {
        n: u32,
        shown: Option<Box<Review>>,
        open: Box<Review>,
    },
    #[error(
        "something else was asked of this revision before, so that it must be said which review is meant (`n`). Open is review {}: {}",
        .0.n, question(.0)
    )]
    WhichReview(Box<Review>),
    /// A question is taken back by whoever asked it: their name.
    #[error("{0} asked for this review and takes it back; whoever may publish sends it back")]
    NotAsker(String),
    #[error("{0} is published: there is nothing to review")]
    NothingToReview(Revision),
    /// What is not good, and no reason to publish it in spite of that.
    #[error("the check has {} warnings: say why it is published in spite of them", .0.len())]
    ReasonNeeded(Vec<Violation>),
    #[error("a reason or comment has 1 to {0} characters")]
    Text(usize),
    #[error("say what goes to the new record: patterns, phrases, codes, examples, near misses or edges")]
    NothingMoves,
    #[error("nothing stands at {0:?}")]
    NoField(String),
    #[error("the record has as many comments as it may")]
    TooManyComments,
    #[error("{0} is not published, so that it replaces nothing")]
    NoReplacement(RecordId),
    #[error(
        "{0} must be published, without a newer draft: publish its newest revision or go back to the published one first"
    )]
    NotSettled(RecordId),
    #[error("{0} is no record of its own any more: it became {1}")]
    Became(RecordId, RecordId),
    #[error("there is no record {0}")]
    NoRecord(RecordId),
    #[error("record {0} has no revision {1}")]
    NoRevision(RecordId, Revision),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn question(review: &Review) -> String {
    let (by, revision) = (&review.asked_by.name, review.revision);
    let asked = match &review.asks {
        Asks::Publish => format!("{by} asks to publish {revision}"),
        Asks::Withdraw { replaced_by: None } => format!("{by} asks to withdraw the record"),
        Asks::Withdraw {
            replaced_by: Some(other),
        } => format!("{by} asks to withdraw the record and to lead readers to {other}"),
        Asks::Merge { into } => format!("{by} asks to merge the record into {into}"),
    };
    match &review.note {
        Some(note) => format!("{asked} ({note})"),
        None => asked,
    }
}

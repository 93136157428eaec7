//! What came of trying what a record advises: votes, the shares that votes of known people add up to, and where these disagree
//! with what records claim. Nothing of it changes a record.

mod actions;
mod disagree;
mod share;
mod shares;
mod vote;

pub(crate) use actions::said;
pub use disagree::{Disagreement, disagreements};
pub use share::{ActionTally, GroupShare, MIN_REPORTERS, Share};
pub use shares::Shares;
pub use vote::{
    ActionOutcome, Cast, OutcomeError, OutcomeReceipt, OutcomeVote, Outcomes, Voting, outcomes, vote, voter,
};

//! Where what people say disagrees with what a record claims, the worst first.
//!
//! A record claims a range for the share that an action helps: the stated rate where there is one, else at least half for a
//! workaround and at most half for a dead end. The votes say the interval of their share. The gap is the distance between the
//! two: 0 where they meet, else the lower end of the higher one less the upper end of the lower one. So an action with many
//! votes stands before one with few whose share is the same.

use kb_core::ids::RecordId;
use serde::Serialize;
use utoipa::ToSchema;

use super::actions::{Action, actions};
use super::share::Share;
use super::shares::Shares;
use crate::feed::Generation;
use crate::store::ActionKind;

/// An action whose votes disagree with its record.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Disagreement {
    /// The record.
    #[schema(value_type = String)]
    pub record: RecordId,
    /// Where the action stands in the published document.
    #[schema(example = "/workarounds/0")]
    pub tried: String,
    /// Its text.
    pub action: String,
    /// Least share that the record claims it to help in.
    pub claimed_low: f64,
    /// Greatest share that the record claims it to help in.
    pub claimed_high: f64,
    /// What known people say.
    pub share: Share,
    /// Distance of the two, from 0 to 1.
    pub gap: f64,
}

pub fn disagreements(generation: &Generation, shares: &Shares) -> Vec<Disagreement> {
    let mut found = Vec::new();
    for (id, tallies) in shares.all() {
        let Some(published) = generation.record(&id) else {
            continue;
        };
        for action in actions(&published.record) {
            let tallied = tallies
                .iter()
                .find(|tally| tally.kind == action.kind && tally.action == action.text);
            let Some(share) = tallied.and_then(|tally| tally.share) else {
                continue;
            };
            let (claimed_low, claimed_high) = claimed(&action);
            let gap = gap((claimed_low, claimed_high), (share.low, share.high));
            if gap > 0.0 {
                found.push(Disagreement {
                    record: id.clone(),
                    tried: action.pointer(),
                    action: action.text,
                    claimed_low,
                    claimed_high,
                    share,
                    gap,
                });
            }
        }
    }
    found.sort_by(|left, right| {
        let by_gap = right.gap.total_cmp(&left.gap);
        by_gap.then_with(|| (&left.record, &left.tried).cmp(&(&right.record, &right.tried)))
    });
    found
}

fn claimed(action: &Action) -> (f64, f64) {
    match (action.claim, action.kind) {
        (Some(rate), _) => (rate, rate),
        (None, ActionKind::Workaround) => (0.5, 1.0),
        (None, ActionKind::DeadEnd) => (0.0, 0.5),
    }
}

fn gap((low, high): (f64, f64), (other_low, other_high): (f64, f64)) -> f64 {
    (low - other_high).max(other_low - high).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_what_lies_between_the_ranges() {
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
        near(gap((0.8, 0.8), (0.1, 0.4)), 0.4);
        near(gap((0.0, 0.5), (0.7, 0.9)), 0.2);
        near(gap((0.5, 1.0), (0.3, 0.6)), 0.0);
    }
}

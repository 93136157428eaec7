//! From votes to shares. Only people who are known count, each once, and a share is told from ten of them on.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use utoipa::ToSchema;

use crate::store::{ActionKind, Vote, VoteOutcome, VoterKind};

/// Known people that a share needs.
pub const MIN_REPORTERS: u64 = 10;

/// How many known people an action helped, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Share {
    /// Known people who voted.
    pub n: u64,
    /// Those that it helped.
    pub worked: u64,
    /// Those that it did not help.
    pub did_not_help: u64,
    /// Those to whom the error came back within a week; they count as not helped.
    pub came_back: u64,
    /// `worked` of `n`.
    pub value: f64,
    /// Lower end of the interval of Wilson, which holds the share in 95 of 100 cases.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// The share of those with one driver, or one GPU model.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct GroupShare {
    /// Version of the driver, or GPU model in lower case.
    pub name: String,
    /// Their share.
    pub share: Share,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ActionTally {
    pub kind: ActionKind,
    pub action: String,
    /// Known people who voted.
    pub reporters: u64,
    pub tokens: u64,
    /// `None` while the people are too few.
    pub share: Option<Share>,
    /// By driver, those with enough people.
    pub drivers: Vec<GroupShare>,
    /// By GPU model, those with enough people.
    pub gpu_models: Vec<GroupShare>,
}

/// Votes of one group, by voter; a later one takes the place of the one before.
type Group<'v> = BTreeMap<&'v str, VoteOutcome>;

#[derive(Default)]
struct Groups<'v> {
    all: Group<'v>,
    tokens: BTreeSet<&'v str>,
    drivers: BTreeMap<&'v str, Group<'v>>,
    models: BTreeMap<&'v str, Group<'v>>,
}

pub(super) fn tally(votes: &[Vote]) -> Vec<ActionTally> {
    let mut actions: Vec<((ActionKind, &str), Groups<'_>)> = Vec::new();
    for vote in votes {
        let key = (vote.kind, vote.action.as_str());
        let place = actions.iter().position(|(other, _)| *other == key);
        let place = place.unwrap_or_else(|| {
            actions.push((key, Groups::default()));
            actions.len() - 1
        });
        let Some((_, groups)) = actions.get_mut(place) else {
            continue;
        };
        let (who, outcome) = (vote.voter.id.as_str(), vote.outcome);
        if vote.voter.kind != VoterKind::Person {
            groups.tokens.insert(who);
            continue;
        }
        groups.all.insert(who, outcome);
        for (name, by) in [
            (&vote.driver, &mut groups.drivers),
            (&vote.model, &mut groups.models),
        ] {
            if !name.is_empty() {
                by.entry(name).or_default().insert(who, outcome);
            }
        }
    }
    let tallied = actions.into_iter().map(|((kind, action), groups)| ActionTally {
        kind,
        action: action.to_owned(),
        reporters: groups.all.len() as u64,
        tokens: groups.tokens.len() as u64,
        share: share(&groups.all),
        drivers: shares(groups.drivers),
        gpu_models: shares(groups.models),
    });
    tallied.collect()
}

fn shares(groups: BTreeMap<&str, Group<'_>>) -> Vec<GroupShare> {
    let shares = groups.into_iter().filter_map(|(name, group)| {
        Some(GroupShare {
            name: name.to_owned(),
            share: share(&group)?,
        })
    });
    shares.collect()
}

fn share(group: &Group<'_>) -> Option<Share> {
    let count = |wanted| group.values().filter(|outcome| **outcome == wanted).count() as u64;
    let n = group.len() as u64;
    if n < MIN_REPORTERS {
        return None;
    }
    let worked = count(VoteOutcome::Worked);
    let (value, low, high) = wilson(worked, n)?;
    Some(Share {
        n,
        worked,
        did_not_help: count(VoteOutcome::DidNotHelp),
        came_back: count(VoteOutcome::CameBack),
        value,
        low,
        high,
    })
}

/// E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927): a share and its
/// interval, right for few votes too. `None` without votes.
fn wilson(worked: u64, n: u64) -> Option<(f64, f64, f64)> {
    /// Quantile of the normal distribution for 95 % on both sides.
    const Z: f64 = 1.959_964;
    if n == 0 {
        return None;
    }
    #[allow(clippy::cast_precision_loss, reason = "votes are far fewer than 2^53")]
    let (worked, n) = (worked as f64, n as f64);
    let value = worked / n;
    let centre = value + Z * Z / (2.0 * n);
    let spread = Z * (value * (1.0 - value) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    let (low, high) = ((centre - spread) / scale, (centre + spread) / scale);
    Some((value, low.max(0.0), high.min(1.0)))
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;
    use crate::store::Voter;

    fn vote(kind: VoterKind, id: usize, (driver, model): (&str, &str), outcome: VoteOutcome) -> Vote {
        Vote {
            kind: ActionKind::Workaround,
            action: "turn it off and on again".to_owned(),
            model: model.to_owned(),
            driver: driver.to_owned(),
            voter: Voter {
                kind,
                id: id.to_string(),
            },
            outcome,
            at: OffsetDateTime::UNIX_EPOCH,
        }
    }

    fn people(count: usize, place: (&str, &str), outcome: VoteOutcome) -> Vec<Vote> {
        let votes = (0..count).map(|id| vote(VoterKind::Person, id, place, outcome));
        votes.collect()
    }

    #[test]
    fn few_votes_are_less_sure_than_many() {
        assert_eq!(wilson(0, 0), None);
        let rounded = |worked, n| {
            let (value, low, high) = wilson(worked, n).unwrap();
            [value, low, high].map(|share| format!("{share:.3}"))
        };
        // By hand, from the formula with z = 1.96.
        assert_eq!(rounded(1, 1), ["1.000", "0.207", "1.000"]);
        assert_eq!(rounded(8, 10), ["0.800", "0.490", "0.943"]);
        assert_eq!(rounded(0, 100), ["0.000", "0.000", "0.037"]);
    }

    #[test]
    fn a_share_needs_ten_people() {
        let nine = tally(&people(9, ("", ""), VoteOutcome::Worked));
        assert_eq!((nine[0].reporters, nine[0].share), (9, None));
        let mut votes = people(9, ("", ""), VoteOutcome::Worked);
        // Neither tokens without an owner nor assistants make it ten.
        for (number, kind) in [VoterKind::Token, VoterKind::Assistant, VoterKind::Anonymous]
            .into_iter()
            .enumerate()
        {
            votes.push(vote(kind, 100 + number, ("", ""), VoteOutcome::Worked));
        }
        let counted = &tally(&votes)[0];
        assert_eq!((counted.reporters, counted.tokens, counted.share), (9, 3, None));
        votes.push(vote(VoterKind::Person, 9, ("", ""), VoteOutcome::CameBack));
        let share = tally(&votes)[0].share.unwrap();
        assert_eq!((share.n, share.worked, share.came_back), (10, 9, 1));
    }

    #[test]
    fn somebody_with_many_models_counts_once() {
        let mut votes = people(9, ("550", "h100"), VoteOutcome::Worked);
        for model in 0..16 {
            let model = format!("model {model}");
            votes.push(vote(
                VoterKind::Person,
                0,
                ("550", &model),
                VoteOutcome::DidNotHelp,
            ));
        }
        let counted = &tally(&votes)[0];
        assert_eq!((counted.reporters, counted.share), (9, None));
        votes.push(vote(VoterKind::Person, 9, ("550", ""), VoteOutcome::Worked));
        let counted = &tally(&votes)[0];
        let share = counted.share.unwrap();
        assert_eq!((share.n, share.worked, share.did_not_help), (10, 9, 1));
        assert_eq!(counted.drivers.len(), 1);
        assert_eq!(counted.drivers[0].name, "550");
        assert!(counted.gpu_models.is_empty(), "nine people have an h100");
    }
}

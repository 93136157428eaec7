//! What the checks of a report show, whatever verdict its sender wrote into it.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::Verdict;
use super::evidence::Seen;
use super::rows::{REQUIRED_RUNGS, not_proven_by};
use super::run::{failure_reason, worst_absent};
use super::scene::Scene;
use super::unread::unread_states;
use crate::policy::Policy;
use crate::report::{Check, GpuIndex, Outcome, Pair, Report};

/// What agents of minor version 0 could check.
const FIRST_RUNGS: [u8; 2] = [3, 4];

/// Rungs that move data.
const COMPARED_RUNGS: RangeInclusive<u8> = 3..=6;

/// Why the checks of a report do not show that all of its GPUs work with each other, or which state of them could not be read; `None` where
/// neither is so. A pair whose refusal is information need not work.
pub fn unproven(report: &Report) -> Option<String> {
    match report.gpus.len() {
        0 => return Some("it lists no GPU".to_owned()),
        1 => return Some("it lists one GPU, which has no pair to prove".to_owned()),
        _ => {}
    }
    if let Some(failure) = report.failures.first() {
        return Some(failure_reason(failure));
    }
    if let Some((verdict, absent)) = worst_absent(&report.absent)
        && verdict > Verdict::Degraded
    {
        return Some(absent);
    }
    if let Some((a, b)) = missing_pair(report) {
        return Some(format!("GPU {a} and GPU {b} were not tried with each other"));
    }
    let required = match report.schema.minor {
        0 => FIRST_RUNGS.as_slice(),
        _ => &REQUIRED_RUNGS,
    };
    let records = Policy::default();
    let scene = Scene::of(report, &records);
    let of_pair = counting(report).find_map(|(index, pair)| {
        let told = pair.verdict.verdict;
        let why = if told > Verdict::Degraded {
            format!("{}: {}", told.word(), pair.verdict.reason)
        } else if let Some(check) = compared_by_nobody(pair) {
            format!("{} passed, but its data was not compared", check.name)
        } else if let Some(check) = of_no_bytes(pair) {
            format!("{} passed, but it moved no bytes", check.name)
        } else {
            not_proven_by(&Seen::new(&scene, pair, index), required)?.reason
        };
        Some(format!("GPU {} and GPU {}: {why}", pair.a, pair.b))
    });
    // A pair that works says nothing of a state that nobody could read.
    of_pair.or_else(|| unread_states(report))
}

/// Whether every pair that has to work passed this rung in both directions.
pub fn all_passed(report: &Report, rung: u8) -> bool {
    let records = Policy::default();
    let scene = Scene::of(report, &records);
    counting(report).all(|(index, pair)| Seen::new(&scene, pair, index).proven_rungs().contains(&rung))
}

/// A check of data that passed without a GPU or a host copy that compared them.
fn compared_by_nobody(pair: &Pair) -> Option<&Check> {
    let mut checks = pair.directions.iter().flat_map(|direction| &direction.checks);
    checks.find(|check| {
        COMPARED_RUNGS.contains(&check.rung)
            && check.outcome == Outcome::Pass
            && !["owner_", "initiator_"]
                .iter()
                .any(|end| check.checked_by.starts_with(end))
    })
}

/// A check of data that passed without any.
fn of_no_bytes(pair: &Pair) -> Option<&Check> {
    let mut checks = pair.directions.iter().flat_map(|direction| &direction.checks);
    checks.find(|check| {
        COMPARED_RUNGS.contains(&check.rung) && check.outcome == Outcome::Pass && check.bytes == 0
    })
}

/// Whether every pair that has to work passed this check in both directions, and there is one.
pub fn check_passed(report: &Report, name: &str) -> bool {
    let mut pairs = counting(report).map(|(_, pair)| pair).peekable();
    pairs.peek().is_some() && pairs.all(|pair| pair_passed(pair, name))
}

fn pair_passed(pair: &Pair, name: &str) -> bool {
    let mut directions = pair.directions.iter();
    !pair.directions.is_empty()
        && directions.all(|direction| {
            let checks = direction.checks.iter();
            let mut checks = checks.filter(|check| check.name == name).peekable();
            checks.peek().is_some() && checks.all(|check| check.outcome == Outcome::Pass)
        })
}

fn counting(report: &Report) -> impl Iterator<Item = (usize, &Pair)> {
    let is_as_expected = |pair: &Pair| pair.verdict.information && pair.verdict.verdict == Verdict::Refused;
    let pairs = report.pairs.iter().enumerate();
    pairs.filter(move |(_, pair)| !is_as_expected(pair))
}

fn missing_pair(report: &Report) -> Option<(GpuIndex, GpuIndex)> {
    let named: BTreeSet<_> = report.pairs.iter().map(|pair| (pair.a, pair.b)).collect();
    let gpus = GpuIndex::try_from(report.gpus.len()).unwrap_or(GpuIndex::MAX);
    (0..gpus)
        .flat_map(|b| (0..b).map(move |a| (a, b)))
        .find(|pair| !named.contains(pair))
}

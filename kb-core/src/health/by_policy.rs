//! What a site's policy makes of a node's health, and of a report that was judged by another policy, or by none.

use time::OffsetDateTime;

use super::conclude;
use super::conclude::of_ledger;
use super::ledger::{proof_by_policy, verdict_of};
use crate::policy::Policy;
use crate::report::{Bearing, Gpu, Health, Meaning, Report, Ruled};
use crate::verdict::{Unexplained, is_one_that_differs, judge_again};

/// Judges what is open by the policy, whatever policy judged it before. Nothing is taken out: what is ignored stays, with the rule.
#[must_use]
pub fn health_by(policy: &Policy, mut health: Health, gpus: &[Gpu]) -> Health {
    let of = |health: &Health| verdict_of(&health.open, &health.unread, health.last_proof.as_ref());
    let records = Policy::default();
    let claimed = health.verdict;
    let by_its_entries = of(&health);
    for entry in &mut health.open {
        // What it is by the records first: the same entry may have been judged by another policy.
        records.judge_entry(entry, gpus);
        policy.judge_entry(entry, gpus);
    }
    if let Some(proof) = &mut health.last_proof {
        proof.by_policy = proof_by_policy(proof, policy, gpus);
    }
    health.open.sort_by_key(|entry| std::cmp::Reverse(entry.bearing));
    // A claim that is worse than the entries stands: what it is about is not known here.
    health.verdict = if claimed > by_its_entries {
        claimed
    } else {
        of(&health)
    };
    health
}

/// Puts what the ledger tells of the node into a report that the records judged, and judges both by the policy. The ledger has taken
/// the report in before: it keeps what the records say, so that another policy finds all that there was.
pub fn tell_by(policy: &Policy, report: &mut Report, health: Health, now: OffsetDateTime) {
    let health = health_by(policy, health, &report.gpus);
    // Rules with a count are decided by the ledger.
    report.health = Some(health.clone());
    if touches(policy, report) {
        judge_again(report, policy);
    }
    report.health = None;
    conclude(report, health, now);
}

/// Judges a report by this policy, as an agent that has it would have. One in which the policy changes nothing stays as it is, and
/// nothing becomes milder but what a rule is about.
pub fn report_by(policy: &Policy, report: &mut Report, now: OffsetDateTime) {
    let unexplained = Unexplained::of(report);
    let before_policy = of_ledger(report);
    // Before its entries are judged anew: the policy of the agent may have judged them.
    let was_touched = touches(policy, report);
    let before = report.health.clone();
    let health = before
        .clone()
        .map(|before| health_by(policy, before, &report.gpus));
    report.health.clone_from(&health);
    let is_judged = was_touched || touches(policy, report);
    if is_judged {
        judge_again(report, policy);
    }
    if let Some(mut health) = health {
        if !is_judged && before.as_ref() == Some(&health) {
            return;
        }
        if is_judged {
            // What the look came to by itself is another now.
            health.look = None;
            report.health = None;
        }
        conclude(report, health, now);
        let known = of_ledger(report);
        if known < before_policy {
            let verdict = report.conclusion.verdict;
            report.conclusion.exit_code = known.map_or(verdict, |known| known.max(verdict)).exit_code();
        }
    }
    unexplained.restore(report);
}

fn touches(policy: &Policy, report: &Report) -> bool {
    touches_pairs(policy, report) || is_one_that_differs(report, policy)
}

/// Whether the verdict of a pair may be another by this policy: it is judged by one, or has a warning that a rule is about.
fn touches_pairs(policy: &Policy, report: &Report) -> bool {
    let names = |cause: &str| {
        let mut rules = policy.rules.iter();
        rules.any(|rule| rule.code.to_string() == cause)
    };
    report.pairs.iter().any(|pair| {
        let verdict = &pair.verdict;
        let mut causes = verdict.cause.iter().chain(&verdict.beside);
        let asks_for_service = verdict.cause.as_deref() == Some(crate::verdict::cause::GPU_NEEDS_SERVICE);
        !verdict.by_policy.is_empty()
            || causes.any(|cause| names(cause))
            || (asks_for_service && !policy.rules.is_empty())
    })
}

/// What a report has that the policy made milder, with the rule: id of the entry or cause of a pair.
pub fn made_milder(report: &Report) -> Vec<(&str, &Ruled)> {
    let mut all = report.health.as_ref().map(milder_of).unwrap_or_default();
    for ruled in report.pairs.iter().flat_map(|pair| &pair.verdict.by_policy) {
        let cause = ruled.cause.as_deref().unwrap_or_default();
        if ruled.is_milder() && !all.iter().any(|(known, _)| *known == cause) {
            all.push((cause, ruled));
        }
    }
    all
}

pub(super) fn milder_of(health: &Health) -> Vec<(&str, &Ruled)> {
    let entries = health.open.iter();
    let ruled = entries.filter_map(|entry| Some((entry.id.as_str(), entry.by_policy.as_ref()?)));
    ruled.filter(|(_, ruled)| ruled.is_milder()).collect()
}

/// What is said of them where nothing else is a fault: `no fault by the site's policy; 1 ignored: xid-63@0000:3b:00.0 (…)`.
pub fn milder_sentence(milder: &[(&str, &Ruled)]) -> Option<String> {
    const NAMED: usize = 3;
    let (name, ruled) = milder.first()?;
    let first = format!("{name} ({})", ruled.sentence());
    let others = milder.iter().skip(1).take(NAMED - 1);
    let others: String = others.flat_map(|(name, _)| [", ", *name]).collect();
    let more = milder.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let ignored = milder
        .iter()
        .filter(|(_, ruled)| ruled.is == Meaning::Ignore)
        .count();
    let counted = match (ignored, milder.len() - ignored) {
        (ignored, 0) => format!("{ignored} ignored"),
        (0, other) => format!("{other} made milder"),
        (ignored, other) => format!("{ignored} ignored, {other} made milder"),
    };
    let has_fault = milder.iter().any(|(_, ruled)| ruled.was == Bearing::Fault);
    let what = if has_fault { "no fault" } else { "no warning" };
    Some(format!(
        "{what} by the site's policy; {counted}: {first}{others}{more}"
    ))
}

//! What a site's policy may decide of a proof after it was made, so that another policy decides anew.

use crate::observation::{Look, cause};
use crate::policy::{Code, PAIR_WARNINGS, Policy, Rule, Subject, models_at};
use crate::report::{Bearing, Decidable, Gpu, Meaning, NODE, Proof, Report, Verdict};
use crate::verdict::{Expect, judge_by};

/// Warnings and states of a report that the records have judged, and what it would have come to without them.
pub(super) fn of(report: &Report) -> (Vec<Decidable>, Option<Verdict>) {
    let mut all: Vec<Decidable> = Vec::new();
    let mut add = |cause: &str, device: &str, was: Bearing| {
        let of = Decidable {
            cause: cause.to_owned(),
            device: device.to_owned(),
            was,
        };
        if !all.contains(&of) {
            all.push(of);
        }
    };
    let verdicts = report.pairs.iter().map(|pair| &pair.verdict);
    for cause in verdicts.flat_map(|verdict| verdict.cause.iter().chain(&verdict.beside)) {
        if PAIR_WARNINGS.contains(&cause.as_str()) {
            add(cause, NODE, Bearing::Warning);
        }
    }
    for (cause, device, bearing, _) in Look::of(report).bad_at() {
        add(cause, device, bearing);
    }
    if all.is_empty() {
        return (all, None);
    }
    let rules = all.iter().map(|of| Rule {
        number: 0,
        code: Code::Cause(of.cause.clone()),
        is: Meaning::Ignore,
        count: None,
        window_seconds: None,
        model: None,
        label: std::collections::BTreeMap::new(),
        reason: String::new(),
    });
    let mut without = report.clone();
    without.health = None;
    let expect = report.conclusion.expect.as_deref();
    let expect = expect.and_then(Expect::of_words).unwrap_or_default();
    judge_by(&mut without, expect, &Policy::of(rules.collect()));
    (all, Some(without.conclusion.verdict))
}

/// What a proof comes to by the policy, where that is another verdict than by the records.
pub(in crate::health) fn by_policy(proof: &Proof, policy: &Policy, gpus: &[Gpu]) -> Option<Verdict> {
    let otherwise = proof.otherwise?;
    let ruled = proof.decidable.iter().map(|of| {
        let models = models_at(&of.device, gpus);
        let subject = Subject {
            record: cause::watched(&of.cause).and_then(|row| row.record),
            cause: Some(&of.cause),
            models: &models,
            ..Subject::default()
        };
        let ruled = policy.judge(subject, of.was);
        (
            ruled.as_ref().map_or(of.was, |ruled| ruled.is.bearing()),
            ruled.is_some(),
        )
    });
    let ruled: Vec<(Bearing, bool)> = ruled.collect();
    if ruled.iter().all(|(_, is_ruled)| !is_ruled) {
        return None;
    }
    let verdicts = ruled.into_iter().map(|(bearing, _)| match bearing {
        Bearing::Event => Verdict::Healthy,
        Bearing::Warning => Verdict::Degraded,
        Bearing::Unknown => Verdict::Unknown,
        Bearing::Fault => Verdict::Broken,
    });
    let verdict = verdicts.fold(otherwise, Verdict::max);
    (verdict != proof.verdict).then_some(verdict)
}

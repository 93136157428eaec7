//! A report that was judged elsewhere, judged again by a policy: only the policy makes it milder.

use super::by_policy::states_differ;
use super::exit::claimed_by;
use super::expect::Expect;
use super::run::{conclude, judge_by};
use super::{Verdict, cause};
use crate::observation::{open_faults, open_warnings, unread_ledger};
use crate::policy::Policy;
use crate::report::{LoadFinding, PairVerdict, Report};

/// What a report claims and this version cannot explain: it may be of a newer agent, and stands whatever the policy says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Unexplained {
    conclusion: Option<(Verdict, String)>,
    exit_code: Option<u8>,
}

impl Unexplained {
    /// The report is as it was when this returns.
    pub(crate) fn of(report: &mut Report) -> Self {
        let expect = expect(report);
        let policy = Policy::default();
        // States count as the records judge them, and as the ledger of the report has them.
        let mut known = conclude(report, expect, &policy).verdict;
        if let Some(health) = report.health.take() {
            known = known.max(conclude(report, expect, &policy).verdict);
            report.health = Some(health);
        }
        let report = &*report;
        let claimed = &report.conclusion;
        let health = report.health.as_ref();
        let of_health = health
            .filter(|_| !report.was_tried())
            .map(|health| health.verdict);
        let look = health.and_then(|health| health.look.as_ref());
        let look = look.filter(|look| look.verdict > known);
        let conclusion = if claimed.verdict > of_health.map_or(known, |of| of.max(known)) {
            Some((claimed.verdict, claimed.reason.clone()))
        } else {
            look.map(|look| (look.verdict, look.reason.clone()))
        };
        let by_ledger = [
            open_faults(report).next().map(|_| Verdict::Broken),
            unread_ledger(report).map(|_| Verdict::Unknown),
            open_warnings(report).next().map(|_| Verdict::Degraded),
        ];
        let mut explained = by_ledger.into_iter().flatten().chain([claimed.verdict]);
        let is_explained = explained.any(|verdict| verdict.exit_code() == claimed.exit_code);
        Self {
            conclusion,
            exit_code: (!is_explained).then_some(claimed.exit_code),
        }
    }

    /// Puts back what became milder.
    pub(crate) fn restore(self, report: &mut Report) {
        let conclusion = &mut report.conclusion;
        if let Some((verdict, reason)) = self.conclusion
            && verdict > conclusion.verdict
        {
            let code = verdict.exit_code();
            if claimed_by(code) > claimed_by(conclusion.exit_code) {
                conclusion.exit_code = code;
            }
            conclusion.verdict = verdict;
            conclusion.reason = format!("{reason}; {}", conclusion.reason);
        }
        if let Some(code) = self.exit_code
            && claimed_by(code) > claimed_by(conclusion.exit_code)
        {
            conclusion.exit_code = code;
        }
    }
}

/// Judges by the policy. The verdict of a pair becomes milder only where a rule is about its cause; what was expected stays as it was
/// written, and so does what only the sender found of a load.
pub(crate) fn judge_again(report: &mut Report, policy: &Policy) {
    let expect = expect(report);
    let records = by_records(report);
    let claimed = report.clone();
    judge_by(report, expect, policy);
    let pairs = report.pairs.iter_mut().zip(&claimed.pairs).zip(&records.pairs);
    for ((pair, claimed), records) in pairs {
        let is_milder = weight(&pair.verdict) < weight(&claimed.verdict);
        if is_milder && !is_ruled(&claimed.verdict, &pair.verdict, &records.verdict) {
            pair.verdict = claimed.verdict.clone();
        }
    }
    if let (Some(load), Some(claimed)) = (&mut report.load, claimed.load) {
        let is_known = |one: &LoadFinding, all: &[LoadFinding]| {
            all.iter()
                .any(|other| (other.gpu, &other.cause) == (one.gpu, &one.cause))
        };
        for finding in claimed.findings {
            if !is_known(&finding, &load.findings) {
                load.findings.push(finding);
            }
        }
        load.findings
            .sort_by_key(|found| std::cmp::Reverse(found.verdict));
    }
    report.conclusion = conclude(report, expect, policy);
    if claimed.conclusion.expect.is_some() {
        report.conclusion.expect = claimed.conclusion.expect;
    }
}

/// The report as the records alone judge it, whatever policy judged it before.
pub(crate) fn by_records(report: &Report) -> Report {
    let mut judged = report.clone();
    // Its entries may have been judged by a policy.
    judged.health = None;
    judge_by(&mut judged, expect(report), &Policy::default());
    judged
}

/// Whether the one GPU of a report has a state that the policy calls something else.
pub(crate) fn is_one_that_differs(report: &Report, policy: &Policy) -> bool {
    report.gpus.len() == 1 && report.pairs.is_empty() && states_differ(report, policy)
}

fn expect(report: &Report) -> Expect {
    let words = report.conclusion.expect.as_deref();
    words.and_then(Expect::of_words).unwrap_or_default()
}

fn weight(verdict: &PairVerdict) -> Verdict {
    if verdict.information {
        Verdict::Healthy
    } else {
        verdict.verdict
    }
}

/// Whether rules are about all that a pair was said to have and has no longer.
fn is_ruled(claimed: &PairVerdict, now: &PairVerdict, records: &PairVerdict) -> bool {
    let has = |of: &PairVerdict, cause: &str| causes(of).any(|other| other == cause);
    let by_rule = |cause: &str| {
        let mut ruled = claimed.by_policy.iter().chain(&now.by_policy);
        let of_state = cause == cause::GPU_NEEDS_SERVICE && has(records, cause);
        ruled.any(|ruled| ruled.cause.as_deref() == Some(cause)) || of_state
    };
    let worst = claimed.cause.as_deref();
    worst.is_some_and(by_rule)
        && claimed
            .beside
            .iter()
            .all(|cause| by_rule(cause) || has(now, cause))
}

fn causes(verdict: &PairVerdict) -> impl Iterator<Item = &str> {
    let beside = verdict.beside.iter().map(String::as_str);
    verdict.cause.as_deref().into_iter().chain(beside)
}

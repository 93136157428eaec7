//! From the pairs of a run to its one line and its exit code.

use std::collections::BTreeMap;

use super::Expect;
use super::by_policy::bad_states;
use super::cause;
use super::load::findings;
use super::logged::untested;
use super::pair::judge_pair;
use super::rows::{NOTES, Named, RunRow, of_absence, of_run as rows_of_run};
use super::rung::proven_by;
use super::scene::Scene;
use super::unread::unread_states;
use crate::ids::RecordId;
use crate::observation::Look;
use crate::policy::Policy;
use crate::report::{
    AbsentGpu, Bearing, Conclusion, Fact, Failure, Pair, PairVerdict, Report, Verdict, add_reason_codes,
    fact_name,
};

/// Judges a report: the verdict of each pair, the cause of each failure, what is worth a note, and the conclusion.
/// What stood there before is replaced. A report of an older agent gets its reason codes first.
pub fn judge(report: &mut Report, expect: Expect) {
    judge_by(report, expect, &Policy::default());
}

/// The same by the site's policy: it decides about states and warnings, and never about a check that failed, a refusal or what could
/// not be told. What a load shows is judged by the records alone: a node that returns to service needs no excuse.
pub fn judge_by(report: &mut Report, expect: Expect, policy: &Policy) {
    add_reason_codes(report);
    let scene = Scene::of(report, policy);
    let pairs = report.pairs.iter().enumerate();
    let verdicts: Vec<PairVerdict> = pairs
        .map(|(index, pair)| judge_pair(&scene, pair, index, expect))
        .collect();
    for (pair, verdict) in report.pairs.iter_mut().zip(verdicts) {
        pair.verdict = verdict;
    }
    for failure in &mut report.failures {
        explain(failure, rows_of_run());
    }
    for absent in &mut report.absent {
        let named = of_absence(absent.absence);
        absent.cause = named.map(|named| named.cause.to_owned());
        absent.record = named.and_then(record);
        absent.fix = named.map(|named| named.fix.to_owned());
    }
    report.notes = notes(&report.host);
    let found = findings(report);
    if let Some(load) = &mut report.load {
        load.findings = found;
    }
    report.conclusion = conclude(report, expect, policy);
}

/// Names the cause, unless none of the rows applies.
fn explain(failure: &mut Failure, mut rows: impl Iterator<Item = &'static RunRow>) {
    let Some(RunRow { named, .. }) = rows.find(|row| (row.applies)(failure)) else {
        return;
    };
    failure.cause = Some(named.cause.to_owned());
    failure.record = record(named);
    failure.fix = Some(named.fix.to_owned());
}

fn record(named: &Named) -> Option<RecordId> {
    named.record.and_then(|id| id.parse().ok())
}

/// NVML that cannot be used costs facts, and no verdict.
fn notes(host: &BTreeMap<String, Fact>) -> Vec<Failure> {
    let gap = host
        .get(fact_name::NVML_DRIVER_VERSION)
        .and_then(|fact| fact.gap.as_ref());
    let Some(gap) = gap else { return Vec::new() };
    let mut note = Failure {
        reason_code: gap.reason_code,
        ..Failure::new("ask NVML", &gap.reason)
    };
    explain(&mut note, NOTES.iter());
    vec![note]
}

/// The worst of the pairs that count, of what stopped the run, of GPUs that are not there, and of what only the kernel log tells; its
/// exit code and one sentence.
///
/// A failure of the run as a whole makes it at least [`Verdict::Unknown`]. Refusals that are information count for
/// nothing, and are told.
pub(super) fn conclude(report: &Report, expect: Expect, policy: &Policy) -> Conclusion {
    let (verdict, reason) = of_run(report, policy);
    let (verdict, reason) = beside((verdict, reason), worst_absent(&report.absent));
    let (verdict, reason) = beside((verdict, reason), untested(report));
    let (verdict, reason) = beside((verdict, reason), unread(report));
    let (verdict, reason) = with_load(report, verdict, reason);
    Conclusion {
        verdict,
        exit_code: verdict.exit_code(),
        reason,
        expect: Some(expect.words()),
    }
}

/// The worse of two, with both reasons, the worse in front.
fn beside((verdict, reason): (Verdict, String), other: Option<(Verdict, String)>) -> (Verdict, String) {
    match other {
        None => (verdict, reason),
        Some((worst, told)) if worst < verdict => (verdict, format!("{reason}; {told}")),
        Some((worst, told)) => (worst, format!("{told}; {reason}")),
    }
}

/// States of GPUs with pairs that could not be read: a pair that works says nothing of them. Of a single GPU, and of a load, that is
/// told elsewhere.
fn unread(report: &Report) -> Option<(Verdict, String)> {
    if report.pairs.is_empty() || report.load.is_some() {
        return None;
    }
    unread_states(report).map(|told| (Verdict::Unknown, told))
}

/// What the load adds: its worst finding, or that it passed.
fn with_load(report: &Report, verdict: Verdict, reason: String) -> (Verdict, String) {
    let Some(load) = &report.load else {
        return (verdict, reason);
    };
    match load.findings.first() {
        None => (verdict, format!("{reason}; {:.0} s of load passed", load.seconds)),
        Some(found) if found.verdict < verdict => {
            (verdict, format!("{reason}; {}: {}", found.cause, found.reason))
        }
        Some(found) => (
            found.verdict,
            format!("{}: {}; {reason}", found.cause, found.reason),
        ),
    }
}

fn of_run(report: &Report, policy: &Policy) -> (Verdict, String) {
    let pairs = &report.pairs;
    let counting: Vec<&Pair> = pairs.iter().filter(|pair| !pair.verdict.information).collect();
    let of_pairs = match (
        counting.iter().map(|pair| pair.verdict.verdict).max(),
        pairs.as_slice(),
    ) {
        (Some(worst), _) => worst,
        (None, []) => Verdict::Unknown,
        (None, _) => Verdict::Healthy,
    };
    let Some(failure) = report.failures.iter().max_by_key(|failure| of_failure(failure)) else {
        return match (pairs.as_slice(), report.gpus.as_slice()) {
            ([], []) => (Verdict::Unknown, "the driver lists no GPU".to_owned()),
            ([], [_]) => of_one_gpu(report, policy),
            ([], _) => (Verdict::Unknown, "no pair was looked at".to_owned()),
            _ => (of_pairs, pairs_reason(of_pairs, &counting, pairs)),
        };
    };
    let verdict = of_failure(failure);
    // What NVML says of the GPU hides behind no failure that says less.
    if let ([], [_]) = (pairs.as_slice(), report.gpus.as_slice())
        && let (worse, reason) = of_one_gpu(report, policy)
        && worse > verdict
    {
        return (worse, format!("{reason}; {}", failure_reason(failure)));
    }
    let reason = if of_pairs < verdict || pairs.is_empty() {
        failure_reason(failure)
    } else {
        pairs_reason(of_pairs, &counting, pairs)
    };
    (of_pairs.max(verdict), reason)
}

fn of_failure(failure: &Failure) -> Verdict {
    let row = rows_of_run().find(|row| (row.applies)(failure));
    // Another tool's step has no row. Data that it found wrong is wrong all the same.
    let is_wrong = failure.cause.as_deref() == Some(cause::DATA_MISMATCH);
    let unnamed = if is_wrong {
        Verdict::Broken
    } else {
        Verdict::Unknown
    };
    row.map_or(unnamed, |row| row.named.verdict)
}

/// One GPU proves nothing with another. What it says of itself can still be a fault; that it says nothing bad is told
/// only where it was read. A kernel that failed in its memory is a failure of the run.
fn of_one_gpu(report: &Report, policy: &Policy) -> (Verdict, String) {
    const ALONE: &str = "one GPU, so there is no pair to prove";
    let mut look = Look::of(report);
    let nvml = report.host.get(fact_name::NVML_DRIVER_VERSION);
    if look.unread.is_empty() && nvml.is_none_or(|version| version.value.is_none()) {
        look.unread("nvml", "it was not asked");
    }
    let bad = bad_states(report, &look, policy);
    let weighing = bad
        .into_iter()
        .filter(|(_, bearing, _)| *bearing > Bearing::Event);
    let worst = weighing.max_by_key(|(_, bearing, _)| *bearing);
    match (worst, look.unread.first()) {
        (Some((cause, Bearing::Fault, text)), _) => (Verdict::Broken, format!("{cause}: {text}")),
        (_, Some(unread)) => (
            Verdict::Unknown,
            format!("{ALONE}, and {} could not be read: {}", unread.what, unread.why),
        ),
        (Some((cause, _, text)), None) => (Verdict::Degraded, format!("{cause}: {text}")),
        (None, None) => (Verdict::NoFaultSeen, format!("{ALONE}; no fault seen of it")),
    }
}

pub(crate) fn worst_absent(absent: &[AbsentGpu]) -> Option<(Verdict, String)> {
    let weighed: Vec<(Verdict, &Named, &AbsentGpu)> = absent
        .iter()
        .filter_map(|gpu| of_absence(gpu.absence).map(|named| (named.verdict, named, gpu)))
        .collect();
    let worst = weighed.iter().map(|(verdict, ..)| *verdict).max()?;
    let told = weighed.iter().filter(|(verdict, ..)| *verdict == worst);
    let told: Vec<String> = told
        .map(|(_, named, gpu)| format!("{}: {}: {}", named.cause, gpu.name(), gpu.reason))
        .collect();
    Some((worst, told.join("; ")))
}

pub(super) fn failure_reason(failure: &Failure) -> String {
    let cause = failure.cause.as_ref();
    let cause = cause.map_or_else(String::new, |cause| format!("{cause}: "));
    format!("{cause}{}: {}", failure.step, failure.message)
}

fn pairs_reason(verdict: Verdict, counting: &[&Pair], all: &[Pair]) -> String {
    let total = all.len();
    let expected = total - counting.len();
    let information = match expected {
        0 => String::new(),
        _ => format!(
            "{} refused as expected ({})",
            of_total(expected, total),
            causes(all.iter().filter(|pair| pair.verdict.information))
        ),
    };
    if verdict == Verdict::Healthy {
        let proven = proven(counting);
        return match (counting, expected) {
            ([], _) => information,
            (_, 0) => proven,
            (_, _) => format!("{proven}; {information}"),
        };
    }
    let alike = || counting.iter().filter(|pair| pair.verdict.verdict == verdict);
    let first = alike().next();
    let of_first = first.map_or_else(String::new, |pair| {
        let cause = pair.verdict.cause.as_deref().unwrap_or("no cause named");
        let reason = &pair.verdict.reason;
        format!("; GPU {} and GPU {}: {cause}: {reason}", pair.a, pair.b)
    });
    let count = of_total(alike().count(), total);
    format!("{count} {}{of_first}", verdict.word())
}

/// `1 pair proven both ways by copies and kernels`.
fn proven(pairs: &[&Pair]) -> String {
    let by_all = |rung: u8| pairs.iter().all(|pair| pair.verdict.proven_rungs.contains(&rung));
    let count = pairs.len();
    format!("{count} {} {}", noun(count), proven_by(by_all))
}

/// `2 of 6 pairs`.
fn of_total(count: usize, total: usize) -> String {
    format!("{count} of {total} {}", noun(total))
}

fn noun(count: usize) -> &'static str {
    if count == 1 { "pair" } else { "pairs" }
}

fn causes<'a>(pairs: impl Iterator<Item = &'a Pair>) -> String {
    let mut causes: Vec<&str> = pairs.filter_map(|pair| pair.verdict.cause.as_deref()).collect();
    causes.sort_unstable();
    causes.dedup();
    causes.join(", ")
}

//! From the pairs of a run to its one line and its exit code.

use std::collections::BTreeMap;

use super::pair::judge_pair;
use super::rows::{NOTES, RUN, RunRow};
use super::scene::Scene;
use super::{Expect, Verdict};
use crate::ids::RecordId;
use crate::report::{Conclusion, Fact, Failure, Pair, PairVerdict, Report};

/// Judges a report: the verdict of each pair, the cause of each failure, what is worth a note, and the conclusion.
/// What stood there before is replaced.
pub fn judge(report: &mut Report, expect: Expect) {
    let scene = Scene::of(report);
    let pairs = report.pairs.iter().enumerate();
    let verdicts: Vec<PairVerdict> = pairs
        .map(|(index, pair)| judge_pair(&scene, pair, index, expect))
        .collect();
    for (pair, verdict) in report.pairs.iter_mut().zip(verdicts) {
        pair.verdict = verdict;
    }
    for failure in &mut report.failures {
        explain(failure, RUN);
    }
    report.notes = notes(&report.host);
    report.conclusion = conclude(report, expect);
}

/// Names the cause, unless none of the rows applies.
fn explain(failure: &mut Failure, rows: &[RunRow]) {
    let Some(RunRow { named, .. }) = rows.iter().find(|row| (row.applies)(failure)) else {
        return;
    };
    failure.cause = Some(named.cause.to_owned());
    failure.record = named.record.and_then(|id| id.parse::<RecordId>().ok());
    failure.fix = Some(named.fix.to_owned());
}

/// NVML that cannot be used costs facts, and no verdict.
fn notes(host: &BTreeMap<String, Fact>) -> Vec<Failure> {
    const FACT: &str = "nvml.driver_version";
    let gap = host.get(FACT).and_then(|fact| fact.gap.as_ref());
    let Some(gap) = gap else { return Vec::new() };
    let mut note = Failure::new("ask NVML", &gap.reason);
    explain(&mut note, NOTES);
    vec![note]
}

/// The worst verdict of the pairs that count, its exit code and one sentence.
///
/// A failure of the run as a whole makes it at least [`Verdict::Unknown`], and so does having no pair to prove.
/// Refusals that are information count for nothing, and are told.
fn conclude(report: &Report, expect: Expect) -> Conclusion {
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
    let failure = report.failures.first();
    let verdict = failure.map_or(of_pairs, |_| of_pairs.max(Verdict::Unknown));
    let failure_leads = of_pairs < Verdict::Unknown || pairs.is_empty();
    let reason = match failure {
        Some(failure) if failure_leads => failure_reason(failure),
        _ if pairs.is_empty() => match report.gpus.as_slice() {
            [] => "the driver lists no GPU".to_owned(),
            [_] => "one GPU, so there is no pair to prove".to_owned(),
            _ => "no pair was looked at".to_owned(),
        },
        _ => pairs_reason(of_pairs, &counting, pairs),
    };
    Conclusion {
        verdict,
        exit_code: verdict.exit_code(),
        reason,
        expect: Some(expect.words()),
    }
}

fn failure_reason(failure: &Failure) -> String {
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

/// `1 pair proven in both directions by rungs 1, 2, 3, 4`.
fn proven(pairs: &[&Pair]) -> String {
    let by_all = |rung: &u8| pairs.iter().all(|pair| pair.verdict.proven_rungs.contains(rung));
    let rungs: Vec<String> = (1..=7).filter(by_all).map(|rung| rung.to_string()).collect();
    let count = pairs.len();
    let noun = noun(count);
    format!(
        "{count} {noun} proven in both directions by rungs {}",
        rungs.join(", ")
    )
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

//! One pair before the table: the first row that applies names the cause.

use std::cmp::Reverse;

use super::evidence::{Finding, Seen};
use super::rows::{Named, Row, of_pair, staged_instead};
use super::rung::proven_by;
use super::scene::Scene;
use super::{Expect, Verdict};
use crate::ids::RecordId;
use crate::report::{Bearing, Pair, PairVerdict, Ruled};

/// Judges one pair. `index` is its position in the report, for the evidence.
///
/// *Healthy* is only what copies, kernels and handles proved in both directions, with nothing left out; the rungs that
/// proved it are named.
pub(super) fn judge_pair(scene: &Scene<'_>, pair: &Pair, index: usize, expect: Expect) -> PairVerdict {
    let seen = Seen::new(scene, pair, index);
    let Applying { rows, by_policy } = applying(&seen);
    let mut rows = rows.into_iter();
    let Some((row, verdict, finding)) = rows.next() else {
        return PairVerdict {
            by_policy,
            ..healthy(&seen)
        };
    };
    let Finding {
        mut reason,
        mut evidence,
        fix,
    } = finding;
    let beside: Vec<(&Row, Finding)> = rows
        .filter(|(other, ..)| other.beside)
        .map(|(other, _, finding)| (other, finding))
        .collect();
    let names: Vec<String> = beside
        .iter()
        .map(|(other, _)| other.named.cause.to_owned())
        .collect();
    if !names.is_empty() {
        reason = format!("{reason}; seen beside it: {}", names.join(", "));
    }
    for pointer in beside.into_iter().flat_map(|(_, finding)| finding.evidence) {
        if !evidence.contains(&pointer) {
            evidence.push(pointer);
        }
    }
    let Named { cause, record, .. } = row.named;
    if verdict == Verdict::Refused
        && let Some((told, pointers)) = staged_instead(&seen)
    {
        reason = format!("{reason}; {told}");
        evidence.extend(pointers);
    }
    PairVerdict {
        verdict,
        cause: Some(cause.to_owned()),
        reason,
        evidence,
        proven_rungs: seen.proven_rungs(),
        record: record.and_then(|id| id.parse::<RecordId>().ok()),
        fix: Some(fix.unwrap_or_else(|| row.named.fix.to_owned())),
        information: verdict == Verdict::Refused && expect.allows_refusal(&seen, cause),
        beside: names,
        by_policy,
    }
}

/// The rows that apply, worst first, each with its verdict, and what the site's policy made of warnings.
struct Applying {
    rows: Vec<(&'static Row, Verdict, Finding)>,
    by_policy: Vec<Ruled>,
}

/// What the policy ignores or calls an event is left out; a warning that it calls a fault is one.
fn applying(seen: &Seen<'_>) -> Applying {
    let mut all = Applying {
        rows: Vec::new(),
        by_policy: Vec::new(),
    };
    for row in of_pair() {
        let Some(finding) = (row.applies)(seen) else {
            continue;
        };
        let mut verdict = row.named.verdict;
        if verdict == Verdict::Degraded
            && let Some(ruled) = seen.scene.ruled(row.named.cause, seen.gpus().map(|(_, gpu)| gpu))
        {
            let is = ruled.is.bearing();
            all.by_policy.push(ruled);
            match is {
                Bearing::Event => continue,
                Bearing::Fault => verdict = Verdict::Broken,
                Bearing::Warning | Bearing::Unknown => {}
            }
        }
        all.rows.push((row, verdict, finding));
    }
    if !all.by_policy.is_empty() {
        // Stable: rows are in their order where the policy changed nothing.
        all.rows.sort_by_key(|(_, verdict, _)| Reverse(*verdict));
    }
    all
}

fn healthy(seen: &Seen<'_>) -> PairVerdict {
    let proven_rungs = seen.proven_rungs();
    let mut evidence = seen.directions_with_access(Some(true));
    evidence.extend(seen.checks().map(|(_, _, place)| place.pointer()));
    PairVerdict {
        verdict: Verdict::Healthy,
        reason: proven_by(|rung| proven_rungs.contains(&rung)),
        evidence,
        proven_rungs,
        ..PairVerdict::undecided()
    }
}

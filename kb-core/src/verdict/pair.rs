//! One pair before the table: the first row that applies names the cause.

use super::evidence::{Finding, Seen};
use super::rows::{Named, Row, of_pair, staged_instead};
use super::rung::proven_by;
use super::scene::Scene;
use super::{Expect, Verdict};
use crate::ids::RecordId;
use crate::report::{Pair, PairVerdict};

/// Judges one pair. `index` is its position in the report, for the evidence.
///
/// *Healthy* is only what copies, kernels and handles proved in both directions, with nothing left out; the rungs that
/// proved it are named.
pub(super) fn judge_pair(scene: &Scene<'_>, pair: &Pair, index: usize, expect: Expect) -> PairVerdict {
    let seen = Seen::new(scene, pair, index);
    let mut applying = of_pair().filter_map(|row| Some((row, (row.applies)(&seen)?)));
    let Some((row, finding)) = applying.next() else {
        return healthy(&seen);
    };
    let Finding {
        mut reason,
        mut evidence,
        fix,
    } = finding;
    let beside: Vec<(&Row, Finding)> = applying.filter(|(other, _)| other.beside).collect();
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
    let Named {
        cause,
        verdict,
        record,
        ..
    } = row.named;
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
    }
}

fn healthy(seen: &Seen<'_>) -> PairVerdict {
    let proven_rungs = seen.proven_rungs();
    let mut evidence = seen.directions_with_access(Some(true));
    evidence.extend(seen.checks().map(|(_, _, pointer)| pointer));
    PairVerdict {
        verdict: Verdict::Healthy,
        reason: proven_by(|rung| proven_rungs.contains(&rung)),
        evidence,
        proven_rungs,
        ..PairVerdict::undecided()
    }
}

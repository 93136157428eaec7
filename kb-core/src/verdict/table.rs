//! The table for one pair. The first row that applies names the cause; a new cause is a new row and a new test.

use super::Verdict;
use super::evidence::{Finding, Seen, gap_reason};
use crate::ids::RecordId;
use crate::report::{Outcome, P2pStatus, Pair, PairVerdict};

/// The record of a refusal that the driver explains by the product or the platform.
pub const HARDWARE_RECORD: &str = "cuda/peer-access-unsupported-by-hardware";

/// Names of the causes, as they stand in [`PairVerdict::cause`].
pub mod cause {
    /// The writer reads its own data back and the owner does not see it.
    pub const PRIVATE_MIRROR: &str = "private_mirror";
    /// Every call succeeds and nothing arrives.
    pub const WRITES_DROPPED: &str = "writes_dropped";
    /// Something arrives, and it is not what was sent.
    pub const DATA_MISMATCH: &str = "data_mismatch";
    /// A driver call or the work it started does not end.
    pub const HANG: &str = "hang";
    /// The process that makes the check is killed or crashes.
    pub const PROCESS_DIES: &str = "process_dies";
    /// The driver says that access is possible and then does not enable it.
    pub const ENABLE_FAILS: &str = "enable_fails";
    /// Access is enabled and using it returns an error.
    pub const ACCESS_FAILS: &str = "access_fails";
    /// A check could not be prepared, so it shows nothing.
    pub const INCONCLUSIVE: &str = "inconclusive";
    /// The driver was not asked, or did not answer.
    pub const NOT_ASKED: &str = "not_asked";
    /// Granted one way, refused the other way.
    pub const ONE_DIRECTION_ONLY: &str = "one_direction_only";
    /// NVML status GNS: this GPU model has it off.
    pub const REFUSED_BY_POLICY: &str = "refused_by_policy";
    /// NVML status CNS: the chipset does not do it.
    pub const REFUSED_BY_CHIPSET: &str = "refused_by_chipset";
    /// NVML status TNS: the two sit in different places of the tree.
    pub const REFUSED_BY_TOPOLOGY: &str = "refused_by_topology";
    /// NVML status NS: no path.
    pub const REFUSED_NOT_SUPPORTED: &str = "refused_not_supported";
    /// Refused, and nothing seen explains it.
    pub const REFUSED_CAUSE_UNKNOWN: &str = "refused_cause_unknown";
    /// Fails beside the other pairs, passes alone.
    pub const FAILS_ONLY_TOGETHER: &str = "fails_only_together";
    /// Granted, nothing failed, and something that a healthy pair must show was left out or not seen.
    pub const NOT_PROVEN: &str = "not_proven";
}

/// One row: the cause, its verdict, the record that explains it, and when it applies.
struct Row {
    cause: &'static str,
    verdict: Verdict,
    record: Option<&'static str>,
    applies: fn(&Seen<'_>) -> Option<Finding>,
}

const fn row(cause: &'static str, verdict: Verdict, applies: fn(&Seen<'_>) -> Option<Finding>) -> Row {
    Row {
        cause,
        verdict,
        record: None,
        applies,
    }
}

const fn known(cause: &'static str, applies: fn(&Seen<'_>) -> Option<Finding>) -> Row {
    Row {
        cause,
        verdict: Verdict::Refused,
        record: Some(HARDWARE_RECORD),
        applies,
    }
}

/// Worst first.
const ROWS: &[Row] = &[
    row(cause::PRIVATE_MIRROR, Verdict::Broken, |pair| {
        pair.find(|_, check| {
            check
                .mismatch
                .is_some_and(|wrong| wrong.writer_sees_it == Some(true) && !wrong.in_guard)
        })
    }),
    row(cause::WRITES_DROPPED, Verdict::Broken, |pair| {
        pair.find(|_, check| check.mismatch.is_some_and(|wrong| wrong.untouched))
    }),
    row(cause::DATA_MISMATCH, Verdict::Broken, |pair| {
        pair.find(|_, check| check.mismatch.is_some())
    }),
    row(cause::HANG, Verdict::Broken, |pair| {
        pair.find(|_, check| check.outcome == Outcome::Hang)
    }),
    row(cause::PROCESS_DIES, Verdict::Broken, |pair| {
        pair.find(|_, check| check.outcome == Outcome::Fail && check.code.is_none())
    }),
    row(cause::ENABLE_FAILS, Verdict::Broken, |pair| {
        pair.find(|direction, check| {
            let granted = direction.can_access_peer.value == Some(true);
            check.outcome == Outcome::Fail && check.rung == 2 && granted
        })
    }),
    row(cause::ACCESS_FAILS, Verdict::Broken, |pair| {
        pair.find(|_, check| check.outcome == Outcome::Fail && check.rung > 2)
    }),
    row(cause::INCONCLUSIVE, Verdict::Unknown, |pair| {
        pair.find(|_, check| matches!(check.outcome, Outcome::Inconclusive | Outcome::NotVisible))
    }),
    row(cause::NOT_ASKED, Verdict::Unknown, not_asked),
    row(cause::ONE_DIRECTION_ONLY, Verdict::Refused, one_direction_only),
    known(cause::REFUSED_BY_POLICY, |pair| {
        refused(pair, P2pStatus::Gns, "GNS, this GPU model does not support it")
    }),
    known(cause::REFUSED_BY_CHIPSET, |pair| {
        refused(pair, P2pStatus::Cns, "CNS, the chipset does not support it")
    }),
    known(cause::REFUSED_BY_TOPOLOGY, |pair| {
        refused(pair, P2pStatus::Tns, "TNS, the topology does not support it")
    }),
    known(cause::REFUSED_NOT_SUPPORTED, |pair| {
        refused(pair, P2pStatus::Ns, "NS, not supported")
    }),
    row(
        cause::REFUSED_CAUSE_UNKNOWN,
        Verdict::Refused,
        refused_cause_unknown,
    ),
    row(cause::NOT_PROVEN, Verdict::Unknown, not_proven),
    row(cause::FAILS_ONLY_TOGETHER, Verdict::Degraded, |pair| {
        pair.find(|_, check| check.outcome == Outcome::PassAlone)
    }),
];

/// The rungs that must have passed both ways: copies, and the loads and stores of kernels. Copies alone pass on
/// mappings on which kernels see nothing.
const REQUIRED_RUNGS: [u8; 2] = [3, 4];

/// Judges one pair from its facts and checks. `index` is its position in the report, for the evidence.
///
/// *Healthy* is only what copies and kernels proved in both directions, with nothing left out; the rungs that proved
/// it are named.
pub fn judge_pair(pair: &Pair, index: usize) -> PairVerdict {
    let seen = Seen::new(pair, index);
    let proven_rungs = seen.proven_rungs();
    for row in ROWS {
        let Some(finding) = (row.applies)(&seen) else {
            continue;
        };
        return PairVerdict {
            verdict: row.verdict,
            cause: Some(row.cause.to_owned()),
            reason: finding.reason,
            evidence: finding.evidence,
            proven_rungs,
            record: row.record.and_then(|id| id.parse::<RecordId>().ok()),
            fix: None,
        };
    }
    let mut evidence = seen.directions_with_access(Some(true));
    evidence.extend(seen.checks().map(|(_, _, pointer)| pointer));
    PairVerdict {
        verdict: Verdict::Healthy,
        cause: None,
        reason: format!("proven in both directions by rungs {}", list(&proven_rungs)),
        evidence,
        proven_rungs,
        record: None,
        fix: None,
    }
}

/// `1, 2, 3`.
fn list(rungs: &[u8]) -> String {
    let words: Vec<String> = rungs.iter().map(u8::to_string).collect();
    words.join(", ")
}

fn not_asked(pair: &Seen<'_>) -> Option<Finding> {
    let evidence = pair.directions_with_access(None);
    let directions = &pair.pair.directions;
    if evidence.is_empty() && directions.len() == 2 {
        return None;
    }
    let silent = directions
        .iter()
        .find(|direction| direction.can_access_peer.value.is_none());
    let why = silent.map_or("a direction is missing", |direction| {
        gap_reason(&direction.can_access_peer)
    });
    Some(Finding {
        reason: format!("the driver did not say whether the two can reach each other: {why}"),
        evidence,
    })
}

fn one_direction_only(pair: &Seen<'_>) -> Option<Finding> {
    let granted = pair.directions_with_access(Some(true));
    let refused = pair.directions_with_access(Some(false));
    if granted.is_empty() || refused.is_empty() {
        return None;
    }
    let direction = pair
        .pair
        .directions
        .iter()
        .find(|direction| direction.can_access_peer.value == Some(false))?;
    let reason = format!(
        "the driver refuses GPU {} access to GPU {} and grants the other way",
        direction.initiator, direction.owner
    );
    let evidence = refused.into_iter().chain(granted).collect();
    Some(Finding { reason, evidence })
}

fn refused(pair: &Seen<'_>, status: P2pStatus, words: &str) -> Option<Finding> {
    let statuses = pair.nvml_status(status);
    if !pair.refused_both_ways() || !pair.without_nvlink() || statuses.is_empty() {
        return None;
    }
    let mut evidence = pair.directions_with_access(Some(false));
    evidence.extend(statuses);
    evidence.push(pair.pointer("nvlinks"));
    evidence.push(pair.pointer("nvswitch"));
    Some(Finding {
        reason: format!(
            "the driver refuses peer access; NVML status {words}; no NVLink or NVSwitch joins the two"
        ),
        evidence,
    })
}

fn refused_cause_unknown(pair: &Seen<'_>) -> Option<Finding> {
    if !pair.refused_both_ways() {
        return None;
    }
    Some(Finding {
        reason: "the driver refuses peer access, and nothing seen from here says why".to_owned(),
        evidence: pair.directions_with_access(Some(false)),
    })
}

/// A check that was left out, or whose outcome this build does not know, is no proof; nor is a rung without checks.
fn not_proven(pair: &Seen<'_>) -> Option<Finding> {
    let unproven = pair.find(|_, check| !matches!(check.outcome, Outcome::Pass | Outcome::PassAlone));
    if unproven.is_some() {
        return unproven;
    }
    let proven = pair.proven_rungs();
    let missing = REQUIRED_RUNGS.into_iter().find(|rung| !proven.contains(rung))?;
    Some(Finding {
        reason: format!("rung {missing} was not checked in both directions"),
        evidence: vec![pair.pointer("directions")],
    })
}

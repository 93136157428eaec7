//! A verdict against the node that no other finding bears out: said as a finding of its own, so that alerts and lists have it.

use kb_core::report::Bearing;
use kb_core::verdict::Verdict;
use serde_json::json;

use super::evidence::Evidence;
use crate::domain::baseline::OUTLIER;
use crate::store::{Gravity, NewFinding, Weight};

/// The finding of a report that tells of a fault by its verdict alone; `None` where there is no fault, or another finding tells of it.
pub fn of_verdict(
    (weight, verdict): (Weight, Verdict),
    reason: &str,
    found: &[NewFinding],
) -> Option<NewFinding> {
    let bearing = match verdict {
        Verdict::Broken | Verdict::Refused => Bearing::Fault,
        Verdict::Unknown => Bearing::Unknown,
        Verdict::Degraded => Bearing::Warning,
        Verdict::Healthy | Verdict::NoFaultSeen => return None,
    };
    // What no record explains is unknown, and says enough against a node. A refusal may be explained by what is configured, a warning.
    let least = match verdict {
        Verdict::Refused => Bearing::Warning,
        _ => bearing.min(Bearing::Unknown),
    };
    let may_tell = |finding: &&NewFinding| {
        // A slow pair explains no refusal.
        verdict != Verdict::Refused || !finding.rule.starts_with(OUTLIER)
    };
    let is_told = found
        .iter()
        .filter(may_tell)
        .any(|finding| finding.gravity.bearing >= least);
    if weight == Weight::Look || is_told {
        return None;
    }
    let mut evidence = Evidence::new();
    evidence.pointer("/conclusion", &json!(verdict.word()));
    Some(NewFinding {
        record: None,
        rule: format!("verdict/{}", verdict.word()),
        subject: "report".to_owned(),
        title: reason.to_owned(),
        evidence: evidence.into_json(),
        gravity: Gravity {
            bearing,
            severity: None,
            action: None,
        },
        by_policy: None,
    })
}

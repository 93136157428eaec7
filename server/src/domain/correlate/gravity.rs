//! What a finding means for its node: bearing, severity and action, as its record says.

use kb_core::ids::RecordId;
use kb_core::observation::bearing;
use kb_core::policy::{Policy, Subject};
use kb_core::report::{Bearing, Report, Ruled};

use crate::feed::Generation;
use crate::store::{Gravity, NewFinding};

/// Notes what the record says, and what the site's policy makes of that. What the agent holds open keeps the agent's words, which its node was judged by.
pub(super) fn of_record(
    generation: &Generation,
    finding: &mut NewFinding,
    report: &Report,
    (policy, models): (&Policy, &[Option<&str>]),
) {
    if finding.gravity != Gravity::default() {
        return;
    }
    let Some((id, _)) = &finding.record else {
        return;
    };
    let Some(published) = generation.record(id) else {
        return;
    };
    let annex = &published.record.annex;
    let at_fault = annex.at_fault.as_ref().map(|at_fault| at_fault.who);
    finding.gravity = Gravity {
        bearing: if published.record.is_notice() {
            Bearing::Event
        } else {
            bearing(annex.severity, annex.action, at_fault)
        },
        severity: annex.severity,
        action: annex.action,
    };
    if let Some(ruled) = ruled(report, (id, finding.gravity.bearing), (policy, models)) {
        finding.gravity.bearing = ruled.is.bearing();
        finding.by_policy = Some(ruled);
    }
}

/// What the policy makes of something that a report tells of and a record explains. The report's own ledger, which the policy has judged
/// already, knows how often it was seen; where it holds nothing of the record, one occurrence is all that is known.
pub(in crate::domain) fn ruled(
    report: &Report,
    (record, was): (&RecordId, Bearing),
    (policy, models): (&Policy, &[Option<&str>]),
) -> Option<Ruled> {
    let open = report.health.iter().flat_map(|health| &health.open);
    let held = open.filter(|entry| entry.record.as_ref() == Some(record));
    let worst = held.max_by_key(|entry| entry.bearing);
    if let Some(ruled) = worst.and_then(|entry| entry.by_policy.clone()) {
        return Some(Ruled { was, ..ruled });
    }
    let subject = Subject {
        record: Some(record.as_str()),
        models,
        ..Subject::default()
    };
    policy.judge(subject, was)
}

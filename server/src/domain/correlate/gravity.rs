//! What a finding means for its node: bearing, severity and action, as its record says.

use kb_core::observation::bearing;
use kb_core::policy::{Policy, Subject};
use kb_core::report::Bearing;

use crate::feed::Generation;
use crate::store::{Gravity, NewFinding};

/// Notes what the record says, and what the site's policy makes of that. What the agent holds open keeps the agent's words, which its node was judged by.
pub(super) fn of_record(
    generation: &Generation,
    finding: &mut NewFinding,
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
    let subject = Subject {
        record: Some(id.as_str()),
        models,
        ..Subject::default()
    };
    if let Some(ruled) = policy.judge(subject, finding.gravity.bearing) {
        finding.gravity.bearing = ruled.is.bearing();
        finding.by_policy = Some(ruled);
    }
}

//! What a finding means for its node: bearing, severity and action, as its record says.

use kb_core::observation::bearing;
use kb_core::policy::{Policy, Subject};
use kb_core::report::{Bearing, Entry, Report, Ruled};

use super::counted::Counted;
use crate::domain::policy::names::{is_called, is_of_loss, known_as};
use crate::feed::{Generation, PublishedRecord};
use crate::store::{Gravity, NewFinding};

/// Notes what the record says, and what the site's policy makes of that. What the agent holds open keeps the agent's words, which its node was judged by.
pub(super) fn of_record(
    generation: &Generation,
    finding: &mut NewFinding,
    (report, counted): (&Report, &Counted<'_>),
    by: (&Policy, &[Option<&str>]),
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
    let was = finding.gravity.bearing;
    if let Some(ruled) = ruled(generation, (report, counted), (published, was), by) {
        finding.gravity.bearing = ruled.is.bearing();
        finding.by_policy = Some(ruled);
    }
}

/// What the policy makes of something that a report tells of and a record explains. The report's own ledger, which the policy has judged
/// already, knows how often it was seen; where it holds nothing of the record, the logs of the report tell, and else one occurrence is all
/// that is known.
pub(in crate::domain) fn ruled(
    generation: &Generation,
    (report, counted): (&Report, &Counted<'_>),
    (published, was): (&PublishedRecord, Bearing),
    (policy, models): (&Policy, &[Option<&str>]),
) -> Option<Ruled> {
    if policy.rules.is_empty() {
        return None;
    }
    let is_of_record = |entry: &&Entry| {
        let record = entry.record.as_ref();
        record.is_some_and(|id| is_called(generation, published, id))
    };
    let open = report.health.iter().flat_map(|health| &health.open);
    let held = open.filter(is_of_record);
    let worst = held.max_by_key(|entry| entry.bearing);
    if let Some(ruled) = worst.and_then(|entry| entry.by_policy.clone()) {
        return Some(Ruled { was, ..ruled });
    }
    // Rules for an Xid are about the id that agents know.
    let subject = Subject {
        record: Some(known_as(generation, published).as_str()),
        models,
        tells_of_loss: is_of_loss(generation, published),
        ..Subject::default()
    };
    policy.judge_seen(subject, was, counted.seen(published.id(), policy))
}

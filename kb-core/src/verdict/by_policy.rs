//! What the site's policy makes of codes, states and counts that a report shows beside its ledger.

use super::Verdict;
use super::counted::{Counted, named};
use crate::observation::{LineEvent, Look, cause};
use crate::policy::{Policy, Subject, models_at};
use crate::report::{Bearing, Entry, Report, Ruled};

/// States that the facts show as bad: cause, what that means for the node, what is bad.
pub(super) fn bad_states<'l>(
    report: &Report,
    look: &'l Look,
    policy: &Policy,
) -> Vec<(&'static str, Bearing, &'l str)> {
    let states = look.bad_at();
    states
        .map(|(cause, device, bearing, text)| {
            (cause, of_cause(report, policy, (cause, device), bearing), text)
        })
        .collect()
}

/// Whether a state that was read as bad means something else by the policy.
pub(super) fn states_differ(report: &Report, policy: &Policy) -> bool {
    let look = Look::of(report);
    let by_records: Vec<_> = look.bad().collect();
    bad_states(report, &look, policy) != by_records
}

/// What a state or count of a device means for the node; `was` is what it means by the records.
pub(super) fn of_cause(
    report: &Report,
    policy: &Policy,
    (cause, device): (&str, &str),
    was: Bearing,
) -> Bearing {
    let is_same = |entry: &&Entry| entry.cause == cause && entry.device == device;
    let models = models_at(device, &report.gpus);
    let record = cause::watched(cause).and_then(|row| row.record);
    let subject = Subject {
        record,
        cause: Some(cause),
        models: &models,
        ..Subject::default()
    };
    let ruled = decided(report, is_same).or_else(|| policy.judge(subject, was));
    ruled.map_or(was, |ruled| ruled.is.bearing())
}

/// What a line of the kernel log means for the node.
pub(super) fn of_event(report: &Report, policy: &Policy, event: &LineEvent, counted: &Counted) -> Bearing {
    let ruled = ruled_event(report, policy, event, counted);
    ruled.map_or_else(|| event.what.bearing(), |ruled| ruled.is.bearing())
}

/// What the policy makes of a line: in the report's ledger, and else by what its logs tell.
pub(super) fn ruled_event(
    report: &Report,
    policy: &Policy,
    event: &LineEvent,
    counted: &Counted,
) -> Option<Ruled> {
    let was = event.what.bearing();
    let (numbered, record, cause) = named(event);
    let is_same = |entry: &&Entry| {
        entry.cause == cause
            && entry.device == event.device
            && entry.number == numbered.map(|(_, number)| number)
            && entry.record.as_ref().map(crate::ids::RecordId::as_str) == record
    };
    let models = models_at(&event.device, &report.gpus);
    let subject = Subject {
        numbered,
        record,
        cause: Some(cause),
        models: &models,
        ..Subject::default()
    };
    decided(report, is_same).or_else(|| policy.judge_seen(subject, was, &counted.of_event(event)))
}

/// What the policy has made of it in the report's ledger, which knows how often it was seen.
fn decided(report: &Report, is_same: impl Fn(&&Entry) -> bool) -> Option<Ruled> {
    let open = &report.health.as_ref()?.open;
    let entry = open.iter().find(is_same)?;
    entry.by_policy.clone()
}

/// What a bearing comes to for the node; nothing where it says nothing against that.
pub(super) fn verdict_of(bearing: Bearing) -> Option<Verdict> {
    match bearing {
        Bearing::Event => None,
        Bearing::Warning => Some(Verdict::Degraded),
        Bearing::Unknown => Some(Verdict::Unknown),
        Bearing::Fault => Some(Verdict::Broken),
    }
}

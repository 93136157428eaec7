//! What the site's policy makes of codes, states and counts that a report shows beside its ledger.

use crate::observation::{LineEvent, Look, What, cause, known};
use crate::policy::{Policy, Subject, models_at};
use crate::report::{Bearing, Entry, Family, Report};

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
    decided(report, is_same).unwrap_or_else(|| judged(policy, subject, was))
}

/// What a line of the kernel log means for the node.
pub(super) fn of_event(report: &Report, policy: &Policy, event: &LineEvent) -> Bearing {
    let was = event.what.bearing();
    let (numbered, record, cause) = match &event.what {
        What::Numbered { family, number, .. } => {
            let cause = match family {
                Family::Xid => cause::XID,
                Family::Sxid => cause::SXID,
            };
            let record = known(*family, *number).map(|known| known.record.as_str());
            (Some((*family, *number)), record, cause)
        }
        What::RecoveryAction(_) => {
            let record = cause::watched(cause::RECOVERY_ACTION).and_then(|row| row.record);
            (None, record, cause::RECOVERY_ACTION)
        }
        What::Message(record) => (None, *record, cause::KERNEL_MESSAGE),
        What::Bus(record) => (None, Some(*record), cause::KERNEL_MESSAGE),
    };
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
    };
    decided(report, is_same).unwrap_or_else(|| judged(policy, subject, was))
}

/// What the policy has made of it in the report's ledger, which knows how often it was seen.
fn decided(report: &Report, is_same: impl Fn(&&Entry) -> bool) -> Option<Bearing> {
    let open = &report.health.as_ref()?.open;
    let entry = open.iter().find(is_same)?;
    entry.by_policy.as_ref().map(|ruled| ruled.is.bearing())
}

fn judged(policy: &Policy, subject: Subject<'_>, was: Bearing) -> Bearing {
    policy.judge(subject, was).map_or(was, |ruled| ruled.is.bearing())
}

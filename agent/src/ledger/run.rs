//! What a run that was not the daemon's adds to what is open.

use kb_core::health::{Health, Ledger, LogPlace, Look, Missed, Occurrence, Place, Scope, read_message};
use kb_core::policy::Policy;
use kb_core::report::{Report, When};
use kb_core::verdict::not_admitted;
use time::OffsetDateTime;

use crate::host::{self, HostRoot, LogEvents};

use super::{KERNEL_LOG, look_at, see_bus, sees_all, without_ledger};

pub(super) struct Taken {
    pub(super) health: Health,
    /// False where nothing tells what the kernel log had before the run.
    pub(super) knows_log: bool,
}

/// What a run says of its GPUs where no ledger is kept.
pub(crate) fn of_run_alone(report: &Report, scope: Scope, policy: &Policy) -> Health {
    beside(&mut Ledger::default(), report, scope, policy)
}

/// What a run says of its GPUs beside what the daemon of another user tells; nothing where there is no such daemon.
pub(crate) fn of_run_beside(
    told: Result<Option<Ledger>, String>,
    report: &Report,
    scope: Scope,
    policy: &Policy,
) -> Option<Health> {
    match told {
        Ok(ledger) => ledger.map(|mut ledger| beside(&mut ledger, report, scope, policy)),
        Err(why) => Some(without_ledger(of_run_alone(report, scope, policy), &why)),
    }
}

fn beside(ledger: &mut Ledger, report: &Report, scope: Scope, policy: &Policy) -> Health {
    let mut look = look_at(report, scope);
    look.events = during(report);
    concluded(ledger, look, (report, scope), policy)
}

/// Goes on in the kernel log where the last look or run ended, so that no line counts twice or is missed. Of another log than that of
/// the daemon, which may be in a container, only what the report has counts, and the place stays.
pub(super) fn take_in(
    ledger: &mut Ledger,
    root: &HostRoot,
    (report, scope): (&Report, Scope),
    policy: &Policy,
    now: OffsetDateTime,
) -> Taken {
    let mut look = look_at(report, scope);
    let LogEvents {
        occurrences,
        place,
        missed,
        unread,
    } = host::events_of_run(root, report.node.boot_id.as_deref(), ledger.log.as_ref(), now);
    let knows_log = unread.is_none() || ledger.log.is_some();
    let boot = report.node.boot_id.as_deref();
    // What an earlier boot was read from says nothing of what this one is read from.
    let is_of_new_boot = boot.is_some()
        && ledger
            .log
            .as_ref()
            .is_some_and(|log| log.boot_id.as_deref() != boot);
    if is_of_new_boot || is_same_log(ledger.log.as_ref(), place.as_ref()) {
        look.events = occurrences;
        if unread.is_some() || missed != Missed::Nothing {
            add_missing(&mut look.events, during(report));
        }
        look.missed = missed;
        if let Some(why) = unread {
            look.unread(KERNEL_LOG, &why);
        }
        ledger.log = place;
    } else {
        look.events = during(report);
    }
    look.sees_all = sees_all(root);
    see_bus(&mut look, root);
    Taken {
        health: concluded(ledger, look, (report, scope), policy),
        knows_log,
    }
}

fn concluded(ledger: &mut Ledger, look: Look, (report, scope): (&Report, Scope), policy: &Policy) -> Health {
    ledger.look(&look);
    let is_log_unread = look.unread.iter().any(|unread| unread.what == KERNEL_LOG);
    // A run ends nothing as an admission where the log may hold something against the node.
    if !(is_log_unread && not_admitted(report).is_none()) {
        ledger.proof(report, policy);
    }
    ledger.health(look.unread).about(scope == Scope::All)
}

pub(super) fn is_same_log(then: Option<&LogPlace>, now: Option<&LogPlace>) -> bool {
    let (Some(then), Some(now)) = (then, now) else {
        return true;
    };
    match (&then.place, &now.place) {
        (Place::Kmsg { .. }, Place::Kmsg { .. }) => true,
        // A file that was rotated lies beside the one that took its place.
        (Place::File { device: then, .. }, Place::File { device: now, .. }) => then == now,
        _ => false,
    }
}

fn add_missing(events: &mut Vec<Occurrence>, more: Vec<Occurrence>) {
    for new in more {
        let is_known =
            |known: &Occurrence| known.event.device == new.event.device && known.event.text == new.event.text;
        if !events.iter().any(is_known) {
            events.push(new);
        }
    }
}

/// What the report itself has of the kernel log while it was made.
fn during(report: &Report) -> Vec<Occurrence> {
    let logs = report.logs.iter().filter(|log| log.when == When::During);
    let events = logs.flat_map(|log| log.text.lines()).filter_map(read_message);
    events
        .map(|event| Occurrence {
            event,
            at: report.finished_at.clone(),
            boot_id: report.node.boot_id.clone(),
            is_in_doubt: false,
        })
        .collect()
}

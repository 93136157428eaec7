//! The file of the ledger: what is open on this node, kept in the state folder from look to look.

mod file;
mod whose;

use std::cmp::Reverse;

use kb_core::health::{
    Health, LEDGER, Ledger, LogPlace, Look, Missed, Occurrence, Place, Scope, Unread, read_message,
};
use kb_core::report::{Gpu, Report, When};
use kb_core::verdict::cause;
use time::OffsetDateTime;

use crate::host::{self, HostRoot, LogEvents};

pub(crate) use file::{Changed, LedgerFile, Unkept};
pub(crate) use whose::{Folders, OF_THE_NODE, folders, owner};

/// The result of the last look, which the daemon keeps beside it.
pub(crate) const LAST_LOOK: &str = "last-passive.json";

impl LedgerFile {
    /// Takes in a run that was not the daemon's: what it read of the GPUs' states, and what it proved. What the kernel log
    /// has told since the daemon's last look counts for the answer; the daemon takes it in by itself. What is known of a
    /// ledger that cannot be read is only what the run itself saw.
    pub(crate) fn note_run(
        &self,
        root: &HostRoot,
        report: &Report,
        scope: Scope,
        now: OffsetDateTime,
    ) -> Changed<Health> {
        let noted = self.update(now, report.node.boot_id.as_deref(), |ledger| {
            let log = since_the_daemon(root, report, ledger.log.as_ref(), now);
            take_in_run(ledger, (report, scope), log)
        });
        noted.unwrap_or_else(|why| Changed {
            value: without_ledger(of_run_alone(report, scope), &why),
            unkept: Some(why),
        })
    }

    /// Takes in what a report and the kernel log say, and tells what is known then. That it could not be kept is told in
    /// the answer; `unkept` has what the file does not.
    pub(crate) fn observe(
        &self,
        root: &HostRoot,
        report: &Report,
        scope: Scope,
        now: OffsetDateTime,
        unkept: &mut Option<Unkept>,
    ) -> Health {
        let boot_id = report.node.boot_id.as_deref();
        let changed = self.update_with(now, boot_id, unkept, |ledger| {
            take_in(ledger, root, (report, scope), now)
        });
        match changed.unkept {
            Some(why) => without_ledger(changed.value, &why),
            None => changed.value,
        }
    }
}

/// What a run says of its GPUs where no ledger is kept.
pub(crate) fn of_run_alone(report: &Report, scope: Scope) -> Health {
    take_in_run(&mut Ledger::default(), (report, scope), None)
}

/// What a run says of its GPUs beside what the daemon of another user tells; nothing where there is no such daemon.
pub(crate) fn of_run_beside(
    told: Result<Option<Ledger>, String>,
    report: &Report,
    scope: Scope,
) -> Option<Health> {
    match told {
        Ok(ledger) => ledger.map(|mut ledger| take_in_run(&mut ledger, (report, scope), None)),
        Err(why) => Some(without_ledger(of_run_alone(report, scope), &why)),
    }
}

/// What two ledgers hold, worst first. Of an entry that both have, the worse one counts.
pub(crate) fn both(mut own: Health, beside: Health) -> Health {
    for entry in beside.open {
        match own.open.iter_mut().find(|known| known.id == entry.id) {
            None => own.open.push(entry),
            Some(known) if entry.bearing > known.bearing => *known = entry,
            Some(_) => {}
        }
    }
    own.open.sort_by_key(|entry| Reverse(entry.bearing));
    own.unread.extend(beside.unread);
    own.verdict = own.verdict.max(beside.verdict);
    own
}

/// True where a lost GPU may have shifted the numbers of these.
pub(crate) fn numbers_are_in_doubt(health: &Health, gpus: &[Gpu]) -> bool {
    let mut lost = health.open.iter().filter(|entry| entry.cause == cause::GPU_LOST);
    lost.any(|entry| host::shifts_numbers(&entry.device, gpus))
}

/// `log`: what was told since the daemon's last look. Where that is not known, or not all of it, what the report itself has
/// counts.
fn take_in_run(ledger: &mut Ledger, (report, scope): (&Report, Scope), log: Option<LogEvents>) -> Health {
    let mut look = look_at(report, scope);
    let mut known = ledger.clone();
    ledger.look(&look);
    ledger.proof(report);
    look.events = during(report);
    if let Some(log) = log {
        if log.unread.is_none() && log.missed == Missed::Nothing {
            look.events = log.occurrences;
        }
        look.missed = log.missed;
        if let Some(why) = log.unread {
            look.unread("kernel_log", &why);
        }
    }
    known.look(&look);
    known.proof(report);
    known.health(look.unread).about(scope == Scope::All)
}

/// What the kernel log has told behind the place to which the daemon has read it; nothing where this process sees another
/// log.
fn since_the_daemon(
    root: &HostRoot,
    report: &Report,
    from: Option<&LogPlace>,
    now: OffsetDateTime,
) -> Option<LogEvents> {
    let from = from?;
    let log = host::events(root, report.node.boot_id.as_deref(), Some(from), now);
    let is_same = match (&log.place.as_ref()?.place, &from.place) {
        (Place::Kmsg { .. }, Place::Kmsg { .. }) => true,
        (Place::File { inode, .. }, Place::File { inode: then, .. }) => inode == then,
        _ => false,
    };
    is_same.then_some(log)
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
        })
        .collect()
}

fn take_in(
    ledger: &mut Ledger,
    root: &HostRoot,
    (report, scope): (&Report, Scope),
    now: OffsetDateTime,
) -> Health {
    let mut look = look_at(report, scope);
    let boot_id = report.node.boot_id.as_deref();
    let LogEvents {
        occurrences,
        place,
        missed,
        unread,
    } = host::events(root, boot_id, ledger.log.as_ref(), now);
    look.events = occurrences;
    look.missed = missed;
    if let Some(why) = unread {
        look.unread("kernel_log", &why);
    }
    ledger.log = place;
    ledger.look(&look);
    ledger.proof(report);
    ledger.health(look.unread).about(scope == Scope::All)
}

fn look_at(report: &Report, scope: Scope) -> Look {
    match scope {
        Scope::All => Look::of_all(report),
        Scope::Part => Look::of(report),
    }
}

/// What is known where the ledger could not be read or kept.
pub(crate) fn without_ledger(health: Health, why: &str) -> Health {
    let unread = Unread {
        what: LEDGER.to_owned(),
        why: why.to_owned(),
    };
    health.with_unread(unread)
}

#[cfg(test)]
mod tests;

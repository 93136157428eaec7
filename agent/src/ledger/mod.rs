//! The file of the ledger: what is open on this node, kept in the state folder from look to look.

mod file;
mod kept;
mod run;
mod whose;

use std::cmp::Reverse;

use kb_core::health::{Health, LEDGER, Ledger, Look, Scope, Unread, What};
use kb_core::policy::Policy;
use kb_core::report::{Gpu, Report};
use kb_core::verdict::cause;
use time::OffsetDateTime;

use crate::host::{self, HostRoot, LogEvents, Visibility};

pub(crate) use file::{ABOUT, Changed, LedgerFile, Unkept};
pub(crate) use run::{of_run_alone, of_run_beside};
pub(crate) use whose::{Folders, OF_THE_NODE, folders, owner};

/// The kernel log, among the things that could not be read.
pub(crate) const KERNEL_LOG: &str = "kernel_log";

/// The result of the last look, which the daemon keeps beside it.
pub(crate) const LAST_LOOK: &str = "last-passive.json";

impl LedgerFile {
    /// Takes in a run that was not the daemon's, as a look: what it read of the GPUs' states, what the kernel log has told since
    /// the last look or run, and what the run proved. What is known of a ledger that cannot be read is only what the run itself saw.
    pub(crate) fn note_run(
        &self,
        root: &HostRoot,
        report: &Report,
        scope: Scope,
        now: OffsetDateTime,
    ) -> Changed<Health> {
        let policy = self.policy(Some(&report.node));
        let noted = self.update_by(now, Some(&report.node), &policy, |ledger| {
            run::take_in(ledger, root, (report, scope), &policy, now)
        });
        match noted {
            Ok(Changed { value, order, unkept }) => Changed {
                value: match &unkept {
                    None => value.health,
                    Some(why) => {
                        let health = value.health.without_places_after(order.as_ref());
                        if value.knows_log {
                            health
                        } else {
                            // Neither a file nor the log tells what was before the run.
                            without_ledger(health, why)
                        }
                    }
                },
                order,
                unkept,
            },
            Err(why) => Changed {
                value: without_ledger(of_run_alone(report, scope, &policy), &why),
                order: None,
                unkept: Some(why),
            },
        }
    }

    /// Takes in a report and the kernel log, and tells what is known, also that it was not kept; `unkept` is what the file lacks.
    pub(crate) fn observe(
        &self,
        root: &HostRoot,
        (report, scope): (&Report, Scope),
        policy: &Policy,
        now: OffsetDateTime,
        unkept: &mut Option<Unkept>,
    ) -> Health {
        let changed = self.update_with(now, (Some(&report.node), policy), unkept, |ledger| {
            take_in(ledger, root, (report, scope), policy, now)
        });
        match changed.unkept {
            Some(why) => {
                let health = changed.value.without_places_after(changed.order.as_ref());
                without_ledger(health, &why)
            }
            None => changed.value,
        }
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

fn take_in(
    ledger: &mut Ledger,
    root: &HostRoot,
    (report, scope): (&Report, Scope),
    policy: &Policy,
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
    look.events = if run::is_same_log(ledger.log.as_ref(), place.as_ref()) {
        occurrences
    } else {
        // All of this boot is read anew, as behind the first run of a boot that has another log than the daemon, in a container.
        ledger.without_counted(occurrences)
    };
    look.missed = missed;
    if let Some(why) = unread {
        look.unread(KERNEL_LOG, &why);
    }
    ledger.log = place;
    look.sees_all = sees_all(root);
    see_bus(&mut look, root);
    ledger.look(&look);
    ledger.proof(report, policy);
    ledger.health(look.unread).about(scope == Scope::All)
}

/// A line about a device of the bus is read once, and is of all GPUs that it is about, whichever this look is at.
fn see_bus(look: &mut Look, root: &HostRoot) {
    for (gpu, above) in host::gpus_on_bus(root) {
        look.bus.add_gpu(&gpu, &above);
    }
    if look
        .events
        .iter()
        .any(|seen| matches!(seen.event.what, What::Bus(_)))
    {
        look.bus.add_others(host::others_on_bus(root));
    }
}

/// False where the GPUs of an earlier boot may be there, and granted to others.
fn sees_all(root: &HostRoot) -> bool {
    let visible = std::env::var("NVIDIA_VISIBLE_DEVICES").ok();
    !matches!(
        host::visibility(root, visible.as_deref()),
        Visibility::Confined(_)
    )
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

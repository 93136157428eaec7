//! `peerless-agent status`: what the daemon found last, where it still tells of this node.

use std::time::Duration;

use kb_core::health::{
    ENDS_BY, Entry, Health, LEDGER, Ledger, conclude, health_by, made_milder, milder_sentence,
    needs_admission,
};
use kb_core::observation::{open_entry, open_faults};
use kb_core::policy::Policy;
use kb_core::report::Report;
use kb_core::verdict::{ExitCode, Verdict};
use time::OffsetDateTime;

use super::print;
use super::result::{Here, Made, Untold};
use crate::cli::StatusArgs;
use crate::clock::{Clock as _, SystemClock};
use crate::files::{Room, room};
use crate::ledger::{LedgerFile, without_ledger};
use crate::policy::doubt;
use crate::process::say;
use crate::upload::unusable_credential;

/// What the ledger's file holds, or why it cannot be read.
type Kept = Result<Option<Ledger>, String>;

pub(crate) fn status(arguments: &StatusArgs) -> anyhow::Result<u8> {
    let now = SystemClock.now();
    let ledger = arguments.state.ledger();
    let here = Here::of(&arguments.here, &arguments.state.folder());
    if let Some(why) = unusable_credential(&arguments.state.folder()) {
        say(&format!("the daemon's reports wait in its spool: {why}"));
    }
    let (report, policy) = match known(arguments, &ledger, &here, now) {
        Ok(known) => known,
        Err(untold) => {
            let fault = untold.open_fault(&ledger, &here).filter(|_| !arguments.alive);
            if let Some(fault) = fault {
                print(&format!("{}: {fault}\n", Verdict::Broken.phrase()))?;
                return Ok(ExitCode::Fault.number());
            }
            say(&untold.why);
            return Ok(ExitCode::Unknown.number());
        }
    };
    let conclusion = &report.conclusion;
    // The reason of a look has it.
    let milder = milder_sentence(&made_milder(&report)).filter(|_| report.was_tried());
    let milder = milder.map_or_else(String::new, |told| format!("{told}; "));
    // In the first line, which is all that the gates take, and in front of what may be cut.
    let doubt = doubt(&policy).map_or_else(String::new, |told| format!("{told}; "));
    print(&format!(
        "{}: {doubt}{milder}{}\n{}",
        conclusion.verdict.phrase(),
        conclusion.reason,
        by_which(&policy)
    ))?;
    let mut faults = open_faults(&report).filter(|_| !arguments.alive);
    if let Some(fault) = faults.find(|fault| needs_admission(fault)) {
        say(&format!("{}: {ENDS_BY}", fault.id));
    }
    Ok(if arguments.alive {
        0
    } else {
        arguments.fail_on.exit_code(&report)
    })
}

/// By which policy the node is judged, where the site has one.
fn by_which(policy: &Policy) -> String {
    if policy.rules.is_empty() && policy.version == Policy::default().version {
        String::new()
    } else {
        format!("judged by policy {} of the site\n", policy.version)
    }
}

fn known(
    arguments: &StatusArgs,
    ledger: &LedgerFile,
    here: &Here,
    now: OffsetDateTime,
) -> Result<(Report, Policy), Untold> {
    let file = arguments.state.file(!arguments.passive);
    let made = Made::read(&file)?;
    made.check_status(here, now)?;
    let age = made.age(here, now);
    if age > Duration::from_hours(arguments.max_age) {
        let hours = age.as_secs() / 3600;
        return Err(Untold::old(format!(
            "{}: the result is {hours} hours old",
            file.display()
        )));
    }
    let mut report = made.report.clone();
    let node = here.as_node();
    let policy = ledger.policy(node.as_ref());
    if arguments.passive {
        bring_up_to_date(&mut report, ledger.read(node.as_ref()), &policy, now);
    } else {
        add_open_faults(&mut report, ledger.read(node.as_ref()), &policy).map_err(Untold::old)?;
    }
    // What was seen after a folder became read-only is not in its files. A fault that is in them is open all the same.
    if !arguments.alive && report.conclusion.verdict <= Verdict::Unknown {
        let folder = arguments.state.folder();
        let read_only = || {
            format!(
                "{}: the file system is read-only, so that no look is kept",
                folder.display()
            )
        };
        match room(&folder) {
            Room::ReadOnly => return Err(Untold::old(read_only())),
            Room::ReadOnlyHere if arguments.passive => made.check_age(here, now)?,
            Room::ReadOnlyHere | Room::Full | Room::Some => {}
        }
    }
    Ok((report, policy))
}

/// Concludes a look anew from the ledger, which may have changed since. What it could not keep is in its own result alone.
fn bring_up_to_date(report: &mut Report, ledger: Kept, policy: &Policy, now: OffsetDateTime) {
    // Of an agent that kept no ledger.
    let Some(health) = &report.health else { return };
    let unread = health.unread.clone();
    let health = match ledger {
        Ok(Some(mut ledger)) => {
            ledger.add_open(unkept(health));
            ledger.health(unread)
        }
        Ok(None) => without_ledger(health.clone(), "it is not there any more"),
        Err(why) => without_ledger(health.clone(), &why),
    };
    let health = health_by(policy, health, &report.gpus);
    conclude(report, health, now);
}

/// A run that worked ends no open fault or warning of the ledger. Without a ledger only what the run itself found is told.
fn add_open_faults(report: &mut Report, ledger: Kept, policy: &Policy) -> Result<(), String> {
    let Some(health) = &report.health else {
        return Ok(());
    };
    let is_fault = report.conclusion.verdict > Verdict::Unknown;
    match ledger {
        Ok(Some(mut ledger)) => {
            ledger.add_open(unkept(health));
            let known = ledger.health(health.unread.clone());
            let known = known.about(health.whole_node);
            report.health = Some(health_by(policy, known, &report.gpus));
        }
        _ if is_fault => return Ok(()),
        Ok(None) => return Err("the ledger is not there any more: what was open is not known".to_owned()),
        Err(why) => {
            return Err(format!(
                "the ledger cannot be read, so what is open is not known: {why}"
            ));
        }
    }
    let open = open_entry(report)
        .filter(|(verdict, _)| !is_fault && *verdict > report.conclusion.verdict)
        .map(|(verdict, entry)| {
            let open = format!("{} is open on {}: {}", entry.cause, entry.device, entry.text);
            (verdict, open)
        });
    if let Some((verdict, open)) = open {
        let conclusion = &mut report.conclusion;
        conclusion.reason = format!("{open}; the last run: {}", conclusion.reason);
        conclusion.verdict = verdict;
    }
    Ok(())
}

/// What was open by a result whose ledger could not be kept.
fn unkept(health: &Health) -> Vec<Entry> {
    let is_kept = health.unread.iter().all(|unread| unread.what != LEDGER);
    if is_kept { Vec::new() } else { health.open.clone() }
}

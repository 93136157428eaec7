//! `peerless-agent status`: what the daemon found last, where it still tells of this node.

use std::time::Duration;

use kb_core::health::conclude;
use kb_core::observation::open_faults;
use kb_core::report::Report;
use kb_core::verdict::{ExitCode, Verdict};
use time::OffsetDateTime;

use super::print;
use super::result::{Here, Made};
use crate::cli::StatusArgs;
use crate::clock::{Clock as _, SystemClock};
use crate::ledger::{LedgerFile, without_ledger};
use crate::process::say;

pub(crate) fn status(arguments: &StatusArgs) -> anyhow::Result<u8> {
    let now = SystemClock.now();
    let told = last(arguments, now).and_then(|mut report| {
        let ledger = arguments.state.ledger();
        if arguments.passive {
            bring_up_to_date(&mut report, &ledger, now);
        } else {
            add_open_faults(&mut report, &ledger)?;
        }
        Ok(report)
    });
    let report = match told {
        Ok(report) => report,
        Err(why) => {
            say(&why);
            return Ok(ExitCode::Unknown.number());
        }
    };
    let conclusion = &report.conclusion;
    print(&format!(
        "{}: {}\n",
        conclusion.verdict.phrase(),
        conclusion.reason
    ))?;
    Ok(if arguments.alive {
        0
    } else {
        arguments.fail_on.exit_code(&report)
    })
}

fn last(arguments: &StatusArgs, now: OffsetDateTime) -> Result<Report, String> {
    let file = arguments.state.file(!arguments.passive);
    let made = Made::read(&file)?;
    made.check_status(&Here::of(&arguments.here, &arguments.state.folder()), now)?;
    let age = Duration::try_from(now - OffsetDateTime::from(made.finished)).unwrap_or_default();
    if age > Duration::from_hours(arguments.max_age) {
        return Err(format!(
            "{}: the result is {} hours old",
            file.display(),
            age.as_secs() / 3600
        ));
    }
    Ok(made.report)
}

/// Concludes a look anew from the ledger: something may have been cleared or proven since.
fn bring_up_to_date(report: &mut Report, ledger: &LedgerFile, now: OffsetDateTime) {
    // Of an agent that kept no ledger.
    let Some(health) = &report.health else { return };
    let unread = health.unread.clone();
    let health = match ledger.read() {
        Ok(Some(ledger)) => ledger.health(unread),
        Ok(None) => without_ledger(health.clone(), "it is not there any more"),
        Err(why) => without_ledger(health.clone(), &why),
    };
    conclude(report, health, now);
}

/// A run that worked ends no fault that the ledger holds open. What was open is not known without the ledger: then only a
/// fault that the run itself found is told.
fn add_open_faults(report: &mut Report, ledger: &LedgerFile) -> Result<(), String> {
    let Some(health) = &report.health else {
        return Ok(());
    };
    let is_fault = report.conclusion.verdict > Verdict::Unknown;
    match ledger.read() {
        Ok(Some(ledger)) => {
            let known = ledger.health(health.unread.clone());
            report.health = Some(known.about(health.whole_node));
        }
        _ if is_fault => return Ok(()),
        Ok(None) => return Err("the ledger is not there any more: what was open is not known".to_owned()),
        Err(why) => {
            return Err(format!(
                "the ledger cannot be read, so what is open is not known: {why}"
            ));
        }
    }
    let open = open_faults(report)
        .next()
        .map(|entry| format!("{} is open on {}: {}", entry.cause, entry.device, entry.text));
    if let (Some(open), false) = (open, is_fault) {
        let conclusion = &mut report.conclusion;
        conclusion.reason = format!("{open}; the last run: {}", conclusion.reason);
        conclusion.verdict = Verdict::Broken;
    }
    Ok(())
}

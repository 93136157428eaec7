//! `peerless-agent daemon`: looks again and again, and disturbs nobody. `status` tells what it found last.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use kb_core::report::Report;
use kb_core::verdict::ExitCode;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::cli::{DaemonArgs, StatusArgs};
use crate::clock::{Clock as _, SystemClock};
use crate::files::write_whole;
use crate::output;
use crate::probe::{self, Depth};
use crate::process::say;
use crate::upload::{Body, Spool, Uploader};

use super::{make_report, print, say_reason};

/// Looks until it is ended. What one round cannot do is said, and the next round tries again.
pub(crate) fn daemon(arguments: &DaemonArgs) -> anyhow::Result<u8> {
    let uploader = match &arguments.server {
        Some(server) => Some(arguments.access.uploader(server)?),
        None => None,
    };
    let spool = arguments.spool.spool();
    let mut idle_since: Option<Instant> = None;
    let mut last_active: Option<Instant> = None;
    loop {
        let mut report = make_report(&arguments.run, Depth::Passive, false)?;
        settle(arguments, &report, false, &spool, uploader.as_ref());
        idle_since = probe::is_idle(&report).then(|| idle_since.unwrap_or_else(Instant::now));
        if arguments.active && is_due(arguments, idle_since, last_active) {
            // The run looks again before it takes anything, and behind it whether it was alone.
            report = make_report(&arguments.run, Depth::Full, false)?;
            last_active = Some(Instant::now());
            settle(arguments, &report, true, &spool, uploader.as_ref());
        }
        if arguments.once {
            return Ok(arguments.run.exit_code(&report));
        }
        std::thread::sleep(wait(arguments.interval));
    }
}

/// A tenth of the interval is left to chance: a fleet that was switched on together does not stay in step.
fn wait(interval: Duration) -> Duration {
    let part = u32::try_from(getrandom::u64().unwrap_or_default() % 1024).unwrap_or_default();
    // From nine tenths to eleven.
    interval * 9 / 10 + interval / 10 * part / 512
}

fn is_due(arguments: &DaemonArgs, idle_since: Option<Instant>, last_active: Option<Instant>) -> bool {
    let idle = Duration::from_mins(arguments.idle_minutes);
    let between = Duration::from_hours(arguments.active_every);
    idle_since.is_some_and(|since| since.elapsed() >= idle)
        && last_active.is_none_or(|last| last.elapsed() >= between)
}

/// Keeps the result here, and sends it where there is somebody to send it to.
fn settle(arguments: &DaemonArgs, report: &Report, active: bool, spool: &Spool, uploader: Option<&Uploader>) {
    let said = |what: &str, result: anyhow::Result<()>| {
        if let Err(error) = result {
            say(&format!("{what}: {error:#}"));
        }
    };
    say_reason(report);
    let state = arguments.state.file(active);
    let written = serde_json::to_vec(report)
        .map_err(Into::into)
        .and_then(|json| write_whole(&state, &json).with_context(|| format!("write {}", state.display())));
    said("the result is not kept", written);
    if let Some(uploader) = uploader {
        said("the report waits", upload(arguments, report, spool, uploader));
    }
    if let Some(path) = &arguments.metrics_file {
        let text = output::metrics(report, active, spool.kept().len());
        let written = write_whole(path, text.as_bytes()).with_context(|| format!("write {}", path.display()));
        said("no metrics", written);
    }
}

/// On disk first; then with all that waits, oldest first, one try each: the next round is the next try.
fn upload(arguments: &DaemonArgs, report: &Report, spool: &Spool, uploader: &Uploader) -> anyhow::Result<()> {
    let (report, body) = Body::redacted(report, &arguments.redact)?;
    let kept = spool.keep(&report.report_id, &body)?;
    for line in kept.removed.iter().chain(&spool.drain(uploader)) {
        say(line);
    }
    Ok(())
}

/// The last result: one line, and its exit code.
pub(crate) fn status(arguments: &StatusArgs) -> anyhow::Result<u8> {
    let path = arguments.state.file(!arguments.passive);
    match last(&path, SystemClock.now(), arguments.max_age) {
        Ok(report) => {
            let conclusion = &report.conclusion;
            print(&format!("{}: {}\n", conclusion.verdict.word(), conclusion.reason))?;
            Ok(if arguments.alive {
                0
            } else {
                arguments.fail_on.exit_code(&report)
            })
        }
        Err(why) => {
            say(&format!("{}: {why}", path.display()));
            Ok(ExitCode::Unknown.number())
        }
    }
}

fn last(path: &Path, now: OffsetDateTime, max_age_hours: u64) -> Result<Report, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("no result: {error}"))?;
    let report: Report = serde_json::from_slice(&bytes).map_err(|error| format!("no result: {error}"))?;
    let finished = OffsetDateTime::parse(&report.finished_at, &Rfc3339).map_err(|error| error.to_string())?;
    let age = Duration::try_from(now - finished).unwrap_or_default();
    if age > Duration::from_hours(max_age_hours) {
        return Err(format!("the result is {} hours old", age.as_secs() / 3600));
    }
    Ok(report)
}

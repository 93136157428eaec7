//! `peerless-agent daemon`: looks again and again, and disturbs nobody.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use kb_core::health::{Health, tell_by};
use kb_core::ids::NodeId;
use kb_core::report::Report;
use kb_core::verdict::{ExitCode, Verdict};
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::cli::DaemonArgs;
use crate::clock::{Clock as _, SystemClock, seconds_since_boot};
use crate::drained::Drained;
use crate::files::{FOR_ALL, FOR_OWNER, read_plain, write_whole};
use crate::host;
use crate::ledger::{ABOUT, Unkept};
use crate::output;
use crate::policy::{PolicyFile, stamp};
use crate::probe::{self, Depth};
use crate::process::say;
use crate::upload::{Body, ConfigurationError, Pace, Spool, Uploader, credential_file};

use super::enrol::Joining;
use super::{make_report, say_reason};

struct Daemon<'a> {
    arguments: &'a DaemonArgs,
    spool: Spool,
    /// None without a server, and until the node has its credential.
    uploader: Option<Uploader>,
    passive: Option<Report>,
    /// The last run of the ladder, also from before this process began.
    active: Option<Report>,
    health: Option<Health>,
    pace: Pace,
    /// What the ledger's file does not have yet.
    unkept: Option<Unkept>,
    /// A report could be neither kept nor sent.
    has_lost: bool,
}

/// Looks until it is ended. What one round cannot do is said, and the next round tries again.
pub(crate) fn daemon(arguments: &DaemonArgs) -> anyhow::Result<u8> {
    let uploader = match &arguments.server {
        Some(server) if !waits_for_credential(arguments) => match uploader(arguments, server) {
            Ok(uploader) => Some(uploader),
            // A file that was cut or spoiled is no setting: the node is looked at all the same, and each look tells of it.
            Err(ConfigurationError::Credential { .. }) => None,
            Err(error) => return Err(error.into()),
        },
        _ => None,
    };
    let mut daemon = Daemon {
        arguments,
        spool: arguments.spool.spool(),
        uploader,
        passive: None,
        // Where there is none that can be read, the next run makes one.
        active: read(&arguments.state.file(true)).ok(),
        health: None,
        pace: Pace::default(),
        unkept: None,
        has_lost: false,
    };
    if !arguments.once {
        tell_of_itself(arguments);
    }
    let of = (&arguments.run, &arguments.state);
    let mut idle_since: Option<Instant> = None;
    loop {
        let report = make_report(of, Depth::Passive, false)?;
        daemon.refresh_policy(&report.node.id);
        let report = daemon.observed(report);
        let mut exit_code = arguments.run.exit_code(&report);
        // While another agent has the GPUs, nothing is known of who else has.
        if !probe::was_locked_out(&report) {
            idle_since = probe::is_idle(&report).then(|| idle_since.unwrap_or_else(Instant::now));
        }
        daemon.settle(report, false);
        if arguments.active && daemon.is_due(idle_since) {
            // The run looks again before it takes anything, and behind it whether it was alone.
            let report = make_report(of, Depth::Full, false)?;
            if probe::was_locked_out(&report) {
                // No run: the last one stands, and the next round tries again.
                exit_code = exit_code.max(arguments.run.exit_code(&report));
                say_reason(&report);
            } else {
                let report = daemon.observed(report);
                exit_code = arguments.run.exit_code(&report);
                daemon.settle(report, true);
            }
        }
        if arguments.once {
            // What was asked for was not done, as with `report`.
            let least = u8::from(daemon.has_lost) * ExitCode::Warning.number();
            return Ok(exit_code.max(least));
        }
        std::thread::sleep(wait(arguments.interval));
    }
}

/// Without it, readers take the default for the interval, and name the node themselves.
fn tell_of_itself(arguments: &DaemonArgs) {
    let path = arguments.state.folder().join(ABOUT);
    let own = host::node(&arguments.run.host_root()).ok();
    let id = arguments.run.node_id.as_ref().or(own.as_ref().map(|own| &own.id));
    let about = serde_json::json!({
        "interval_seconds": arguments.interval.as_secs_f64(),
        "node_id": id,
        "boot_id": own.as_ref().and_then(|own| own.boot_id.as_ref()),
    });
    if let Err(error) = write_whole(&path, about.to_string().as_bytes(), FOR_ALL) {
        say(&format!("{}: {error}", path.display()));
    }
}

/// A tenth of the interval is left to chance: a fleet that was switched on together does not stay in step.
fn wait(interval: Duration) -> Duration {
    let part = u32::try_from(getrandom::u64().unwrap_or_default() % 1024).unwrap_or_default();
    // From nine tenths to eleven.
    interval * 9 / 10 + interval / 10 * part / 512
}

impl Daemon<'_> {
    fn is_due(&self, idle_since: Option<Instant>) -> bool {
        let between = Duration::from_hours(self.arguments.active_every);
        let last = self.active.as_ref().and_then(|report| finished(report).ok());
        // A run that ended in the future, by a clock that was set back since, counts for nothing.
        let age = last.and_then(|last| Duration::try_from(SystemClock.now() - last).ok());
        age.is_none_or(|age| age >= between) && idle_since.is_some_and(|since| self.may_begin(since))
    }

    fn may_begin(&self, idle_since: Instant) -> bool {
        if idle_since.elapsed() >= Duration::from_mins(self.arguments.idle_minutes) {
            return true;
        }
        let drained = self.arguments.drained_by.as_ref().map(Drained::is_so);
        match drained {
            Some(Ok(drained)) => drained,
            Some(Err(why)) => {
                say(&format!("whether the node is drained cannot be told: {why}"));
                false
            }
            None => false,
        }
    }

    /// Before the look is judged: what the site decided meanwhile counts for it. A server that asks to be left alone is.
    fn refresh_policy(&self, node: &NodeId) {
        if let Some(uploader) = self
            .uploader
            .as_ref()
            .filter(|_| self.pace.may_send(Instant::now()))
        {
            PolicyFile::of(&self.arguments.state.folder()).refresh(uploader, node, &say);
        }
    }

    fn observed(&mut self, mut report: Report) -> Report {
        let now = SystemClock.now();
        let ledger = self.arguments.state.ledger();
        let policy = ledger.policy(Some(&report.node));
        stamp(&mut report, &policy);
        let health = ledger.observe(
            &self.arguments.run.host_root(),
            (&report, self.arguments.run.scope()),
            &policy,
            now,
            &mut self.unkept,
        );
        tell_by(&policy, &mut report, health, now);
        report
    }

    fn settle(&mut self, report: Report, active: bool) {
        let said = |what: &str, result: anyhow::Result<()>| {
            if let Err(error) = result {
                say(&format!("{what}: {error:#}"));
            }
        };
        say_reason(&report);
        let state = self.arguments.state.file(active);
        if read(&state).is_ok_and(|before| hides_a_fault(&report, &before)) {
            say("the last look that could tell found a fault: its result stays");
        } else {
            said("the result is not kept", keep(&state, &report));
        }
        said("the report cannot be sent", self.upload(&report));
        self.health.clone_from(&report.health);
        let last = if active {
            &mut self.active
        } else {
            &mut self.passive
        };
        *last = Some(report);
        if let Some(path) = &self.arguments.metrics_file {
            let kinds = [("passive", &self.passive), ("active", &self.active)];
            let runs: Vec<(&str, &Report)> = kinds
                .into_iter()
                .filter_map(|(kind, report)| Some((kind, report.as_ref()?)))
                .collect();
            let text = output::metrics(&runs, self.health.as_ref(), self.spool.kept().len());
            let written = write_whole(path, text.as_bytes(), FOR_ALL)
                .with_context(|| format!("write {}", path.display()));
            if written.is_err() {
                let _ = std::fs::remove_file(path);
            }
            said("no metrics", written);
        }
    }

    /// On disk first, then all that waits, oldest first, one try each: the next round is the next try, if the server allows.
    fn upload(&mut self, report: &Report) -> anyhow::Result<()> {
        let Some(server) = &self.arguments.server else {
            return Ok(());
        };
        let (report, body) = Body::redacted(report, &self.arguments.redact)?;
        match self.spool.keep(&report.report_id, &body) {
            Ok(kept) => kept.removed.iter().for_each(|line| say(line)),
            Err(why) => {
                // It can wait nowhere, so that it goes now or never.
                say(&format!("the report cannot be kept: {why}; it is sent at once"));
                let sent = self.send_at_once(server, &body);
                self.has_lost |= sent.is_err();
                sent.context("the report is lost")?;
            }
        }
        if self.pace.may_send(Instant::now()) {
            self.connect(server).context("it waits in the spool")?;
            let Some(uploader) = &self.uploader else {
                return Ok(());
            };
            let drained = self.spool.drain(uploader);
            drained.said.iter().for_each(|line| say(line));
            self.pace
                .learn(drained.refusal.as_ref(), Instant::now(), random());
        }
        Ok(())
    }

    fn send_at_once(&mut self, server: &str, body: &Body) -> anyhow::Result<()> {
        self.connect(server)?;
        let uploader = self.uploader.as_ref().context("there is no uploader")?;
        if let Err(error) = uploader.send(body) {
            self.pace.learn(Some(&error), Instant::now(), random());
            return Err(error.into());
        }
        Ok(())
    }

    /// Makes the uploader, after the node has enrolled where it must. What fails now is tried again with the next report.
    fn connect(&mut self, server: &str) -> anyhow::Result<()> {
        let arguments = self.arguments;
        let state = arguments.state.folder();
        if let (true, Some(join_token_file)) = (waits_for_credential(arguments), &arguments.join_token_file) {
            let joining = Joining {
                server,
                join_token_file,
                ca_file: arguments.access.ca_file.as_deref(),
                root: arguments.run.host_root(),
                node_id: arguments.run.node_id.as_ref(),
                state: &state,
                within: arguments.upload_within,
            };
            let joined = joining.join()?.context("not enrolled")?;
            say(&joined.to_string());
        }
        if self.uploader.is_none() {
            self.uploader = Some(uploader(arguments, server)?);
        }
        Ok(())
    }
}

fn uploader(arguments: &DaemonArgs, server: &str) -> Result<Uploader, ConfigurationError> {
    let uploader = arguments.access.uploader(server, &arguments.state.folder())?;
    Ok(uploader.within(arguments.upload_within))
}

/// A result as it is kept: its age by a clock that nobody sets can be told, too.
#[derive(Serialize)]
struct KeptResult<'r> {
    #[serde(flatten)]
    report: &'r Report,
    seconds_since_boot: i64,
}

/// Writes the result, or takes away the one before, which would be taken for it.
pub(super) fn keep(state: &Path, report: &Report) -> anyhow::Result<()> {
    let json = serde_json::to_vec(&KeptResult {
        report,
        seconds_since_boot: seconds_since_boot(),
    })?;
    let written = write_whole(state, &json, FOR_OWNER);
    if written.is_err() && std::fs::remove_file(state).is_err() {
        // A folder whose entries cannot change may have files that can. An error says that there is none.
        let _ = std::fs::OpenOptions::new().write(true).truncate(true).open(state);
    }
    written.with_context(|| format!("write {}", state.display()))
}

/// A look that could not tell ends no fault that the look before found in this boot and no ledger has: a silent driver.
fn hides_a_fault(report: &Report, before: &Report) -> bool {
    let verdict = |report: &Report| {
        let look = report.health.as_ref()?.look.as_ref()?;
        Some(look.verdict)
    };
    let could_not_tell = verdict(report) == Some(Verdict::Unknown);
    let is_fault = verdict(before) > Some(Verdict::Unknown);
    could_not_tell
        && is_fault
        && report.node.id == before.node.id
        && report.node.boot_id == before.node.boot_id
}

/// True for a node that was given a join token and nothing else to upload with.
fn waits_for_credential(arguments: &DaemonArgs) -> bool {
    let credential = credential_file(&arguments.state.folder());
    arguments.join_token_file.is_some() && !arguments.access.has_token() && !credential.is_file()
}

/// Without random numbers all wait alike, which is no reason not to wait.
fn random() -> u64 {
    getrandom::u64().unwrap_or_default()
}

fn read(path: &Path) -> Result<Report, String> {
    let bytes = read_plain(path).map_err(|error| format!("no result: {error}"))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("no result: {error}"))
}

pub(super) fn finished(report: &Report) -> Result<OffsetDateTime, String> {
    OffsetDateTime::parse(&report.finished_at, &Rfc3339).map_err(|error| error.to_string())
}

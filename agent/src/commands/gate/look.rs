//! Asks the agent what it knows of the node. Each question is a process of its own, so that one that dies or hangs is
//! an answer, too.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use kb_core::report::Report;
use serde::Deserialize;

use crate::cli::{GateArgs, StateArgs};
use crate::clock::{Clock as _, SystemClock};
use crate::commands::upload::patience;
use crate::gate::{Doubt, Ended, Found, Seen, of_probe, of_status};
use crate::probe;
use crate::process::{output_within, say};
use crate::upload::{Body, send};

/// Between two looks of the daemon where it has not written down how long it waits.
const INTERVAL: Duration = Duration::from_mins(15);
/// A daemon that has missed so many looks is silent.
const LOOKS: u32 = 3;
/// Longest that `status` may take, which only reads a file.
const STATUS_LIMIT: Duration = Duration::from_secs(10);
/// What starting a run and ending it may take beside its own limit.
const BESIDE: Duration = Duration::from_secs(30);
/// The epilog's look, in seconds.
const LOOK_SECONDS: &str = "30";
/// Oldest proof that counts, in hours: a fault that was proven does not end by time.
const ANY_AGE: &str = "8760";

/// What was found, and the results that say so.
pub(super) struct Looked {
    pub(super) found: Found,
    /// Of a fault: when each result that tells of it was written, and the file that says which of them drained the
    /// node.
    faults: Vec<(SystemTime, PathBuf)>,
}

impl Looked {
    fn of(found: Found) -> Self {
        Self {
            found,
            faults: Vec::new(),
        }
    }

    /// True where a node was drained by these very results before.
    pub(super) fn was_acted_on(&self) -> bool {
        let acted = |(result, mark): &(SystemTime, PathBuf)| written(mark).is_ok_and(|mark| *result <= mark);
        !self.faults.is_empty() && self.faults.iter().all(acted)
    }

    /// Remembers that these results have drained the node.
    pub(super) fn mark(&self) {
        for (result, mark) in &self.faults {
            let marked = File::create(mark).and_then(|file| file.set_modified(*result));
            if let Err(error) = marked {
                say(&format!(
                    "{}: {error}: a resumed node may be drained by the same result again",
                    mark.display()
                ));
            }
        }
    }
}

/// Proves the GPUs of the job that is about to start. Nothing where it has none.
pub(super) fn before_a_job(arguments: &GateArgs, config: Option<&Path>) -> Option<Looked> {
    let gpus = gpus(arguments)?;
    let seconds = arguments.timeout.as_secs_f64().to_string();
    let words = [
        "probe",
        "--json",
        "--fail-on",
        "unknown",
        "--devices",
        &gpus,
        "--timeout",
        &seconds,
    ];
    let ended = match ask(&words, config, arguments.timeout * 2 + BESIDE) {
        Ok(ended) => ended,
        Err(found) => return Some(Looked::of(found)),
    };
    let (found, report) = of_probe(&ended, probe::was_locked_out);
    if let (Some(server), Some(report)) = (&arguments.server, report)
        && let Err(error) = deliver(arguments, server, &report)
    {
        // The proof is worth as much without the server.
        say(&format!("the report was not uploaded: {error:#}"));
    }
    Some(Looked::of(found))
}

/// On disk first; then one try, as a job waits.
fn deliver(arguments: &GateArgs, server: &str, report: &Report) -> anyhow::Result<()> {
    let uploader = arguments
        .access
        .uploader(server, &StateArgs::of_environment().folder())?;
    let (report, body) = Body::redacted(report, &arguments.redact)?;
    let kept = arguments.spool.spool().keep(&report.report_id, &body);
    if let Ok(kept) = &kept {
        kept.removed.iter().for_each(|line| say(line));
    }
    send(&uploader, &body, &patience(Duration::from_millis(100)))?;
    if let Ok(kept) = kept {
        crate::upload::remove(&kept.path)?;
    }
    Ok(())
}

/// Looks once more behind a job that had GPUs, and takes nothing of them.
pub(super) fn behind_a_job(arguments: &GateArgs, config: Option<&Path>) -> Option<Looked> {
    gpus(arguments)?;
    let state = arguments.state.folder();
    let state = state.to_string_lossy();
    let words = [
        "daemon",
        "--once",
        "--quiet",
        "--timeout",
        LOOK_SECONDS,
        "--state",
        &state,
    ];
    let limit = BESIDE + BESIDE;
    // Its result lies in the state folder; without one, the last that lies there has to be new enough.
    if let Err(found) = ask(&words, config, limit) {
        say(&format!("no look behind the job: {}", found.why));
    }
    Some(last_results(arguments, config))
}

fn gpus(arguments: &GateArgs) -> Option<String> {
    let gpus = arguments
        .devices
        .clone()
        .or_else(|| std::env::var("SLURM_JOB_GPUS").ok());
    gpus.filter(|gpus| !gpus.is_empty())
}

/// What the daemon's last look says, and its last proof where that tells of a fault.
pub(super) fn last_results(arguments: &GateArgs, config: Option<&Path>) -> Looked {
    let state = arguments.state.folder();
    let ask_status = |more: &[&str]| -> Found {
        let folder = state.to_string_lossy();
        let words = [&["status", "--fail-on", "unknown", "--state", &folder], more].concat();
        match ask(&words, config, STATUS_LIMIT) {
            Ok(ended) => of_status(&ended),
            Err(found) => found,
        }
    };
    let passive_file = arguments.state.file(false);
    let active_file = arguments.state.file(true);
    // Before they are read: one that is written meanwhile is another result.
    let times = [&passive_file, &active_file].map(|file| written(file).unwrap_or(SystemTime::UNIX_EPOCH));
    let passive = match silence(&passive_file, &state, SystemClock.now().into()) {
        Some(why) => Found::unknown(Doubt::Silent, why),
        None => ask_status(&["--passive", "--max-age", ANY_AGE]),
    };
    // Only the daemon with `active` writes one; that there is none, or an old one, is no news.
    let active = active_file
        .try_exists()
        .unwrap_or(true)
        .then(|| ask_status(&["--max-age", ANY_AGE]))
        .filter(|found| found.seen == Seen::Fault);
    let mut whys = Vec::new();
    let mut faults = Vec::new();
    let kinds = [
        (Some(&passive), "drained-by-passive"),
        (active.as_ref(), "drained-by-active"),
    ];
    for ((found, mark), time) in kinds.into_iter().zip(times) {
        if let Some(found) = found.filter(|found| found.seen == Seen::Fault) {
            whys.push(found.why.clone());
            faults.push((time, state.join(mark)));
        }
    }
    if faults.is_empty() {
        return Looked::of(passive);
    }
    Looked {
        found: Found {
            seen: Seen::Fault,
            why: whys.join("; "),
        },
        faults,
    }
}

/// Why a result tells nothing of the node as it is now; nothing where it does.
fn silence(result: &Path, state: &Path, now: SystemTime) -> Option<String> {
    let show = result.display();
    let written = match written(result) {
        Ok(written) => written,
        Err(error) => return Some(format!("{show}: no result: {error}")),
    };
    if booted().is_some_and(|booted| written < booted) {
        return Some(format!("{show}: there is no look since the node was booted"));
    }
    let age = now.duration_since(written).unwrap_or_default();
    // The daemon leaves a tenth of its interval to chance, and a look takes a while itself.
    let interval = interval(state);
    let most = interval * LOOKS + interval * LOOKS / 10 + BESIDE;
    (age > most).then(|| {
        format!(
            "{show}: the last look is {} s old, and the daemon looks every {} s",
            age.as_secs(),
            interval.as_secs()
        )
    })
}

fn written(path: &Path) -> std::io::Result<SystemTime> {
    fs::metadata(path)?.modified()
}

/// What the daemon wrote down of itself.
fn interval(state: &Path) -> Duration {
    #[derive(Deserialize)]
    struct Daemon {
        interval_seconds: f64,
    }
    let text = fs::read(state.join(crate::commands::daemon::ABOUT)).ok();
    let daemon = text.and_then(|text| serde_json::from_slice::<Daemon>(&text).ok());
    daemon
        .and_then(|daemon| Duration::try_from_secs_f64(daemon.interval_seconds).ok())
        .unwrap_or(INTERVAL)
}

/// When the kernel started.
fn booted() -> Option<SystemTime> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let seconds = text.lines().find_map(|line| line.strip_prefix("btime "))?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.trim().parse().ok()?))
}

/// Runs the agent itself.
fn ask(words: &[&str], config: Option<&Path>, limit: Duration) -> Result<Ended, Found> {
    let died = |why: String| Found::unknown(Doubt::Died, format!("the agent: {why}"));
    let program = std::env::current_exe().map_err(|error| died(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(words);
    if let Some(config) = config {
        command.arg("--config").arg(config);
    }
    let output = output_within(&mut command, limit).map_err(|error| died(error.to_string()))?;
    Ok(Ended {
        code: output.status.code(),
        signal: output.status.signal(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

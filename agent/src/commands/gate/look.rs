//! Asks the agent what it knows of the node. Each question is a process of its own: one that dies or hangs is an answer, too.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use kb_core::report::Report;

use crate::cli::{GateArgs, devices};
use crate::clock::{Clock as _, SystemClock};
use crate::commands::upload::patience;
use crate::gate::{Doubt, Ended, Found, Seen, of_look, of_probe, of_status};
use crate::probe;
use crate::process::{VISIBLE_GPUS, output_within, say};
use crate::upload::{Body, send};

use super::super::result::{Here, Made, Untold};

/// Longest that `status` may take, which only reads a file.
const STATUS_LIMIT: Duration = Duration::from_secs(10);
/// What starting a run and ending it may take beside its own limit.
pub(super) const BESIDE: Duration = Duration::from_secs(30);
/// The epilog's look, in seconds.
const LOOK_SECONDS: &str = "30";
/// Longest that a job waits for an answer of the server.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
const NO_SETTINGS: &str = "/dev/null";
/// Oldest proof that counts, in hours: a fault that was proven does not end by time.
const ANY_AGE: &str = "8760";

pub(super) struct Looked {
    pub(super) found: Found,
    /// Of a fault: when each result that tells of it was made, and the file that says which of them drained the node.
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
    if let Err(why) = devices(&gpus) {
        // MIG devices, for one.
        let why = format!("the job's GPUs are not proven: {why}");
        let unproven = || Looked::of(Found::unknown(Doubt::Said, why));
        return Some(known_fault(arguments).unwrap_or_else(unproven));
    }
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
    let (found, report) = match ask(arguments, &words, config, arguments.timeout * 2 + BESIDE) {
        Ok(ended) => of_probe(&ended, probe::was_locked_out),
        Err(found) => (found, None),
    };
    if let (Some(server), Some(report)) = (&arguments.server, report)
        && let Err(error) = deliver(arguments, server, &report)
    {
        // The proof is worth as much without the server.
        say(&format!("the report was not uploaded: {error:#}"));
    }
    if let Seen::Unknown(_) = found.seen {
        return Some(known_fault(arguments).unwrap_or_else(|| Looked::of(found)));
    }
    Some(Looked::of(found))
}

/// What is known of the node counts where a run cannot tell.
fn known_fault(arguments: &GateArgs) -> Option<Looked> {
    let last = last_results(arguments);
    (last.found.seen == Seen::Fault).then_some(last)
}

/// On disk first; then one try, as a job waits.
fn deliver(arguments: &GateArgs, server: &str, report: &Report) -> anyhow::Result<()> {
    let (report, body) = Body::redacted(report, &arguments.redact)?;
    let kept = arguments.spool.spool().keep(&report.report_id, &body);
    if let Ok(kept) = &kept {
        kept.removed.iter().for_each(|line| say(line));
    }
    let uploader = arguments
        .access
        .uploader(server, &arguments.state.folder())?
        .within(ANSWER_LIMIT);
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
    let answer_limit = ANSWER_LIMIT.as_secs().to_string();
    let words = [
        "daemon",
        "--once",
        "--quiet",
        "--upload-within",
        &answer_limit,
        "--timeout",
        LOOK_SECONDS,
        "--fail-on",
        "unknown",
        "--state",
        &state,
    ];
    // What it saw counts, whether or not its result could be kept.
    let own = match ask(arguments, &words, config, BESIDE + BESIDE) {
        Ok(ended) => of_look(&ended),
        Err(found) => found,
    };
    let last = last_results(arguments);
    Some(match (own.seen, last.found.seen) {
        (Seen::NoFault, _) | (_, Seen::Fault) | (Seen::Unknown(_), Seen::Unknown(_)) => last,
        _ => Looked::of(own),
    })
}

fn gpus(arguments: &GateArgs) -> Option<String> {
    let gpus = arguments
        .devices
        .clone()
        .or_else(|| std::env::var("SLURM_JOB_GPUS").ok());
    gpus.filter(|gpus| !gpus.is_empty())
}

/// What the daemon's last look says, and its last proof where that tells of a fault.
pub(super) fn last_results(arguments: &GateArgs) -> Looked {
    let state = arguments.state.folder();
    let ask_status = |more: &[&str]| -> Found {
        let (folder, root) = (
            state.to_string_lossy(),
            arguments.here.host_root.to_string_lossy(),
        );
        let mut words = vec![
            "status",
            "--fail-on",
            "unknown",
            "--state",
            &folder,
            "--host-root",
            &root,
        ];
        if let Some(node) = &arguments.here.node_id {
            words.extend(["--node-id", node.as_str()]);
        }
        if arguments.here.allow_simulated {
            words.push("--allow-simulated");
        }
        words.extend(more);
        // All that it needs was said: settings that are made for another question must not change its answer.
        match ask(arguments, &words, Some(Path::new(NO_SETTINGS)), STATUS_LIMIT) {
            Ok(ended) => of_status(&ended),
            Err(found) => found,
        }
    };
    let here = Here::of(&arguments.here, &state);
    let now = SystemClock.now();
    let silent = |why| Found::unknown(Doubt::Silent, why);
    // When each was made is read before what it says: one that is written meanwhile is another result.
    let look = Made::read(&arguments.state.file(false)).and_then(|made| {
        made.check_look(&here, now)?;
        Ok(made)
    });
    let ledger = arguments.state.ledger();
    let passive = match &look {
        Ok(_) => ask_status(&["--passive", "--max-age", ANY_AGE]),
        Err(untold) => match untold.open_fault(&ledger, &here) {
            Some(why) => Found {
                seen: Seen::Fault,
                why,
            },
            None => silent(untold.why.clone()),
        },
    };
    let active_file = arguments.state.file(true);
    // Only the daemon with `active` writes one; that there is none, or an old one, is no news.
    let proof = active_file.try_exists().unwrap_or(true).then(|| {
        let made = Made::read(&active_file)?;
        made.check(&here, now)?;
        Ok::<_, Untold>(made)
    });
    let active = match &proof {
        None => None,
        // It may tell of a fault: without it nobody can say that there is none.
        Some(Err(untold)) => Some(silent(untold.why.clone())),
        Some(Ok(_)) => Some(ask_status(&["--max-age", ANY_AGE])).filter(|found| found.seen == Seen::Fault),
    };
    // Without a look the ledger itself is the result that tells of its faults.
    let looked_at = look.map_or_else(|_| written(&ledger.path()).ok(), |made| Some(made.finished));
    let proven_at = proof.and_then(Result::ok).map(|made| made.finished);
    let kinds = [
        (Some(&passive), looked_at, "drained-by-passive"),
        (active.as_ref(), proven_at, "drained-by-active"),
    ];
    let mut whys = Vec::new();
    let mut faults = Vec::new();
    for (found, made_at, mark) in kinds {
        if let (Some(found), Some(at)) = (found.filter(|found| found.seen == Seen::Fault), made_at) {
            whys.push(found.why.clone());
            faults.push((at, state.join(mark)));
        }
    }
    if faults.is_empty() {
        return Looked::of(match active {
            Some(active) if passive.seen == Seen::NoFault => active,
            _ => passive,
        });
    }
    Looked {
        found: Found {
            seen: Seen::Fault,
            why: whys.join("; "),
        },
        faults,
    }
}

fn written(path: &Path) -> std::io::Result<SystemTime> {
    fs::metadata(path)?.modified()
}

fn ask(arguments: &GateArgs, words: &[&str], config: Option<&Path>, limit: Duration) -> Result<Ended, Found> {
    let died = |why: String| Found::unknown(Doubt::Died, format!("the agent: {why}"));
    let program = std::env::current_exe().map_err(|error| died(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(words);
    // Some daemon of the scheduler may hand it on: the gates name the GPUs themselves, or mean all.
    command.env_remove(VISIBLE_GPUS);
    // Not every verb has the option, and all of them use the ledger.
    command.env("PEERLESS_STATE", arguments.state.folder());
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

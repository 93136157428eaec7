//! One function a verb: gathers what it needs (clock, random numbers), runs it, prints, answers with an exit code.

mod admit;
mod clear;
mod convert;
mod daemon;
mod dry_run;
mod enrol;
mod feedback;
mod gate;
mod help;
mod matching;
mod policy;
mod result;
#[cfg(feature = "simulate")]
mod simulate;
mod status;
mod upload;
mod watch;

pub(crate) use admit::admit;
pub(crate) use clear::clear;
pub(crate) use convert::convert;
pub(crate) use daemon::daemon;
pub(crate) use enrol::enrol;
pub(crate) use feedback::feedback;
pub(crate) use gate::gate;
pub(crate) use help::{completions, man};
pub(crate) use matching::match_files;
pub(crate) use policy::policy;
pub(crate) use status::status;
pub(crate) use upload::{bundle, upload};
pub(crate) use watch::watch;

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Context as _;
use kb_core::health::{
    Bearing, ENDS_BY, Entry, Ledger, ListedEarlier, UNREAD_LEDGER, health_by, needs_admission, open_faults,
    open_warnings, report_by, tell_by, told, unread_ledger,
};
use kb_core::policy::Policy;
use kb_core::report::{Node, Report};
use kb_core::verdict::{ExitCode, Verdict};

use crate::cli::{BenchArgs, ProbeArgs, ReportArgs, RunArgs, StateArgs};
use crate::clock::{Clock as _, SystemClock};
use crate::host;
use crate::ledger::{Folders, LedgerFile, both, numbers_are_in_doubt, of_run_alone, of_run_beside};
use crate::output::{self, Drawn};
use crate::policy::{PolicyFile, stamp};
use crate::probe::{self, BenchOptions, Chance, Depth, GpusBefore, LoadOptions, NcclOptions, RANDOM_BYTES};
use crate::process::say;
use crate::upload::{Body, read_body};

/// What was given to a verb cannot be used: a matter of the caller, as a wrong option is.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct InputError(String);

pub(crate) fn probe(arguments: &ProbeArgs) -> anyhow::Result<u8> {
    #[cfg(feature = "simulate")]
    if let Some(machine) = arguments.simulate {
        return simulate::show(machine, arguments);
    }
    show(
        (&arguments.run, &arguments.state),
        arguments.json,
        Extra::default(),
    )
}

pub(crate) fn bench(arguments: &BenchArgs) -> anyhow::Result<u8> {
    let extra = Extra {
        bench: Some(arguments.chosen()),
        nccl: arguments.nccl(),
        ..Extra::default()
    };
    show((&arguments.run, &arguments.state), arguments.json, extra)
}

#[derive(Debug, Default)]
struct Extra {
    bench: Option<BenchOptions>,
    nccl: Option<NcclOptions>,
    load: Option<LoadOptions>,
    before: Vec<GpusBefore>,
}

fn show((run, state): (&RunArgs, &StateArgs), json: bool, extra: Extra) -> anyhow::Result<u8> {
    if run.dry_run {
        return dry_run::tell(run, state, &extra);
    }
    let mut report = make((run, state), Depth::Full, !json, extra)?;
    note_run(&mut report, run, state);
    if json {
        print(&output::json(&report)?)?;
    } else {
        print_table(run, &report)?;
    }
    say_reason(&report);
    Ok(run.exit_code(&report))
}

pub(crate) fn report(arguments: &ReportArgs) -> anyhow::Result<u8> {
    if arguments.run.dry_run {
        return dry_run::tell(&arguments.run, &arguments.state, &Extra::default());
    }
    // Settings are checked before the GPUs are touched: a wrong one must not cost a run.
    let uploader = match &arguments.server {
        Some(server) if !arguments.print => {
            Some(arguments.access.uploader(server, &arguments.state.folder())?)
        }
        _ => None,
    };
    let (report, body) = match &arguments.from {
        Some(file) if arguments.redact.is_empty() => read_body("--from", file)?,
        Some(file) => Body::redacted(&read_body("--from", file)?.0, &arguments.redact)?,
        None => {
            let mut report = make_report((&arguments.run, &arguments.state), Depth::Full, !arguments.print)?;
            note_run(&mut report, &arguments.run, &arguments.state);
            Body::redacted(&report, &arguments.redact)?
        }
    };
    // Another tool's figures prove nothing, and to send them was all that was asked.
    let is_only_sent = output::is_of_another_tool(&report) && report.conclusion.verdict == Verdict::Unknown;
    let exit_code = if is_only_sent {
        0
    } else {
        arguments.run.exit_code(&report)
    };
    let Some(uploader) = uploader else {
        print(&output::json(&report)?)?;
        return Ok(exit_code);
    };
    // Kept before it is sent: whatever becomes of this process meanwhile, the report is not lost.
    let spool = arguments.spool.spool();
    let kept = spool.keep(&report.report_id, &body);
    for line in kept.iter().flat_map(|kept| &kept.removed) {
        say(line);
    }
    // A terminal that is gone must not keep the report from the server.
    say_failure(print_table(&arguments.run, &report));
    if !is_only_sent {
        say_reason(&report);
    }
    match crate::upload::send(&uploader, &body, &upload::patience(arguments.retry_for)) {
        Ok(receipt) => {
            if let Ok(kept) = &kept
                && let Err(error) = crate::upload::remove(&kept.path)
            {
                say(&format!("{} cannot be put away: {error}", kept.path.display()));
            }
            if !arguments.run.quiet {
                say_failure(print(&format!("\n{receipt}\n")));
            }
            // What was kept before goes now that the server answers.
            for line in spool.drain(&uploader).said {
                say(&line);
            }
            Ok(exit_code)
        }
        Err(error) => {
            let place = match kept {
                Ok(kept) => format!("it is kept in {}", kept.path.display()),
                Err(why) => format!("nor could it be kept: {why}"),
            };
            say(&format!("the report was not uploaded: {error}; {place}"));
            // What the caller asked for was not done, whatever `--fail-on` passes over.
            Ok(exit_code.max(ExitCode::Warning.number()))
        }
    }
}

fn make_report(of: (&RunArgs, &StateArgs), depth: Depth, for_people: bool) -> anyhow::Result<Report> {
    make(of, depth, for_people, Extra::default())
}

fn make(
    (arguments, state): (&RunArgs, &StateArgs),
    depth: Depth,
    for_people: bool,
    Extra {
        bench,
        nccl,
        load,
        before,
    }: Extra,
) -> anyhow::Result<Report> {
    let options = arguments.options(depth).context("find the agent's own binary")?;
    let options = probe::Options {
        bench,
        nccl,
        load,
        before,
        earlier: listed_earlier(arguments, state),
        ..options
    };
    let mut random = [0; RANDOM_BYTES];
    getrandom::fill(&mut random).context("get random numbers")?;
    let chance = Chance::from_random(random)?;
    let progress = Drawn::on_stderr(for_people && !arguments.quiet);
    let mut report = probe::run(&options, &SystemClock, chance, &progress)?;
    if let Some(id) = &arguments.node_id {
        report.node.id = id.clone();
    }
    Ok(report)
}

/// What a ledger has that cannot be read is told behind the run, which asks it again.
fn listed_earlier(run: &RunArgs, state: &StateArgs) -> ListedEarlier {
    let asked = ask_ledger(run, state, Ledger::listed_earlier);
    asked.unwrap_or_default()
}

/// Asks the ledger about the boot that the node is in.
fn ask_ledger<T>(
    run: &RunArgs,
    state: &StateArgs,
    ask: impl FnOnce(&Ledger, Option<&str>) -> T,
) -> Option<T> {
    let node = host::node(&run.host_root()).ok();
    let boot = node.as_ref().and_then(|node| node.boot_id.as_deref());
    let ledger = LedgerFile::of(state.folders().own?).read(node.as_ref());
    Some(ask(&ledger.ok()??, boot))
}

/// Has the daemon's ledger know of a run of another verb: a proof ends what it can end, whoever made it. Where there is no
/// ledger, what the run itself read of its GPUs still counts as it would for the daemon. The answer says why the ledger does not
/// have the run, where there is one.
fn note_run(report: &mut Report, run: &RunArgs, state: &StateArgs) -> Option<String> {
    note_run_where(|own| own.is_expected(state.is_named()), report, run, state)
}

/// The same of a run that asks the user's own ledger where `is_asked` says so. One that nobody has kept yet is begun by that, as by
/// a first look.
fn note_run_where(
    is_asked: impl FnOnce(&LedgerFile) -> bool,
    report: &mut Report,
    run: &RunArgs,
    state: &StateArgs,
) -> Option<String> {
    let scope = run.scope();
    let now = SystemClock.now();
    let Folders { own, of_node } = state.folders();
    let own = own.map(LedgerFile::of);
    let policy = policy_of(own.as_ref(), of_node.as_deref(), &report.node);
    stamp(report, &policy);
    let told = of_node.map_or(Ok(None), |folder| LedgerFile::of(folder).told_to_others());
    let beside = of_run_beside(told, report, scope, &policy);
    let own = own.filter(is_asked);
    let mut unkept = None;
    let own = own.map(|ledger| {
        let noted = ledger.note_run(&run.host_root(), report, scope, now);
        if let Some(why) = noted.unkept {
            say(&format!("the daemon's ledger does not know of this run: {why}"));
            unkept = Some(why);
        }
        noted.value
    });
    let mut health = match (own, beside) {
        (Some(own), Some(beside)) => both(own, beside),
        (Some(health), None) | (None, Some(health)) => health,
        (None, None) => {
            let health = health_by(&policy, of_run_alone(report, scope, &policy), &report.gpus);
            let tells = |entry: &Entry| entry.bearing == Bearing::Fault || entry.by_policy.is_some();
            if !health.open.iter().any(tells) {
                report_by(&policy, report, now);
                return unkept;
            }
            health
        }
    };
    if run.names_by_number() && numbers_are_in_doubt(&health, &report.gpus) {
        // Any fault of the node may be one of the GPUs that were meant.
        health = health.about(true);
    }
    tell_by(&policy, report, health, now);
    unkept
}

/// The policy of the node's daemon; where another user runs that, the one that it shows to all.
fn policy_of(own: Option<&LedgerFile>, of_node: Option<&Path>, node: &Node) -> Policy {
    let of_node = of_node.filter(|folder| !matches!(PolicyFile::of(folder).read(), Ok(None)));
    let of_node = of_node.map(|folder| LedgerFile::of(folder.to_owned()));
    match (of_node.as_ref(), own) {
        (Some(ledger), _) | (None, Some(ledger)) => ledger.policy(Some(node)),
        (None, None) => Policy::default(),
    }
}

fn print_table(arguments: &RunArgs, report: &Report) -> io::Result<()> {
    if arguments.quiet {
        return Ok(());
    }
    print(&output::table(
        report,
        output::Style::of_terminal(io::stdout().is_terminal()),
    ))
}

/// A reader that has seen enough (`| head -1`) is no failure.
fn print(text: &str) -> io::Result<()> {
    match write_out(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// For what would go on without end: a reader that is gone is an error.
fn write_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A standard output that cannot be written, where something else matters more.
fn say_failure(printed: io::Result<()>) {
    if let Err(error) = printed {
        say(&format!("standard output cannot be written: {error}"));
    }
}

fn say_reason(report: &Report) {
    let conclusion = &report.conclusion;
    if conclusion.verdict > Verdict::NoFaultSeen {
        say(&format!("{}: {}", conclusion.verdict.phrase(), conclusion.reason));
        return;
    }
    for fault in open_faults(report) {
        let ends = if needs_admission(fault) {
            format!(" ({ENDS_BY})")
        } else {
            String::new()
        };
        say(&format!("fault still open: {}{ends}", told(fault)));
    }
    if let Some(why) = unread_ledger(report) {
        say(&format!("{UNREAD_LEDGER}: {why}"));
    }
    for warning in open_warnings(report) {
        say(&format!("warning still open: {}", told(warning)));
    }
}

//! `peerless-agent admit`: ladder, bench and minutes of load, after which a node returns to service.

use std::io;

use kb_core::health::Scope;
use kb_core::report::{Fact, GapKind, Report};
use kb_core::verdict::{ExitCode, FailOn, not_admitted};

use crate::cli::{AdmitArgs, RunArgs, StateArgs};
use crate::files::{FOR_OWNER, read_plain, write_whole};
use crate::ledger::KERNEL_LOG;
use crate::output;
use crate::probe::{Before, Depth, GpusBefore, LoadOptions};
use crate::process::say;

use super::{Extra, ask_ledger, daemon, dry_run, make, note_run_where, print, print_table, say_reason};

/// The report of the last run that admitted the node, in the state folder.
const LAST_ADMIT: &str = "last-admit.json";

/// What to do where a run could not be kept.
const MEND: &str = "see that the state folder can be written (free space, no read-only mount, no process that holds ledger.lock), \
                    then run `peerless-agent admit` again";

pub(crate) fn admit(arguments: &AdmitArgs) -> anyhow::Result<u8> {
    let (run, state) = (&arguments.run, &arguments.state);
    let earlier = earlier(state);
    let before = before(run, state, &earlier);
    let extra = Extra {
        before,
        bench: Some(arguments.bench()),
        load: Some(LoadOptions {
            seconds: arguments.load_seconds(),
            steps: arguments.load_steps(),
            earlier,
            log: ask_ledger(run, state, |ledger, _| ledger.log.clone()).flatten(),
        }),
        ..Extra::default()
    };
    if run.dry_run {
        return dry_run::tell(run, state, &extra);
    }
    let mut report = make((run, state), Depth::Full, !arguments.json, extra)?;
    // Also where no look was before: what the kernel wrote since the boot would else hold the node back only after it has returned.
    let unkept = note_run_where(|_| true, &mut report, run, state);
    if arguments.json {
        print(&output::json(&report)?)?;
    } else {
        print_table(run, &report)?;
    }
    say_reason(&report);
    let minded = FailOn::UNKNOWN.exit_code(&report);
    if let Some(why) = not_admitted(&report) {
        say(&format!("not admitted: {why}"));
        return Ok(match minded {
            0 => ExitCode::Unknown.number(),
            code => code,
        });
    }
    // What came into the log since the run looked at it.
    if let Some(why) = unread_log(&report) {
        say(&format!(
            "not admitted: could not tell: the kernel log, where Xids stand, could not be read: {why}"
        ));
        return Ok(match minded {
            code if code == ExitCode::Fault.number() => code,
            _ => ExitCode::Unknown.number(),
        });
    }
    // A run that admits was good: what is left is a warning of before, which is told and keeps no jobs from the node.
    let minded = match minded {
        code if code == ExitCode::Warning.number() => 0,
        code => code,
    };
    if run.scope() == Scope::Part {
        say(
            "not admitted: these GPUs passed, and others of the node were not looked at (--devices, CUDA_VISIBLE_DEVICES)",
        );
        return Ok(match minded {
            0 => ExitCode::Unknown.number(),
            code => code,
        });
    }
    // The rates are good even where something else stays open: the next run is compared with them.
    keep(state, &report);
    if minded > 0 {
        say("not admitted: the run was good, and something is open that it does not end");
        return Ok(minded);
    }
    if let Some(why) = unkept {
        say(&format!(
            "not admitted: the run was good, and could not be kept, so that what was open stays open for the daemon and the gates: \
             {why}; {MEND}"
        ));
        return Ok(ExitCode::Unknown.number());
    }
    if let Err(error) = daemon::keep(&state.file(true), &report) {
        say(&format!(
            "not admitted: the run was good, and its result could not be kept, so that gates may go by an earlier one: {error:#}; \
             {MEND}"
        ));
        return Ok(ExitCode::Unknown.number());
    }
    say("admitted");
    Ok(minded)
}

fn unread_log(report: &Report) -> Option<&str> {
    let mut unread = report.health.iter().flat_map(|health| &health.unread);
    let log = unread.find(|unread| unread.what == KERNEL_LOG)?;
    Some(&log.why)
}

/// The GPUs that this node had at its last admission, and since then in an earlier boot.
fn before(run: &RunArgs, state: &StateArgs, earlier: &Fact<Box<Report>>) -> Vec<GpusBefore> {
    let instead = instead(run, state, earlier);
    let last = earlier.value.as_deref().or(instead.as_ref());
    let admitted = last.map(|report| GpusBefore {
        when: format!("at the last admission ({})", report.finished_at),
        gpus: report
            .gpus
            .iter()
            .map(|gpu| Before {
                uuid: gpu.uuid.value.clone(),
                address: gpu.pci_address.value.clone(),
            })
            .collect(),
    });
    let listed = ask_ledger(run, state, |ledger, boot| GpusBefore {
        when: "in an earlier boot".to_owned(),
        gpus: ledger
            .listed_before(boot)
            .iter()
            .map(|address| Before {
                uuid: None,
                address: Some(address.clone()),
            })
            .collect(),
    });
    admitted.into_iter().chain(listed).collect()
}

/// Another result that is of the last admission, where the file for it is gone. A person may have taken it away, so that the rates
/// of then count no more; that there was an admission is said all the same.
fn instead(run: &RunArgs, state: &StateArgs, earlier: &Fact<Box<Report>>) -> Option<Report> {
    let is_gone = earlier
        .gap
        .as_ref()
        .is_some_and(|gap| gap.kind == GapKind::Skipped);
    if !is_gone {
        return None;
    }
    let last_run = read_plain(&state.file(true)).ok();
    let last_run = last_run.and_then(|bytes| serde_json::from_slice::<Report>(&bytes).ok());
    let last_run = last_run.filter(|report| not_admitted(report).is_none());
    let by_ledger = ask_ledger(run, state, |ledger, _| ledger.admitted_at().map(str::to_owned)).flatten();
    let at = last_run
        .as_ref()
        .map(|report| report.finished_at.clone())
        .or(by_ledger);
    if let Some(at) = at {
        let file = &earlier.source;
        say(&format!(
            "warning: this node was admitted at {at}, and {file} is gone: this run's rates are not compared with those of then"
        ));
    }
    last_run
}

fn earlier(state: &StateArgs) -> Fact<Box<Report>> {
    let path = state.folder().join(LAST_ADMIT);
    let source = path.display().to_string();
    let unread = |why: String| {
        say(&format!(
            "{source} cannot be read: {why}. See how many GPUs the node should have, remove the file, and give --expect gpus=N"
        ));
        Fact::missing(GapKind::Failed, why, &source)
    };
    match read_plain(&path) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(report) => Fact::read(Box::new(report), &source),
            Err(error) => unread(error.to_string()),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Fact::missing(GapKind::Skipped, "no earlier run: none is kept", &source)
        }
        Err(error) => unread(error.to_string()),
    }
}

/// Keeps the higher of this run's and earlier rates: else a node that loses a little each time would never be told.
fn keep(state: &StateArgs, report: &Report) {
    let path = state.folder().join(LAST_ADMIT);
    let mut report = report.clone();
    if let Some(load) = &mut report.load {
        let earlier = load.earlier.value.iter().flat_map(|earlier| &earlier.gpus);
        for then in earlier {
            let Some(of) = load.gpus.iter_mut().find(|of| of.gpu == then.gpu) else {
                continue;
            };
            for (rate, median) in &then.medians {
                if let Some(spread) = of.figures.get_mut(rate) {
                    spread.median = spread.median.max(*median);
                }
            }
        }
    }
    let kept = output::json(&report)
        .map_err(io::Error::from)
        .and_then(|json| write_whole(&path, json.as_bytes(), FOR_OWNER));
    if let Err(error) = kept {
        say(&format!(
            "the next run cannot be compared with this one: {}: {error}",
            path.display()
        ));
    }
}

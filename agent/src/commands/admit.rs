//! `peerless-agent admit`: ladder, bench and minutes of load, after which a node returns to service.

use std::io;

use kb_core::health::Scope;
use kb_core::report::{Fact, GapKind, Report};
use kb_core::verdict::{ExitCode, FailOn, not_admitted};

use crate::cli::{AdmitArgs, StateArgs};
use crate::files::{FOR_OWNER, read_plain, write_whole};
use crate::output;
use crate::probe::{Depth, LoadOptions};
use crate::process::say;

use super::{Extra, daemon, dry_run, make, note_run, print, print_table, say_reason};

/// The report of the last run that admitted the node, in the state folder.
const LAST_ADMIT: &str = "last-admit.json";

pub(crate) fn admit(arguments: &AdmitArgs) -> anyhow::Result<u8> {
    let (run, state) = (&arguments.run, &arguments.state);
    let extra = Extra {
        bench: Some(arguments.bench()),
        load: Some(LoadOptions {
            seconds: arguments.load_seconds(),
            steps: arguments.load_steps(),
            earlier: earlier(state),
        }),
        ..Extra::default()
    };
    if run.dry_run {
        return dry_run::tell(run, &extra);
    }
    let mut report = make(run, Depth::Full, !arguments.json, extra)?;
    note_run(&mut report, run, state);
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
    // Whatever else is open on the node: these GPUs are a measure for the next run.
    keep(state, &report);
    if minded > 0 {
        say("not admitted: the run was good, and something is open that it does not end");
        return Ok(minded);
    }
    if run.scope() == Scope::All
        && let Err(error) = daemon::keep(&state.file(true), &report)
    {
        // It would have taken the place of a proof that told of the fault.
        say(&format!("the result is not kept: {error:#}"));
    }
    say("admitted");
    Ok(minded)
}

fn earlier(state: &StateArgs) -> Fact<Box<Report>> {
    let path = state.folder().join(LAST_ADMIT);
    let source = path.display().to_string();
    let missing = |why: String| Fact::missing(GapKind::Skipped, format!("no earlier run: {why}"), &source);
    match read_plain(&path) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(report) => Fact::read(Box::new(report), &source),
            Err(error) => missing(format!("its file cannot be read: {error}")),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => missing("none is kept".to_owned()),
        Err(error) => missing(error.to_string()),
    }
}

fn keep(state: &StateArgs, report: &Report) {
    let path = state.folder().join(LAST_ADMIT);
    let kept = output::json(report)
        .map_err(io::Error::from)
        .and_then(|json| write_whole(&path, json.as_bytes(), FOR_OWNER));
    if let Err(error) = kept {
        say(&format!(
            "the next run cannot be compared with this one: {}: {error}",
            path.display()
        ));
    }
}

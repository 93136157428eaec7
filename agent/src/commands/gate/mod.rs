//! `peerless-agent gate`: asks the agent and Slurm, decides, and does what was decided.

mod act;
mod look;
mod say;

use std::path::Path;

use kb_core::verdict::ExitCode;

use crate::cli::{Asker, GateArgs};
use crate::clock::{Clock as _, SystemClock};
use crate::files::{FOR_ALL, write_whole};
use crate::gate::{Action, Place, Question, Seen, decide, standing};
use crate::output;
use crate::process;
use crate::slurm::own_name;

use look::Looked;

/// `peerless-agent gate`. `config` is the settings file that was named, for the runs that it starts.
pub(crate) fn gate(arguments: &GateArgs, config: Option<&Path>) -> u8 {
    let place = match arguments.asker {
        Asker::Prolog => Place::Prolog,
        Asker::Epilog => Place::Epilog,
        Asker::Health => Place::Health,
        Asker::Condition | Asker::Ready => return tell(arguments),
    };
    let Some(looked) = looked(place, arguments, config) else {
        process::say(
            "nothing was looked at: the job has no GPU (neither --devices nor SLURM_JOB_GPUS names one)",
        );
        return ExitCode::Healthy.number();
    };
    let node = own_name();
    // Slurm is asked only where something depends on its answer: a pass costs the controller nothing.
    let cluster = matches!(looked.found.seen, Seen::Fault).then(|| arguments.scontrol().nodes());
    let now = SystemClock.now().unix_timestamp();
    let (nodes, complaint) = match cluster {
        Some(Ok(nodes)) => (nodes, None),
        Some(Err(why)) => (Vec::new(), Some(why)),
        None => (Vec::new(), None),
    };
    let decided = decide(&Question {
        place,
        seen: looked.found.seen,
        standing: standing(&nodes, &node, now),
        was_acted_on: looked.was_acted_on(),
        in_doubt: arguments.in_doubt(),
        limit: &arguments.max_drained,
    });
    let done = if arguments.arm {
        act::act(arguments, decided, &node, &looked)
    } else {
        Ok(decided)
    };
    let (action, complaint) = match done {
        Ok(action) => (action, complaint),
        // What could not be done is no reason to refuse a job: Slurm would drain the node, limit or not.
        Err(why) => (decided, Some(why)),
    };
    let failed = complaint.is_some();
    say::say(
        arguments,
        &say::Outcome {
            place,
            node: &node,
            found: &looked.found,
            action,
            complaint: complaint.as_deref(),
        },
    );
    if let (Place::Health, Some(file)) = (place, &arguments.metrics_file) {
        let text = output::gate_metrics(looked.found.seen, action, arguments.arm, failed, now);
        if let Err(error) = write_whole(file, text.as_bytes(), FOR_ALL) {
            process::say(&format!("no metrics: write {}: {error}", file.display()));
        }
    }
    let refuses = arguments.arm && !failed && action.refuses_the_job(place);
    u8::from(refuses)
}

fn looked(place: Place, arguments: &GateArgs, config: Option<&Path>) -> Option<Looked> {
    match place {
        Place::Prolog => look::before_a_job(arguments, config),
        Place::Epilog => look::behind_a_job(arguments, config),
        Place::Health => Some(look::last_results(arguments)),
    }
}

/// For node-problem-detector and readiness: one line, and an exit code of their own.
fn tell(arguments: &GateArgs) -> u8 {
    let found = look::last_results(arguments).found;
    let (word, condition, ready) = match found.seen {
        Seen::NoFault => ("no fault", 0, 0),
        Seen::Fault => ("fault", 1, 0),
        Seen::Unknown(_) => ("could not tell", 2, 1),
    };
    // A reader that is gone is no reason for another answer.
    let _ = super::print(&format!("{word}: {}\n", say::short(&found.why)));
    if arguments.asker == Asker::Ready {
        ready
    } else {
        condition
    }
}

fn is_deed(action: Action) -> bool {
    matches!(action, Action::Drain | Action::Hold)
}

//! One line of what was decided, for people: on standard error, and in the system's log unless all is well.

use std::os::unix::net::UnixDatagram;

use crate::cli::GateArgs;
use crate::gate::{Action, Cause, Found, Place};
use crate::process;

use super::is_deed;

/// Characters of a reason that are passed on: what Slurm shows of one, and node-problem-detector keeps.
const LONGEST: usize = 200;

/// Of the facility "daemon" (3): 4 is a warning, 6 information (RFC 5424, section 6.2.1).
const WARNING: u8 = 3 * 8 + 4;
const INFORMATION: u8 = 3 * 8 + 6;

pub(super) struct Outcome<'a> {
    pub(super) place: Place,
    pub(super) node: &'a str,
    pub(super) found: &'a Found,
    pub(super) action: Action,
    pub(super) complaint: Option<&'a str>,
}

pub(super) fn say(arguments: &GateArgs, outcome: &Outcome<'_>) {
    let line = line(outcome, arguments.arm);
    process::say(&line);
    if outcome.action == Action::Pass {
        return;
    }
    let already = matches!(outcome.action, Action::AlreadyOut { .. });
    let priority = if already { INFORMATION } else { WARNING };
    // Where there is no syslog, the line on standard error is all there is.
    if let Ok(socket) = UnixDatagram::unbound() {
        // A log that nobody reads must not hold up a job: where its queue is full, the line is lost there.
        if socket.set_nonblocking(true).is_err() {
            return;
        }
        let text = format!("<{priority}>peerless-agent: {line}");
        let _ = socket.send_to(text.as_bytes(), &arguments.log_socket);
    }
}

fn line(outcome: &Outcome<'_>, armed: bool) -> String {
    let place = match outcome.place {
        Place::Prolog => "prolog",
        Place::Epilog => "epilog",
        Place::Health => "health",
    };
    let mode = if armed { "" } else { " (shadow)" };
    let would = if armed || !is_deed(outcome.action) {
        ""
    } else {
        "would "
    };
    let deed = deed(outcome);
    let complaint = outcome
        .complaint
        .map_or_else(String::new, |why| format!(" (not done: {why})"));
    let why = short(&outcome.found.why);
    format!("gate {place}{mode}: {would}{deed}{complaint}: {why}")
}

fn deed(outcome: &Outcome<'_>) -> String {
    let node = outcome.node;
    match outcome.action {
        Action::Pass => "pass".to_owned(),
        Action::Drain => format!("drain {node}"),
        Action::AlreadyOut { .. } => format!("leave {node}, which is out of service, as it is"),
        Action::Hold => "requeue and hold the job, since the GPUs could not be told of".to_owned(),
        Action::Alert(Cause::CouldNotTell) => "ALERT: could not tell".to_owned(),
        Action::Alert(Cause::TooMany(reached)) => {
            format!("ALERT: a fault, and {node} is not drained: {reached}")
        }
        Action::Alert(Cause::StandingUnknown) => {
            format!("ALERT: a fault, and Slurm does not say where {node} stands")
        }
        Action::Alert(Cause::ResumedByAPerson) => {
            format!("ALERT: a fault, and {node} was resumed behind this very result")
        }
    }
}

pub(super) fn short(why: &str) -> String {
    let clean = why
        .trim_end_matches(|c: char| c.is_control() || c == ' ')
        .chars()
        .map(|c| match c {
            '"' => '\'',
            c if c.is_control() => ' ',
            c => c,
        });
    clean.take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line_that_slurm_takes() {
        assert_eq!(short("broken: a \"b\"\nc\t\u{7}"), "broken: a 'b' c");
        assert_eq!(short(&"é".repeat(500)).chars().count(), 200);
    }
}

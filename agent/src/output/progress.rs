//! One line on standard error with a bar and what is being done, for as long as it takes.

use std::io::{IsTerminal, Write};

use crate::probe::{PairStep, Progress, Step};

/// Goes to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";
/// Columns that the line keeps to: one that wraps cannot be cleared.
const WIDTH: usize = 79;
/// Columns within the brackets of the bar.
const BAR: usize = 10;

/// Draws on a terminal, and nowhere else. Dropped, it leaves no trace.
pub(crate) struct Drawn {
    shown: bool,
}

impl Drawn {
    /// `wanted` is what the command line says; a terminal that cannot clear a line gets nothing.
    pub(crate) fn on_stderr(wanted: bool) -> Self {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        Self {
            shown: wanted && !is_dumb && std::io::stderr().is_terminal(),
        }
    }

    fn draw(&self, text: &str) {
        if self.shown {
            let text: String = text.chars().take(WIDTH).collect();
            // A terminal that is gone is no reason to stop.
            let _ = write!(std::io::stderr().lock(), "{CLEAR}{text}");
        }
    }
}

impl Progress for Drawn {
    fn step(&self, step: Step) {
        self.draw(&line(step));
    }
}

impl Drop for Drawn {
    fn drop(&mut self) {
        self.draw("");
    }
}

fn line(step: Step) -> String {
    let bar = bar(share(step));
    format!("{bar} {}", words(step))
}

/// How much of what goes on is behind it: of the pairs, or of the bench's parts. It says nothing of time.
fn share(step: Step) -> Option<(usize, usize)> {
    match step {
        Step::Opening | Step::Collectives { .. } => None,
        Step::Preparing { gpu, of } => Some((usize::try_from(gpu).unwrap_or(of), of)),
        Step::Asking { pair } | Step::Checking { pair, .. } => Some((pair.number.saturating_sub(1), pair.of)),
        Step::Measuring { part, of, .. } => Some((part.saturating_sub(1), of)),
        Step::Loading { seconds, of } => {
            let [seconds, of] = [seconds, of].map(|number| usize::try_from(number).unwrap_or(0));
            Some((seconds, of))
        }
        Step::Closing => Some((1, 1)),
    }
}

/// `[###-------]`; all of it empty where nothing is known.
fn bar(share: Option<(usize, usize)>) -> String {
    let (done, of) = share.unwrap_or((0, 1));
    let full = (BAR * done.min(of)).checked_div(of).unwrap_or(0);
    format!("[{}{}]", "#".repeat(full), "-".repeat(BAR - full))
}

fn words(step: Step) -> String {
    let of = |PairStep { number, of, a, b }: PairStep| format!("pair {number} of {of}, GPU {a}, {b}");
    match step {
        Step::Opening => "opening the driver".to_owned(),
        Step::Preparing { gpu, of } => format!("preparing GPU {gpu}, one of {of}"),
        Step::Asking { pair } => format!("{}: asking the driver", of(pair)),
        Step::Checking {
            pair,
            initiator,
            owner,
            rung,
            check,
        } => format!("{}: {initiator} towards {owner}, rung {rung}, {check}", of(pair)),
        Step::Loading { seconds, of } => format!("loading all GPUs, {seconds} s of {of}"),
        Step::Measuring { metric, bytes, .. } => {
            format!("measuring {}, {bytes} bytes", metric.replace('_', " "))
        }
        Step::Collectives { gpus, peer_access } => {
            let how = if peer_access { "with" } else { "without" };
            format!("NCCL between {gpus} GPUs {how} peer access")
        }
        Step::Closing => "giving the GPUs back".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_fits_into_one_line() {
        let pair = PairStep {
            number: 28,
            of: 28,
            a: 6,
            b: 7,
        };
        let step = Step::Checking {
            pair,
            initiator: 7,
            owner: 6,
            rung: 5,
            check: "resident_exchange",
        };
        let text = line(step);
        assert_eq!(
            text,
            "[#########-] pair 28 of 28, GPU 6, 7: 7 towards 6, rung 5, resident_exchange"
        );
        assert!(text.len() <= WIDTH);
    }

    #[test]
    fn the_bar_is_full_only_at_the_end() {
        let measuring = |part, of| Step::Measuring {
            metric: "d2d_bandwidth",
            bytes: 1 << 20,
            part,
            of,
        };
        assert_eq!(
            line(measuring(1, 4)),
            "[----------] measuring d2d bandwidth, 1048576 bytes"
        );
        assert!(line(measuring(4, 4)).starts_with("[#######---] "));
        assert!(line(Step::Closing).starts_with("[##########] "));
        assert_eq!(bar(Some((9, 3))), "[##########]");
        assert_eq!(bar(Some((0, 0))), "[----------]");
    }
}

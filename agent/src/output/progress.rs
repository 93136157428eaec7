//! One line on standard error that says what is being done, for as long as it takes.

use std::io::{IsTerminal, Write};

use crate::probe::{PairStep, Progress, Step};

/// Goes to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";
/// Columns that the line keeps to: one that wraps cannot be cleared.
const WIDTH: usize = 79;

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
        self.draw(&words(step));
    }
}

impl Drop for Drawn {
    fn drop(&mut self) {
        self.draw("");
    }
}

fn words(step: Step) -> String {
    let of = |PairStep { number, of, a, b }: PairStep| format!("pair {number} of {of}, GPU {a} and GPU {b}");
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
        Step::Measuring { metric, bytes } => {
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
        let text = words(step);
        assert_eq!(
            text,
            "pair 28 of 28, GPU 6 and GPU 7: 7 towards 6, rung 5, resident_exchange"
        );
        assert!(text.len() <= WIDTH);
    }
}

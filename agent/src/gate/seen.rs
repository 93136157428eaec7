//! What a run of the agent says of the node, by how it ended. A fault and the absence of one need the same proof: the
//! exit code and what was printed with it.

use kb_core::health::headline;
use kb_core::report::Report;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Its exit code; `None`: a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    NoFault,
    Fault,
    Unknown(Doubt),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// The run says so itself (exit code 3).
    Said,
    /// Another run had the GPUs all the time.
    Busy,
    /// The agent does not understand its settings (64).
    Usage,
    /// There is no result, or none since the node was booted, or it is older than three looks.
    Silent,
    /// The agent is not there, was killed, or ended with a code that it does not have (126, 127, 137, 139 …).
    Died,
}

impl Doubt {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Said => "said",
            Self::Busy => "busy",
            Self::Usage => "usage",
            Self::Silent => "silent",
            Self::Died => "died",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) seen: Seen,
    pub(crate) why: String,
}

impl Found {
    pub(crate) fn unknown(doubt: Doubt, why: impl Into<String>) -> Self {
        Self {
            seen: Seen::Unknown(doubt),
            why: why.into(),
        }
    }
}

/// Of `probe --json --fail-on unknown` and its report. `is_busy`: another agent's run kept this one from the GPUs.
pub(crate) fn of_probe(ended: &Ended, is_busy: impl Fn(&Report) -> bool) -> (Found, Option<Report>) {
    // As bytes, as everywhere here: what reads a report from a `str` would be compiled beside it, a fifth of a megabyte.
    let report: Option<Report> = serde_json::from_slice(ended.stdout.as_bytes()).ok();
    let found = match (&report, ended.code) {
        (Some(report), _) if report.simulated_machine().is_some() => {
            Found::unknown(Doubt::Usage, "the run was simulated: the machine is made up")
        }
        (Some(report), Some(0..=3)) => {
            let why = headline(report, |verdict| verdict.word().to_owned());
            let seen = match ended.code {
                Some(0 | 1) => Seen::NoFault,
                Some(2) => Seen::Fault,
                _ if is_busy(report) => Seen::Unknown(Doubt::Busy),
                _ => Seen::Unknown(Doubt::Said),
            };
            Found { seen, why }
        }
        // A code of the agent's own without a report: it was cut off, or something else bears its name.
        (None, Some(0..=2)) => Found::unknown(
            Doubt::Died,
            format!("it ended with {} and without a report", how(ended)),
        ),
        _ => other(ended),
    };
    (found, report)
}

/// Of `status --fail-on unknown`, which prints one line.
pub(crate) fn of_status(ended: &Ended) -> Found {
    let line = ended.stdout.lines().find(|line| !line.trim().is_empty());
    let seen = match (ended.code, line) {
        (Some(0 | 1), Some(_)) => Seen::NoFault,
        (Some(2), Some(_)) => Seen::Fault,
        (Some(3), Some(_)) => Seen::Unknown(Doubt::Said),
        // It prints nothing of a result that is not there or too old, and says why on standard error.
        (Some(3), None) => return Found::unknown(Doubt::Silent, last_line(&ended.stderr)),
        (Some(0..=2), None) => {
            return Found::unknown(
                Doubt::Died,
                format!("it ended with {} and said nothing", how(ended)),
            );
        }
        _ => return other(ended),
    };
    Found {
        seen,
        why: line.unwrap_or_default().to_owned(),
    }
}

/// Of `daemon --once --fail-on unknown`, whose result may not be kept. What it says is for people.
pub(crate) fn of_look(ended: &Ended) -> Found {
    let seen = match ended.code {
        Some(0 | 1) => Seen::NoFault,
        Some(2) => Seen::Fault,
        Some(3) => Seen::Unknown(Doubt::Said),
        _ => return other(ended),
    };
    let lines = ended.stderr.lines().map(said);
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("warning: ")).collect();
    Found {
        seen,
        why: lines.join("; "),
    }
}

fn other(ended: &Ended) -> Found {
    let doubt = match ended.code {
        Some(3) => Doubt::Said,
        Some(64) => Doubt::Usage,
        _ => Doubt::Died,
    };
    let words = last_line(&ended.stderr);
    let words = if words.is_empty() {
        words
    } else {
        format!(": {words}")
    };
    Found::unknown(doubt, format!("the agent ended with {}{words}", how(ended)))
}

fn how(ended: &Ended) -> String {
    match (ended.code, ended.signal) {
        (Some(code), _) => format!("code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no code".to_owned(),
    }
}

fn last_line(text: &str) -> String {
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    said(line.unwrap_or_default()).to_owned()
}

/// A line of the agent's without its name.
fn said(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix("peerless-agent: ").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: Option<i32>, stdout: &str) -> Ended {
        Ended {
            code,
            signal: code.is_none().then_some(9),
            stdout: stdout.to_owned(),
            stderr: "peerless-agent: the last words\n".to_owned(),
        }
    }

    #[test]
    fn a_status_tells_by_code_and_line() {
        for (code, line, expected) in [
            (Some(0), "healthy: all\n", Seen::NoFault),
            (Some(1), "degraded: slow\n", Seen::NoFault),
            (Some(2), "broken: no way\n", Seen::Fault),
            (Some(3), "unknown: no NVML\n", Seen::Unknown(Doubt::Said)),
            (Some(3), "", Seen::Unknown(Doubt::Silent)),
            (Some(0), "", Seen::Unknown(Doubt::Died)),
            (Some(2), "\n", Seen::Unknown(Doubt::Died)),
            (Some(64), "", Seen::Unknown(Doubt::Usage)),
            (Some(101), "", Seen::Unknown(Doubt::Died)),
            (Some(126), "", Seen::Unknown(Doubt::Died)),
            (Some(127), "", Seen::Unknown(Doubt::Died)),
            (Some(137), "healthy: all\n", Seen::Unknown(Doubt::Died)),
            (Some(139), "", Seen::Unknown(Doubt::Died)),
            (Some(-1), "healthy: all\n", Seen::Unknown(Doubt::Died)),
            (None, "healthy: all\n", Seen::Unknown(Doubt::Died)),
        ] {
            assert_eq!(of_status(&ended(code, line)).seen, expected, "{code:?} {line:?}");
        }
        assert_eq!(
            of_status(&ended(None, "")).why,
            "the agent ended with signal 9: the last words"
        );
        let aborted = Ended {
            signal: Some(6),
            ..ended(None, "healthy: all\n")
        };
        assert_eq!(
            of_status(&aborted),
            Found::unknown(Doubt::Died, "the agent ended with signal 6: the last words")
        );
        assert_eq!(of_status(&ended(Some(3), "")).why, "the last words");
    }

    /// Without a report no code is believed, neither 0 nor 2.
    #[test]
    fn a_probe_without_a_report_tells_nothing() {
        for code in [Some(0), Some(1), Some(2), Some(127), Some(137), None] {
            for printed in ["", "{\"conclusion\":", "broken: no way\n"] {
                let (found, report) = of_probe(&ended(code, printed), |_| false);
                assert_eq!(found.seen, Seen::Unknown(Doubt::Died), "{code:?} {printed:?}");
                assert_eq!(report, None);
            }
        }
        let of = |code| of_probe(&ended(Some(code), ""), |_| false).0.seen;
        assert_eq!(of(3), Seen::Unknown(Doubt::Said));
        assert_eq!(of(64), Seen::Unknown(Doubt::Usage));
    }

    #[test]
    fn a_machine_that_is_made_up_tells_nothing_of_the_node() {
        let sample = include_str!("../../../kb-core/tests/data/reports/h200-x2-healthy.json");
        let mut report: serde_json::Value = serde_json::from_str(sample).unwrap();
        report["host"]["simulated.machine"] =
            serde_json::json!({ "value": "healthy", "source": "simulated", "gap": null });
        for code in 0..=2 {
            let (found, _) = of_probe(&ended(Some(code), &report.to_string()), |_| false);
            assert_eq!(found.seen, Seen::Unknown(Doubt::Usage), "{}", found.why);
        }
    }

    /// The run of a pair passes, and a fault is open that it does not end.
    #[test]
    fn a_fault_that_is_open_is_the_reason_and_not_what_the_run_proved() {
        let sample = include_str!("../../../kb-core/tests/data/reports/h200-x2-healthy.json");
        let mut report: serde_json::Value = serde_json::from_str(sample).unwrap();
        report["health"] = serde_json::json!({
            "verdict": "broken",
            "open": [{
                "id": "xid-79@node", "cause": "xid", "nature": "event", "bearing": "fault", "device": "node",
                "number": 79, "count": 1, "first_at": "2026-11-29T00:00:00Z", "last_at": "2026-11-29T00:00:00Z",
                "text": "Xid 79: fallen off the bus"
            }]
        });
        let (found, report) = of_probe(&ended(Some(2), &report.to_string()), |_| false);
        assert!(report.is_some());
        assert_eq!(found.seen, Seen::Fault);
        assert!(
            found.why.starts_with("broken: ") && found.why.contains("Xid 79"),
            "{}",
            found.why
        );
    }
}

//! What a report must hold together: indices that exist, pairs that are named once, times in order, sizes in bounds.

use std::collections::BTreeSet;

use kb_core::report::{Gpu, GpuIndex, Health, Measurement, Pair, Report};
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};

use super::error::{IngestError, Problem};

/// Most GPUs of a node; the largest systems of one driver have 16, and a list that rules see has at most 64.
const MAX_GPUS: usize = 64;
/// Most measurements of a report: metrics times sizes.
const MAX_MEASUREMENTS: usize = 1_000;
/// Most entries of one list of a ledger: some dozens of causes on each of [`MAX_GPUS`] GPUs. Each is held against other reports.
const MAX_ENTRIES: usize = 10_000;
/// Most clears of a ledger; agents keep a hundred.
const MAX_CLEARS: usize = 1_000;
/// Most entries that all clears of a ledger have ended.
const MAX_CLEARED: usize = 50_000;
/// Most GPUs that a node has and a report does not show.
const MAX_ABSENT: usize = 1_000;
/// Longest name of a metric, unit or host, in bytes; RFC 1035 has 253 for hosts.
const MAX_NAME_BYTES: usize = 255;
/// Problems that are listed; one that is repeated for each pair is understood before.
const MAX_PROBLEMS: usize = 20;

#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) finished_at: OffsetDateTime,
}

pub(super) fn check(report: &Report) -> Result<Times, IngestError> {
    let mut check = Check {
        gpus: report.gpus.len(),
        problems: Vec::new(),
    };
    check.sizes(report);
    check.gpus(&report.gpus);
    check.pairs(&report.pairs);
    for (number, measurement) in report.measurements.iter().enumerate() {
        check.measurement(number, measurement);
    }
    let times = check.times(report);
    match times {
        Some(times) if check.problems.is_empty() => Ok(times),
        _ => Err(IngestError::Invalid(check.problems)),
    }
}

struct Check {
    gpus: usize,
    problems: Vec<Problem>,
}

impl Check {
    fn say(&mut self, pointer: impl Into<String>, reason: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem {
                pointer: pointer.into(),
                reason: reason.into(),
            });
        }
    }

    fn sizes(&mut self, report: &Report) {
        self.most("/gpus", report.gpus.len(), MAX_GPUS);
        self.most("/measurements", report.measurements.len(), MAX_MEASUREMENTS);
        self.most("/absent", report.absent.len(), MAX_ABSENT);
        if let Some(health) = &report.health {
            self.health(health);
        }
        let hostname = report.node.hostname.as_deref().unwrap_or_default();
        if hostname.len() > MAX_NAME_BYTES || hostname.chars().any(char::is_control) {
            self.say(
                "/node/hostname",
                format!("a host name has at most {MAX_NAME_BYTES} printable bytes"),
            );
        }
    }

    /// A list that is too long is refused and not cut: what is left out would seem to have ended or, of clears, to be new later.
    fn health(&mut self, health: &Health) {
        self.most("/health/open", health.open.len(), MAX_ENTRIES);
        self.most("/health/counters", health.counters.len(), MAX_ENTRIES);
        self.most("/health/unread", health.unread.len(), MAX_ENTRIES);
        let decidable = health
            .last_proof
            .as_ref()
            .map_or(0, |proof| proof.decidable.len());
        self.most("/health/last_proof/decidable", decidable, MAX_ENTRIES);
        self.most("/health/clears", health.clears.len(), MAX_CLEARS);
        let cleared = health.clears.iter().map(|clear| clear.entries.len());
        let cleared: usize = cleared.sum();
        if cleared > MAX_CLEARED {
            let reason = format!("together they name {cleared} entries, the limit is {MAX_CLEARED}");
            self.say("/health/clears", reason);
        }
    }

    fn most(&mut self, pointer: &str, are: usize, limit: usize) {
        if are > limit {
            self.say(pointer, format!("there are {are}, the limit is {limit}"));
        }
    }

    fn gpus(&mut self, gpus: &[Gpu]) {
        let mut seen = BTreeSet::new();
        for (number, gpu) in gpus.iter().enumerate() {
            if !seen.insert(gpu.cuda_ordinal) {
                self.say(
                    format!("/gpus/{number}/cuda_ordinal"),
                    format!("another GPU of the report is {}, too", gpu.cuda_ordinal),
                );
            }
        }
    }

    fn times(&mut self, report: &Report) -> Option<Times> {
        let started_at = self.time("/started_at", &report.started_at);
        let finished_at = self.time("/finished_at", &report.finished_at);
        let (started_at, finished_at) = (started_at?, finished_at?);
        if finished_at < started_at {
            self.say("/finished_at", "the run ends before it starts");
        }
        Some(Times { finished_at })
    }

    fn time(&mut self, pointer: &str, text: &str) -> Option<OffsetDateTime> {
        // In UTC, as it is kept: the last hours of 9999 west of Greenwich are no time there.
        let time = OffsetDateTime::parse(text, &Rfc3339)
            .ok()
            .and_then(|time| time.checked_to_offset(UtcOffset::UTC));
        if time.is_none() {
            self.say(
                pointer,
                format!("{text:?} is not a time such as 2026-11-21T07:21:49Z"),
            );
        }
        time
    }

    fn gpu(&mut self, pointer: &str, index: GpuIndex) {
        if usize::try_from(index).is_ok_and(|index| index >= self.gpus) {
            self.say(
                pointer,
                format!("there is no GPU {index}: the report has {}", self.gpus),
            );
        }
    }

    fn pairs(&mut self, pairs: &[Pair]) {
        let mut seen = BTreeSet::new();
        for (number, pair) in pairs.iter().enumerate() {
            let pointer = format!("/pairs/{number}");
            self.gpu(&format!("{pointer}/b"), pair.b);
            if pair.a >= pair.b {
                self.say(
                    &pointer,
                    format!("a is {} and b is {}, a must be the lower", pair.a, pair.b),
                );
            }
            if !seen.insert((pair.a, pair.b)) {
                self.say(
                    &pointer,
                    format!("the pair {}-{} stands here twice", pair.a, pair.b),
                );
            }
            self.directions(&pointer, pair);
        }
    }

    fn directions(&mut self, pointer: &str, pair: &Pair) {
        let mut seen = BTreeSet::new();
        for (number, direction) in pair.directions.iter().enumerate() {
            let pointer = format!("{pointer}/directions/{number}");
            let ends = (direction.initiator, direction.owner);
            if ends != (pair.a, pair.b) && ends != (pair.b, pair.a) {
                let reason = format!(
                    "{} to {} is no direction of the pair {}-{}",
                    ends.0, ends.1, pair.a, pair.b
                );
                self.say(&pointer, reason);
            }
            if !seen.insert(ends) {
                self.say(&pointer, format!("{} to {} stands here twice", ends.0, ends.1));
            }
        }
    }

    fn measurement(&mut self, number: usize, measurement: &Measurement) {
        let pointer = format!("/measurements/{number}");
        for (name, text) in [("metric", &measurement.metric), ("unit", &measurement.unit)] {
            if text.is_empty() || text.len() > MAX_NAME_BYTES || text.chars().any(char::is_control) {
                let reason = format!("a {name} has 1 to {MAX_NAME_BYTES} printable bytes");
                self.say(format!("{pointer}/{name}"), reason);
            }
        }
        if i64::try_from(measurement.bytes).is_err() {
            self.say(format!("{pointer}/bytes"), "no transfer is that large");
        }
        let mut seen = BTreeSet::new();
        for (at, cell) in measurement.cells.iter().enumerate() {
            let pointer = format!("{pointer}/cells/{at}");
            for (name, index) in [("source", cell.source), ("destination", cell.destination)] {
                if let Some(index) = index {
                    self.gpu(&format!("{pointer}/{name}"), index);
                }
            }
            if cell.source.is_none() && cell.destination.is_none() {
                self.say(&pointer, "neither end is a GPU");
            }
            if !seen.insert((cell.source, cell.destination)) {
                self.say(&pointer, "this cell stands in the measurement twice");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::report;

    /// The places of what is said against a report with this ledger.
    fn refused(health: Value) -> Vec<String> {
        let mut body = report(2, &[]);
        body["health"] = health;
        match check(&serde_json::from_value(body).unwrap()) {
            Ok(_) => Vec::new(),
            Err(IngestError::Invalid(problems)) => {
                assert!(
                    problems
                        .iter()
                        .all(|problem| problem.reason.contains("the limit is"))
                );
                problems.into_iter().map(|problem| problem.pointer).collect()
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn open(entries: usize) -> Value {
        let entry = |number: usize| {
            json!({
                "id": format!("xid-{number}@node"), "cause": "xid", "nature": "event", "bearing": "fault", "device": "node",
                "count": 1, "first_at": "2026-11-21T06:00:00Z", "last_at": "2026-11-21T06:00:00Z", "text": "",
            })
        };
        let entries: Vec<Value> = (0..entries).map(entry).collect();
        json!({ "verdict": "broken", "open": entries })
    }

    /// So many clears, each of so many entries.
    fn clears(count: usize, entries: usize) -> Value {
        let ids: Vec<String> = (0..entries).map(|number| format!("xid-{number}@node")).collect();
        let clear = json!({ "at": "2026-11-21T06:00:00Z", "by": "ops", "reason": "", "entries": ids });
        json!({ "verdict": "no_fault_seen", "clears": vec![clear; count] })
    }

    #[test]
    fn the_lists_of_a_ledger_have_limits() {
        for (health, place) in [
            (open(MAX_ENTRIES), None),
            (open(MAX_ENTRIES + 1), Some("/health/open")),
            (clears(MAX_CLEARS, 50), None),
            (clears(MAX_CLEARS + 1, 1), Some("/health/clears")),
            (clears(1, MAX_CLEARED + 1), Some("/health/clears")),
        ] {
            let place: Vec<&str> = place.into_iter().collect();
            assert_eq!(refused(health), place);
        }
    }
}

//! What a report must hold together: indices that exist, pairs that are named once, times in order, sizes in bounds.

use std::collections::BTreeSet;

use kb_core::report::{Gpu, GpuIndex, Measurement, Pair, Report};
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};

use super::error::{IngestError, Problem};

/// Most GPUs of a node; the largest systems of one driver have 16, and a list that rules see has at most 64.
const MAX_GPUS: usize = 64;
/// Most measurements of a report: metrics times sizes.
const MAX_MEASUREMENTS: usize = 1_000;
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
        if report.gpus.len() > MAX_GPUS {
            self.say(
                "/gpus",
                format!("there are {}, the limit is {MAX_GPUS}", report.gpus.len()),
            );
        }
        if report.measurements.len() > MAX_MEASUREMENTS {
            let reason = format!(
                "there are {}, the limit is {MAX_MEASUREMENTS}",
                report.measurements.len()
            );
            self.say("/measurements", reason);
        }
        let hostname = report.node.hostname.as_deref().unwrap_or_default();
        if hostname.len() > MAX_NAME_BYTES || hostname.chars().any(char::is_control) {
            self.say(
                "/node/hostname",
                format!("a host name has at most {MAX_NAME_BYTES} printable bytes"),
            );
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

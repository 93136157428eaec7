//! Faults that are planted: what a measurement looks like where something is slow.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::nodes::list;
use super::noise::samples;
use crate::random::Random;

/// GPUs of a node.
const GPUS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A pair is 3 to 12 % slower, both ways.
    SlowPair,
    /// A pair is 2 % slower: the least that must be seen.
    BarelySlowPair,
    /// All pairs of a GPU are 5 to 15 % slower.
    SlowGpu,
    /// A GPU has half of its NVLinks.
    HalfLinks,
    /// What goes between a GPU and the host has half of its lanes.
    HalfLanes,
    /// The whole node is 4 to 10 % slower.
    SlowNode,
    /// Loads over a pair take 15 to 40 % longer.
    SlowLoads,
    /// All pairs of a GPU are 4 to 8 % slower in the second run, and were good in the first.
    Drift,
}

const KINDS: [(Kind, &str); 8] = [
    (Kind::SlowPair, "slow-pair"),
    (Kind::BarelySlowPair, "barely-slow-pair"),
    (Kind::SlowGpu, "slow-gpu"),
    (Kind::HalfLinks, "half-links"),
    (Kind::HalfLanes, "half-lanes"),
    (Kind::SlowNode, "slow-node"),
    (Kind::SlowLoads, "slow-loads"),
    (Kind::Drift, "drift"),
];

/// A fault of a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    pub(super) kind: Kind,
    /// The GPU, or the first of the pair.
    gpu: u64,
    /// The other of the pair.
    other: u64,
    /// What is left of a bandwidth; a latency grows by as much.
    share: f64,
}

/// `slow-pair=3,slow-gpu=2` or `all=2`.
pub(super) fn parse(text: &str) -> Result<Vec<Kind>> {
    let mut wanted = Vec::new();
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        let (name, count) = part.trim().split_once('=').unwrap_or((part.trim(), "1"));
        let Ok(count) = count.parse::<usize>() else {
            bail!("{part:?}: how often a fault is planted is a whole number");
        };
        let kinds: Vec<Kind> = match KINDS.iter().find(|(_, known)| *known == name) {
            Some((kind, _)) => vec![*kind],
            None if name == "all" => KINDS.iter().map(|(kind, _)| *kind).collect(),
            None => {
                let known: Vec<&str> = KINDS.iter().map(|(_, name)| *name).collect();
                bail!("there is no fault {name:?}; there are all, {}", known.join(", "));
            }
        };
        for kind in kinds {
            wanted.extend(std::iter::repeat_n(kind, count));
        }
    }
    Ok(wanted)
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        KINDS
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("unknown", |(_, name)| name)
    }
}

impl Fault {
    pub(super) fn drawn(kind: Kind, random: &mut Random) -> Self {
        let gpu = random.below(GPUS);
        let other = (gpu + 1 + random.below(GPUS - 1)) % GPUS;
        let mut between = |low: f64, high: f64| {
            let part = u32::try_from(random.below(1001)).map_or(0.0, f64::from) / 1000.0;
            low + (high - low) * part
        };
        let share = match kind {
            Kind::SlowPair => 1.0 - between(0.03, 0.12),
            Kind::BarelySlowPair => 0.98,
            Kind::SlowGpu => 1.0 - between(0.05, 0.15),
            Kind::HalfLinks | Kind::HalfLanes => 0.5,
            Kind::SlowNode => 1.0 - between(0.04, 0.10),
            Kind::SlowLoads => 1.0 / (1.0 + between(0.15, 0.40)),
            Kind::Drift => 1.0 - between(0.04, 0.08),
        };
        Self {
            kind,
            gpu: gpu as u64,
            other: other as u64,
            share,
        }
    }

    /// Whether the node's first run has it, too.
    pub(super) fn is_from_the_start(&self) -> bool {
        self.kind != Kind::Drift
    }

    /// The subject that must be named: as the interface writes it.
    pub(super) fn subject(&self) -> Value {
        match self.kind {
            Kind::SlowPair | Kind::BarelySlowPair | Kind::SlowLoads => {
                json!({ "kind": "pair", "a": self.gpu.min(self.other), "b": self.gpu.max(self.other) })
            }
            Kind::SlowGpu | Kind::HalfLinks | Kind::HalfLanes | Kind::Drift => {
                json!({ "kind": "gpu", "gpu": self.gpu })
            }
            Kind::SlowNode => json!({ "kind": "node" }),
        }
    }

    pub(super) fn apply(&self, report: &mut Value) {
        for measurement in list(report, "measurements") {
            let metric = measurement
                .get("metric")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let metric = metric.to_owned();
            let is_latency = measurement.get("unit").and_then(Value::as_str) != Some("GB/s");
            if !self.touches(&metric, is_latency) {
                continue;
            }
            for cell in list(measurement, "cells") {
                if !self.is_of(cell) {
                    continue;
                }
                let slower = samples(cell).into_iter().map(|sample| {
                    if is_latency {
                        sample / self.share
                    } else {
                        sample * self.share
                    }
                });
                let slower: Vec<f64> = slower.collect();
                if let Some(cell) = cell.as_object_mut() {
                    cell.insert("samples".to_owned(), json!(slower));
                }
            }
        }
    }

    fn touches(&self, metric: &str, is_latency: bool) -> bool {
        let with_host = metric.starts_with("h2d") || metric.starts_with("d2h");
        match self.kind {
            Kind::SlowLoads => metric.starts_with("load_latency"),
            Kind::HalfLanes => with_host,
            Kind::SlowNode => !is_latency,
            _ => !is_latency && !with_host,
        }
    }

    fn is_of(&self, cell: &Value) -> bool {
        let end = |name: &str| cell.get(name).and_then(Value::as_u64);
        let ends = [end("source"), end("destination")];
        match self.kind {
            Kind::SlowPair | Kind::BarelySlowPair | Kind::SlowLoads => {
                ends.contains(&Some(self.gpu)) && ends.contains(&Some(self.other))
            }
            Kind::SlowGpu | Kind::HalfLinks | Kind::HalfLanes | Kind::Drift => ends.contains(&Some(self.gpu)),
            Kind::SlowNode => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named_and_counted() {
        assert_eq!(
            parse("slow-pair=2,drift").unwrap(),
            [Kind::SlowPair, Kind::SlowPair, Kind::Drift]
        );
        assert_eq!(parse("all=2").unwrap().len(), 16);
        let refused = parse("slow=1").unwrap_err().to_string();
        assert!(refused.contains("slow-pair"), "{refused}");
        assert!(parse("drift=x").is_err());
    }

    #[test]
    fn a_fault_touches_its_own_cells_alone() {
        let mut report = json!({"measurements": [
            {"metric": "d2d_bandwidth", "unit": "GB/s", "cells": [
                {"source": 0, "destination": 1, "samples": [100.0]},
                {"source": 1, "destination": 2, "samples": [100.0]},
            ]},
            {"metric": "h2d_bandwidth", "unit": "GB/s", "cells": [{"source": null, "destination": 0, "samples": [50.0]}]},
        ]});
        let fault = Fault {
            kind: Kind::HalfLinks,
            gpu: 0,
            other: 1,
            share: 0.5,
        };
        fault.apply(&mut report);
        assert_eq!(report["measurements"][0]["cells"][0]["samples"], json!([50.0]));
        assert_eq!(report["measurements"][0]["cells"][1]["samples"], json!([100.0]));
        assert_eq!(report["measurements"][1]["cells"][0]["samples"], json!([50.0]));
        assert_eq!(fault.subject(), json!({"kind": "gpu", "gpu": 0}));
    }
}

//! Healthy nodes: the report of a real machine with four H200, with other names and with noise.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::noise::{Machine, Noise, cells, key, measurements, median, samples};
use crate::random::Random;

/// Real reports: the first is what every node looks like, all of them together say how machines and runs differ.
const REPORTS: [&str; 3] = ["h200-x4-bench.json", "h200-x2-bench.json", "h200-x2-nccl.json"];

pub(super) struct Fleet {
    template: Value,
    noise: Noise,
}

/// Id of a node.
pub(super) fn name(node: usize) -> String {
    format!("simulated-{node:04}")
}

impl Fleet {
    pub(super) fn read() -> Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kb-core/tests/data/reports");
        let mut reports = Vec::new();
        for file in REPORTS {
            let bytes = std::fs::read(folder.join(file)).with_context(|| format!("could not read {file}"))?;
            reports.push(serde_json::from_slice::<Value>(&bytes)?);
        }
        let noise = Noise::of(&reports);
        let mut template = reports.swap_remove(0);
        for measurement in list(&mut template, "measurements") {
            for cell in list(measurement, "cells") {
                // Clocks and temperatures during the copies: nothing here reads them, and they are most of a report.
                cell.as_object_mut().map(|cell| cell.remove("conditions"));
            }
        }
        Ok(Self { template, noise })
    }

    pub(super) fn machine(&self, random: &mut Random) -> Machine {
        self.noise.machine(random)
    }

    /// The report of a run.
    pub(super) fn report(&self, node: usize, run: usize, machine: &Machine, random: &mut Random) -> Value {
        let mut report = self.template.clone();
        let minute = run * 30;
        if let Some(fields) = report.as_object_mut() {
            fields.insert("report_id".to_owned(), json!(id(node, run)));
            fields.insert("simulated".to_owned(), json!(true));
            fields.insert(
                "node".to_owned(),
                json!({ "id": name(node), "hostname": name(node), "boot_id": null }),
            );
            fields.insert(
                "started_at".to_owned(),
                json!(format!("2026-11-01T10:{minute:02}:00Z")),
            );
            fields.insert(
                "finished_at".to_owned(),
                json!(format!("2026-11-01T10:{:02}:00Z", minute + 5)),
            );
        }
        for (index, gpu) in list(&mut report, "gpus").iter_mut().enumerate() {
            let uuid = format!("GPU-{node:08x}-0000-4000-8000-{index:012x}");
            if let Some(fact) = gpu.pointer_mut("/uuid/value") {
                *fact = json!(uuid);
            }
            if let Some(fact) = gpu.pointer_mut("/facts/nvml.uuid/value") {
                *fact = json!(uuid);
            }
        }
        self.measure(&mut report, machine, random);
        report
    }

    /// New samples for every cell. All cells of a measurement start from its middle: what sets them apart is noise.
    fn measure(&self, report: &mut Value, machine: &Machine, random: &mut Random) {
        let middles: Vec<Option<f64>> = measurements(report)
            .map(|measurement| {
                median(
                    cells(measurement)
                        .filter_map(|cell| median(samples(cell)))
                        .collect(),
                )
            })
            .collect();
        for (measurement, middle) in list(report, "measurements").iter_mut().zip(middles) {
            let key = key(measurement);
            let is_even = is_even(measurement);
            for cell in list(measurement, "cells") {
                let had = samples(cell);
                // What a pattern of all GPUs reaches depends on its place in it.
                let own = if is_even { middle } else { median(had.clone()) };
                let Some(own) = own.filter(|_| !had.is_empty()) else {
                    continue;
                };
                let drawn = self.noise.samples(&key, own, had.len(), machine, random);
                if let Some(cell) = cell.as_object_mut() {
                    cell.insert("samples".to_owned(), json!(drawn));
                }
            }
        }
    }
}

fn is_even(measurement: &Value) -> bool {
    let metric = measurement
        .get("metric")
        .and_then(Value::as_str)
        .unwrap_or_default();
    !metric.starts_with("all_to_all") && !metric.starts_with("one_to_all")
}

fn id(node: usize, run: usize) -> String {
    format!("5eed0000-0000-4000-8000-{node:08x}{run:04x}")
}

pub(super) fn list<'v>(value: &'v mut Value, name: &str) -> &'v mut [Value] {
    let list = value.get_mut(name).and_then(Value::as_array_mut);
    list.map(Vec::as_mut_slice).unwrap_or_default()
}

//! How runs and machines differ, taken from real reports: nothing about it is made up.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::random::Random;

/// Ratios that were seen, by test.
#[derive(Default)]
pub(super) struct Noise {
    /// A machine's median beside that of all machines, by test and size.
    machines: BTreeMap<String, Vec<f64>>,
    /// A sample beside the median of its cell, and a cell beside the median of its measurement, by test and size.
    samples: BTreeMap<String, Vec<f64>>,
}

/// By how much one machine differs, by test and size.
pub(super) struct Machine(BTreeMap<String, f64>);

/// What names a test: metric, engine, operation, peer access, size.
pub(super) fn key(measurement: &Value) -> String {
    let text = |name: &str| measurement.get(name).map(ToString::to_string).unwrap_or_default();
    let names = ["metric", "engine", "operation", "peer_access", "bytes"];
    names.map(text).join(" ")
}

impl Noise {
    pub(super) fn of(reports: &[Value]) -> Self {
        let mut noise = Self::default();
        let mut medians: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for measurement in reports.iter().flat_map(measurements) {
            let cells: Vec<Vec<f64>> = cells(measurement)
                .map(samples)
                .filter(|cell| !cell.is_empty())
                .collect();
            let Some(middle) = median(cells.iter().filter_map(|cell| median(cell.clone())).collect()) else {
                continue;
            };
            let key = key(measurement);
            medians.entry(key.clone()).or_default().push(middle);
            let seen = noise.samples.entry(key).or_default();
            for cell in cells {
                let Some(own) = median(cell.clone()) else { continue };
                seen.extend(cell.iter().map(|sample| sample / own));
                seen.push(own / middle);
            }
        }
        for (key, medians) in medians {
            let Some(middle) = median(medians.clone()) else {
                continue;
            };
            let ratios = medians.iter().map(|one| one / middle);
            noise.machines.insert(key, ratios.collect());
        }
        noise
    }

    /// A machine, each of whose tests differs as one of the real machines did.
    pub(super) fn machine(&self, random: &mut Random) -> Machine {
        let drawn = self
            .machines
            .iter()
            .map(|(key, seen)| (key.clone(), draw(seen, random)));
        Machine(drawn.collect())
    }

    /// Samples of a cell of a machine, as many as there were.
    pub(super) fn samples(
        &self,
        key: &str,
        middle: f64,
        count: usize,
        machine: &Machine,
        random: &mut Random,
    ) -> Vec<f64> {
        let of_machine = machine.0.get(key).copied().unwrap_or(1.0);
        let seen = self.samples.get(key).map(Vec::as_slice).unwrap_or_default();
        let samples = (0..count).map(|_| middle * of_machine * draw(seen, random));
        samples.collect()
    }
}

fn draw(seen: &[f64], random: &mut Random) -> f64 {
    if seen.is_empty() {
        return 1.0;
    }
    seen.get(random.below(seen.len())).copied().unwrap_or(1.0)
}

pub(super) fn measurements(report: &Value) -> impl Iterator<Item = &Value> {
    report
        .get("measurements")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

pub(super) fn cells(measurement: &Value) -> impl Iterator<Item = &Value> {
    measurement
        .get("cells")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

pub(super) fn samples(cell: &Value) -> Vec<f64> {
    let samples = cell.get("samples").and_then(Value::as_array);
    samples.into_iter().flatten().filter_map(Value::as_f64).collect()
}

pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

//! How healthy machines and runs differ, by the number of GPUs.
//!
//! How far the medians of cells lie apart from run to run is the table of `docs/benchmarks/bench.md` (four runs of each machine,
//! three of H100); how samples of a cell differ is taken from the real report itself.

use std::collections::BTreeMap;

use kb_core::report::{Engine, Measurement, Operation, Report};

use super::boards::Board;
use crate::random::Random;

/// Lowest and highest median of a cell in repeated runs.
type Range = (f64, f64);

/// Metric, engine, operation, with peer access, ranges with H200 by two and by four GPUs, and with two H100.
type Row = (&'static str, Engine, Operation, bool, Range, Range, Range);

const ROWS: [Row; 10] = [
    (
        "d2d_bandwidth",
        Engine::Ce,
        Operation::Push,
        true,
        (396.31, 396.37),
        (396.29, 396.45),
        (397.59, 397.65),
    ),
    (
        "d2d_bandwidth",
        Engine::Ce,
        Operation::Pull,
        true,
        (393.65, 394.10),
        (393.59, 394.23),
        (395.10, 395.44),
    ),
    (
        "d2d_bandwidth",
        Engine::Sm,
        Operation::Push,
        true,
        (369.95, 370.25),
        (369.60, 370.39),
        (369.54, 369.73),
    ),
    (
        "d2d_bandwidth",
        Engine::Sm,
        Operation::Pull,
        true,
        (375.60, 376.02),
        (375.41, 376.18),
        (376.02, 376.41),
    ),
    (
        "d2d_bandwidth_both_ways",
        Engine::Ce,
        Operation::Push,
        true,
        (783.5, 783.6),
        (783.4, 783.7),
        (393.00, 393.19),
    ),
    (
        "d2d_bandwidth",
        Engine::Ce,
        Operation::Push,
        false,
        (37.6, 37.8),
        (36.5, 37.9),
        (37.6, 37.8),
    ),
    (
        "h2d_bandwidth",
        Engine::Ce,
        Operation::Other,
        true,
        (55.35, 55.47),
        (55.27, 55.51),
        (54.94, 55.36),
    ),
    (
        "d2h_bandwidth",
        Engine::Ce,
        Operation::Other,
        true,
        (55.30, 55.34),
        (55.27, 55.38),
        (55.16, 55.21),
    ),
    (
        "load_latency",
        Engine::Sm,
        Operation::Pull,
        true,
        (826.8, 827.8),
        (828.4, 834.9),
        (826.6, 828.5),
    ),
    (
        "copy_latency",
        Engine::Ce,
        Operation::Push,
        true,
        (2.22, 2.27),
        (2.17, 2.29),
        (2.17, 2.31),
    ),
];
/// With four GPUs, in one run of four, one of the four cells from the host had 51.5 in place of 55.5 GB/s: guests share its memory.
const DISTURBED: f64 = 51.52 / 55.5;
const ONE_CELL_IN: usize = 16;
/// Two machines of a kind, in other sessions, were within 0.1 %.
const MACHINES: f64 = 0.001;

/// How samples of a cell lie around its middle, by test.
pub(super) struct Noise {
    board: Board,
    samples: BTreeMap<String, Vec<f64>>,
}

/// By how much one machine differs.
pub(super) struct Machine(f64);

impl Machine {
    pub(super) fn drawn(random: &mut Random) -> Self {
        Self(between(random, 1.0 - MACHINES, 1.0 + MACHINES))
    }
}

impl Noise {
    /// From the real report that the board's template was cut from.
    pub(super) fn of(board: Board, template: &Report) -> Self {
        let mut samples: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for measurement in &template.measurements {
            let seen = samples.entry(key(measurement)).or_default();
            for cell in &measurement.cells {
                let Some(own) = cell.median() else { continue };
                seen.extend(cell.samples.iter().map(|sample| sample / own));
            }
        }
        Self { board, samples }
    }

    /// New samples for every cell of a run. All cells of a test start from its middle: what sets them apart is noise.
    pub(super) fn measure(&self, report: &mut Report, machine: &Machine, random: &mut Random) {
        for measurement in &mut report.measurements {
            let medians = measurement.cells.iter().filter_map(kb_core::report::Cell::median);
            let Some(middle) = middle(medians.collect()) else {
                continue;
            };
            let key = key(measurement);
            let range = self.range(measurement);
            let is_from_host = measurement.metric == "h2d_bandwidth" && self.board.gpus() == 4;
            for cell in &mut measurement.cells {
                let mut own = middle * machine.0 * between(random, range.0, range.1);
                if is_from_host && random.below(ONE_CELL_IN) == 0 {
                    own *= DISTURBED;
                }
                let seen = self.samples.get(&key).map(Vec::as_slice).unwrap_or_default();
                for sample in &mut cell.samples {
                    *sample = own * draw(seen, random);
                }
            }
        }
    }

    /// Around 1. PCIe between GPUs has no repeated runs: what copies with the host show stands in for it.
    fn range(&self, measurement: &Measurement) -> Range {
        let on_pcie = !self.board.has_nvlink() && measurement.metric.starts_with("d2d");
        let metric = if on_pcie {
            "h2d_bandwidth"
        } else {
            measurement.metric.as_str()
        };
        let is_staged = measurement.peer_access == Some(false);
        let row = ROWS.iter().find(|row| {
            row.0 == metric
                && (on_pcie
                    || (row.1 == measurement.engine && row.2 == measurement.operation && row.3 != is_staged))
        });
        let (low, high) = match (row, self.board) {
            (Some(row), Board::H200x2) => row.4,
            (Some(row), Board::H200x4 | Board::A40x4) => row.5,
            (Some(row), Board::H100x2) => row.6,
            (None, _) => (0.97, 1.03),
        };
        let middle = f64::midpoint(low, high);
        (low / middle, high / middle)
    }
}

/// What names a test: metric, engine, operation, peer access, size.
fn key(measurement: &Measurement) -> String {
    format!(
        "{} {:?} {:?} {:?} {}",
        measurement.metric,
        measurement.engine,
        measurement.operation,
        measurement.peer_access,
        measurement.bytes
    )
}

fn draw(seen: &[f64], random: &mut Random) -> f64 {
    if seen.is_empty() {
        return 1.0;
    }
    seen.get(random.below(seen.len())).copied().unwrap_or(1.0)
}

pub(super) fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    let part = u32::try_from(random.below(10_001)).map_or(0.0, f64::from) / 10_000.0;
    low + (high - low) * part
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

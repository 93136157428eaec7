//! The bench: bandwidths and latencies in the same processes as the ladder, behind it, on what it has proven.
//!
//! ```text
//! look: all GPUs ready -> without_access (staged copies) -> the ladder enables access -> with_access -> measurements
//!     mode: which cells, sizes, samples    ways: what runs at the same time    ask: one cell from the worker
//! ```

mod ask;
mod between;
mod estimate;
mod fans;
mod host;
mod latency;
mod mode;
mod ways;

use std::collections::BTreeSet;
use std::time::Instant;

use kb_core::report::{
    Cell, Conditions, Engine, Failure, Gap, GapKind, Gpu, Measurement, Operation, Outcome, Pair, Taken,
};

use crate::worker::protocol::{FlowOf, Measure};

use super::failure::failure_of;
use super::progress::{Progress, Step};
use super::session::Session;

use ask::Measured;
pub(crate) use estimate::estimate;
pub(crate) use mode::BenchOptions;
pub(super) use mode::Mode;
pub(super) use mode::SWEEP;
use ways::Beside;
pub(super) use ways::Way;

/// The rungs that a pair has to have passed both ways before it is measured: a figure of copies that lose data is none.
const RUNGS: std::ops::RangeInclusive<u8> = 2..=6;
/// Without access, one way, both ways, with host memory, latencies; in full mode also fans and sizes.
const PARTS: usize = 5;
const PARTS_OF_FULL: usize = 7;
/// Why nothing is measured on a GPU.
const BUSY: &str = "somebody else uses the GPU";

pub(super) struct Bench<'a> {
    mode: Mode,
    gpus: u32,
    idle: BTreeSet<u32>,
    progress: &'a dyn Progress,
    part: usize,
    measurements: Vec<Measurement>,
    wrong: Vec<Failure>,
    /// Since when, and in how many rounds, the cells of the next measurement are taken.
    since: Instant,
    rounds: u32,
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    metric: &'static str,
    unit: &'static str,
    engine: Engine,
    operation: Operation,
    bytes: u64,
    peer_access: Option<bool>,
    at_once: bool,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        chosen: BenchOptions,
        gpus: &[Gpu],
        idle: &BTreeSet<u32>,
        progress: &'a dyn Progress,
    ) -> Self {
        Self {
            mode: Mode::of(chosen, gpus),
            gpus: u32::try_from(gpus.len()).unwrap_or(0),
            idle: idle.clone(),
            progress,
            part: 1,
            measurements: Vec::new(),
            wrong: Vec::new(),
            since: Instant::now(),
            rounds: 0,
        }
    }

    /// What only shows while no access is enabled: copies that the driver stages through the host.
    pub(super) fn without_access(&mut self, session: &mut Session<'_>, ways: &[Way]) {
        self.since = Instant::now();
        let ways = self.without_busy(ways.to_vec());
        self.staged(session, &ways);
    }

    pub(super) fn with_access(&mut self, session: &mut Session<'_>, pairs: &[Pair]) {
        self.since = Instant::now();
        let ways = pairs.iter().flat_map(|pair| {
            let closed = (!is_proven(pair)).then(|| "the ladder has not proven the pair".to_owned());
            let there = Way {
                closed,
                ..Way::open(pair.a, pair.b)
            };
            let back = there.back();
            [there, back]
        });
        let ways = self.without_busy(ways.collect());
        let joined = pairs
            .iter()
            .all(|pair| pair.nvlinks.value.is_some_and(|links| links > 0));
        let beside = if joined && self.may_run_at_once(session, &ways) {
            Beside::Others
        } else {
            Beside::Nobody
        };
        self.part = 2;
        self.one_way(session, &ways, beside);
        self.part = 3;
        self.both_ways(session, &ways, beside);
        self.part = 4;
        self.with_host(session);
        self.part = 5;
        self.latencies(session, &ways, beside);
        if self.mode.full {
            self.part = 6;
            self.fans(session, &ways);
            self.part = 7;
            self.sweep(session, &ways, beside);
        }
    }

    pub(super) fn finish(self) -> (Vec<Measurement>, Vec<Failure>) {
        (self.measurements, self.wrong)
    }

    fn without_busy(&self, ways: Vec<Way>) -> Vec<Way> {
        let close = |mut way: Way| {
            let ends = [way.source, way.destination];
            if let Some(gpu) = ends.into_iter().find(|gpu| !self.idle.contains(gpu)) {
                way.closed = Some(format!("{BUSY} (GPU {gpu})"));
            }
            way
        };
        ways.into_iter().map(close).collect()
    }

    fn measure_of(&self, flows: Vec<FlowOf>, bytes: u64, session: &Session<'_>) -> Measure {
        Measure {
            flows,
            bytes,
            warm_ups: Mode::warm_ups_of(bytes),
            samples: self.mode.samples,
            turns: false,
            verify: false,
            limit_ms: session.setup.limit_ms(),
        }
    }

    fn add(&mut self, shape: Shape, cells: Vec<Cell>) {
        let rounds = std::mem::take(&mut self.rounds);
        let now = Instant::now();
        let since = std::mem::replace(&mut self.since, now);
        if cells.is_empty() {
            return;
        }
        let taken = (rounds > 0).then(|| Taken {
            rounds,
            seconds: now.duration_since(since).as_secs_f64(),
        });
        self.measurements.push(Measurement {
            metric: shape.metric.to_owned(),
            unit: shape.unit.to_owned(),
            engine: shape.engine,
            operation: shape.operation,
            bytes: shape.bytes,
            peer_access: shape.peer_access,
            at_once: shape.at_once.then_some(true),
            taken,
            cells,
        });
    }

    fn begin(&mut self, shape: Shape) {
        self.rounds += 1;
        self.progress.step(Step::Measuring {
            metric: shape.metric,
            bytes: shape.bytes,
            part: self.part,
            of: if self.mode.full { PARTS_OF_FULL } else { PARTS },
        });
    }

    /// Keeps what was wrong with data as failures of the run. The cells have it too, see [`lost`].
    fn keep_wrong(&mut self, metric: &str, measured: &Measured) {
        let failures = measured
            .wrong
            .iter()
            .map(|wrong| failure_of(metric, wrong.message.clone()));
        self.wrong.extend(failures);
    }
}

/// Why a way has no figure although it was measured: copies that lose data make none. Those beside it were compared too.
fn lost(measured: &Measured, way: &Way) -> Option<Gap> {
    let mut wrong = measured.wrong.iter();
    let its = wrong.find(|wrong| (wrong.source, wrong.destination) == (way.source, way.destination))?;
    Some(Gap::new(GapKind::WrongData, its.message.clone()))
}

fn closed_cells(ways: &[Way]) -> impl Iterator<Item = Cell> {
    ways.iter().filter_map(|way| {
        let reason = way.closed.clone()?;
        let kind = GapKind::Skipped;
        Some(Cell::new(
            Some(way.source),
            Some(way.destination),
            Err(Gap::new(kind, reason)),
        ))
    })
}

fn sorted(mut cells: Vec<Cell>) -> Vec<Cell> {
    cells.sort_unstable_by_key(|cell| (cell.source, cell.destination));
    cells
}

fn with_conditions(mut cell: Cell, conditions: &[Conditions]) -> Cell {
    let ends = [cell.source, cell.destination];
    let its = conditions.iter().filter(|of| ends.contains(&Some(of.gpu)));
    cell.conditions = its.cloned().collect();
    cell
}

pub(super) fn is_proven(pair: &Pair) -> bool {
    pair.directions.len() == 2
        && pair.directions.iter().all(|direction| {
            let passed = |rung: u8| {
                direction
                    .checks
                    .iter()
                    .any(|check| check.rung == rung && check.outcome == Outcome::Pass)
            };
            RUNGS.into_iter().all(passed)
        })
}

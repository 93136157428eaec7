//! Bandwidths between GPUs.

use kb_core::report::{Cell, Engine, Gap, Operation};

use crate::probe::session::Session;
use crate::probe::timing::rate;
use crate::worker::protocol::{By, FlowKind, FlowOf, Place, Sampled};

use super::mode::{STAGED_COPIES, STAGED_WARM_UPS, SWEEP};
use super::ways::{Beside, Way, rounds};
use super::{Bench, Measured, Shape, closed_cells, lost, sorted, with_conditions};

/// How far a pair's figure may move when other pairs run at the same time.
pub(super) const SAME: f64 = 0.02;

pub(super) const KINDS: [(Engine, Operation); 4] = [
    (Engine::Ce, Operation::Push),
    (Engine::Ce, Operation::Pull),
    (Engine::Sm, Operation::Push),
    (Engine::Sm, Operation::Pull),
];

pub(super) fn initiator(way: &Way, operation: Operation) -> u32 {
    if operation == Operation::Pull {
        way.destination
    } else {
        way.source
    }
}

pub(super) fn flow(
    way: &Way,
    (engine, operation): (Engine, Operation),
    slots: [u32; 2],
    times: u32,
) -> FlowOf {
    let [from, to] = slots;
    FlowOf {
        initiator: initiator(way, operation),
        kind: FlowKind::Copy {
            source: Place::Gpu(way.source, from),
            destination: Place::Gpu(way.destination, to),
            by: if engine == Engine::Sm {
                By::Kernel
            } else {
                By::CopyEngine
            },
        },
        times,
    }
}

/// The directions that must be enabled: a copy engine needs its own, and both do no harm.
pub(super) fn access(ways: &[Way]) -> Vec<(u32, u32)> {
    let both = |way: &Way| [(way.source, way.destination), (way.destination, way.source)];
    ways.iter().flat_map(both).collect()
}

pub(super) fn between(metric: &'static str, (engine, operation): (Engine, Operation), bytes: u64) -> Shape {
    Shape {
        metric,
        unit: "GB/s",
        engine,
        operation,
        bytes,
        peer_access: Some(true),
        at_once: false,
    }
}

pub(super) fn is_same(alone: &[Cell], beside: &[Cell], within: f64) -> bool {
    let figure = |cells: &[Cell]| cells.first().and_then(Cell::median);
    match (figure(alone), figure(beside)) {
        (Some(alone), Some(beside)) => (beside / alone - 1.0).abs() <= within,
        _ => false,
    }
}

/// GB/s of one flow of each sample.
fn rates(samples: &[Sampled], flow: usize, bytes: u64) -> Vec<f64> {
    let each = samples.iter().filter_map(|sample| sample.each.get(flow));
    each.map(|seconds| rate(bytes, *seconds)).collect()
}

impl Bench<'_> {
    fn take(
        &mut self,
        session: &mut Session<'_>,
        shape: Shape,
        flows: Vec<FlowOf>,
        ways: &[Way],
        verify: bool,
    ) -> Vec<Cell> {
        self.begin(shape);
        let mut measure = self.measure_of(flows, shape.bytes, session);
        measure.verify = verify;
        if shape.peer_access == Some(false) {
            measure.warm_ups = STAGED_WARM_UPS;
        }
        let access = if shape.peer_access == Some(true) {
            access(ways)
        } else {
            Vec::new()
        };
        let measured = session.measure(self.mode, &access, measure);
        if let Ok(measured) = &measured {
            self.keep_wrong(shape.metric, measured);
        }
        let cell = |(number, way): (usize, &Way)| {
            let samples = |measured: &Measured| {
                lost(measured, way).map_or_else(|| Ok(rates(&measured.samples, number, shape.bytes)), Err)
            };
            let figures = measured.as_ref().map_err(Gap::clone).and_then(samples);
            let cell = Cell::new(Some(way.source), Some(way.destination), figures);
            let conditions = measured.as_ref().map(|measured| measured.conditions.as_slice());
            with_conditions(cell, conditions.unwrap_or_default())
        };
        ways.iter().enumerate().map(cell).collect()
    }

    /// Copies by way of the host, one way: the driver makes one before it takes the next, so two cannot start together.
    pub(super) fn staged(&mut self, session: &mut Session<'_>, ways: &[Way]) {
        let shape = Shape {
            peer_access: Some(false),
            ..between(
                "d2d_bandwidth",
                (Engine::Ce, Operation::Push),
                self.mode.staged_bytes,
            )
        };
        let mut cells: Vec<Cell> = closed_cells(ways).collect();
        for way in rounds(ways, Beside::Nobody) {
            let flow = |way: &Way| FlowOf {
                initiator: way.source,
                kind: FlowKind::Copy {
                    source: Place::Gpu(way.source, 0),
                    destination: Place::Gpu(way.destination, 0),
                    by: By::Contexts,
                },
                times: STAGED_COPIES,
            };
            cells.extend(self.take(session, shape, way.iter().map(flow).collect(), &way, true));
        }
        self.add(shape, sorted(cells));
        self.copy_latency(session, ways, false);
    }

    pub(super) fn may_run_at_once(&mut self, session: &mut Session<'_>, ways: &[Way]) -> bool {
        let kind = (Engine::Ce, Operation::Push);
        let all = rounds(ways, Beside::Others);
        let Some(round) = all.first().filter(|round| round.len() > 1) else {
            return false;
        };
        let copies = self.mode.copies;
        let shape = between("d2d_bandwidth_alone", kind, self.mode.bytes);
        let alone = round.get(..1).unwrap_or_default();
        let flows = |ways: &[Way]| ways.iter().map(|way| flow(way, kind, [0, 0], copies)).collect();
        let single = self.take(session, shape, flows(alone), alone, false);
        let beside = self.take(session, shape, flows(round), round, false);
        let same = is_same(&single, &beside, SAME);
        self.add(shape, single);
        let shape = Shape {
            metric: "d2d_bandwidth_beside_others",
            at_once: true,
            ..shape
        };
        self.add(shape, beside);
        same
    }

    pub(super) fn one_way(&mut self, session: &mut Session<'_>, ways: &[Way], beside: Beside) {
        for kind in KINDS {
            let shape = Shape {
                at_once: beside != Beside::Nobody,
                ..between("d2d_bandwidth", kind, self.mode.bytes)
            };
            let copies = self.mode.copies;
            let mut cells: Vec<Cell> = closed_cells(ways).collect();
            for round in rounds(ways, beside) {
                let flows = round.iter().map(|way| flow(way, kind, [0, 0], copies));
                cells.extend(self.take(session, shape, flows.collect(), &round, true));
            }
            self.add(shape, sorted(cells));
        }
    }

    /// Both ways at the same time; a cell is one direction's rate while the other runs.
    pub(super) fn both_ways(&mut self, session: &mut Session<'_>, ways: &[Way], beside: Beside) {
        let kinds = if self.mode.full { &KINDS[..] } else { &KINDS[..1] };
        let pairs: Vec<Way> = ways
            .iter()
            .filter(|way| way.source < way.destination)
            .cloned()
            .collect();
        for kind in kinds.iter().copied() {
            let shape = Shape {
                at_once: beside != Beside::Nobody,
                ..between("d2d_bandwidth_both_ways", kind, self.mode.bytes)
            };
            let copies = self.mode.copies;
            let mut cells: Vec<Cell> = closed_cells(ways).collect();
            for round in rounds(&pairs, beside) {
                let round: Vec<Way> = round.iter().flat_map(|way| [way.clone(), way.back()]).collect();
                let flows = round.iter().map(|way| flow(way, kind, [0, 0], copies));
                cells.extend(self.take(session, shape, flows.collect(), &round, false));
            }
            self.add(shape, sorted(cells));
        }
    }

    pub(super) fn sweep(&mut self, session: &mut Session<'_>, ways: &[Way], beside: Beside) {
        for kind in [KINDS[0], KINDS[2]] {
            let largest = self.mode.bytes;
            for bytes in SWEEP.into_iter().filter(|bytes| *bytes < largest) {
                let shape = Shape {
                    at_once: beside != Beside::Nobody,
                    ..between("d2d_bandwidth", kind, bytes)
                };
                let copies = self.mode.copies_of(bytes);
                let mut cells: Vec<Cell> = closed_cells(ways).collect();
                for round in rounds(ways, beside) {
                    let flows = round.iter().map(|way| flow(way, kind, [0, 0], copies));
                    cells.extend(self.take(session, shape, flows.collect(), &round, false));
                }
                self.add(shape, sorted(cells));
            }
        }
    }
}

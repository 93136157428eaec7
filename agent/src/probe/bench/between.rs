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

/// The kinds of copies between two GPUs.
const KINDS: [(Engine, Operation); 4] = [
    (Engine::Ce, Operation::Push),
    (Engine::Ce, Operation::Pull),
    (Engine::Sm, Operation::Push),
    (Engine::Sm, Operation::Pull),
];

/// Whose context issues a copy.
fn initiator(way: &Way, operation: Operation) -> u32 {
    if operation == Operation::Pull {
        way.destination
    } else {
        way.source
    }
}

/// A flow of copies, at a place of both buffers.
fn flow(way: &Way, (engine, operation): (Engine, Operation), slots: [u32; 2], times: u32) -> FlowOf {
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
fn access(ways: &[Way]) -> Vec<(u32, u32)> {
    let both = |way: &Way| [(way.source, way.destination), (way.destination, way.source)];
    ways.iter().flat_map(both).collect()
}

fn between(metric: &'static str, (engine, operation): (Engine, Operation), bytes: u64) -> Shape {
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

/// Whether the first cell's figure stays what it is when others run beside it, within a share of it.
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
    /// Runs flows of ways at the same time; a cell for each way.
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

    /// Copies by way of the host, one way: both ways at once they cannot be started together, since the driver makes
    /// the first of them before it takes the next.
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

    /// Measures one pair alone, and again while others run beside it.
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

    /// One way, by each engine and from each end.
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

    /// All to one, one to all, and every GPU to every other: each uses its own piece of the buffers.
    pub(super) fn fans(&mut self, session: &mut Session<'_>, ways: &[Way]) {
        let open: Vec<Way> = ways.iter().filter(|way| way.closed.is_none()).cloned().collect();
        let gpus = self.gpus;
        for kind in KINDS.into_iter().take(2) {
            let to_one = (0..gpus).map(|gpu| select(&open, |way| way.destination == gpu));
            let fan_in: Vec<(u32, Vec<Way>)> = (0..gpus).zip(to_one).collect();
            let from_one = (0..gpus).map(|gpu| select(&open, |way| way.source == gpu));
            let fan_out: Vec<(u32, Vec<Way>)> = (0..gpus).zip(from_one).collect();
            for (metric, fans, to) in [
                ("all_to_one_bandwidth", fan_in, true),
                ("one_to_all_bandwidth", fan_out, false),
            ] {
                let shape = between(metric, kind, self.mode.share(fans.len().saturating_sub(1)));
                let mut cells = Vec::new();
                for (gpu, ways) in fans.into_iter().filter(|(_, ways)| !ways.is_empty()) {
                    let samples = self.together(session, shape, kind, &ways);
                    let ends = if to { (None, Some(gpu)) } else { (Some(gpu), None) };
                    cells.push(Cell::new(ends.0, ends.1, samples));
                }
                self.add(shape, cells);
            }
            let shape = Shape {
                at_once: true,
                ..between("all_to_all_bandwidth", kind, self.mode.share(gpus as usize - 1))
            };
            if !open.is_empty() {
                let copies = self.mode.copies;
                let flows = open.iter().map(|way| flow(way, kind, slots(way), copies));
                let cells = self.take(session, shape, flows.collect(), &open, false);
                self.add(shape, cells);
            }
        }
    }

    /// GB/s of all flows together.
    fn together(
        &mut self,
        session: &mut Session<'_>,
        shape: Shape,
        kind: (Engine, Operation),
        ways: &[Way],
    ) -> Result<Vec<f64>, Gap> {
        self.begin(shape);
        let copies = self.mode.copies;
        let flows = ways.iter().map(|way| flow(way, kind, slots(way), copies));
        let measure = self.measure_of(flows.collect(), shape.bytes, session);
        let measured = session.measure(self.mode, &access(ways), measure)?;
        let bytes = shape.bytes * u64::from(copies) * ways.len() as u64;
        let samples = measured.samples.iter();
        Ok(samples.map(|sample| rate(bytes, sample.together)).collect())
    }

    /// The same copies at each size: how large one has to be to fill the links.
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

fn select(ways: &[Way], wanted: impl Fn(&Way) -> bool) -> Vec<Way> {
    ways.iter().filter(|way| wanted(way)).cloned().collect()
}

/// The pieces that a way uses of its source's and its destination's buffer: the other end's number, itself left out.
fn slots(way: &Way) -> [u32; 2] {
    let place = |of: u32, other: u32| if other > of { other - 1 } else { other };
    [
        place(way.source, way.destination),
        place(way.destination, way.source),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_ways_use_the_same_piece_of_a_buffer() {
        let gpus = 4;
        let ways = (0..gpus).flat_map(|a| (0..gpus).map(move |b| Way::open(a, b)));
        let ways: Vec<Way> = ways.filter(|way| way.source != way.destination).collect();
        let sent: BTreeSet<(u32, u32)> = ways.iter().map(|way| (way.source, slots(way)[0])).collect();
        let received: BTreeSet<(u32, u32)> =
            ways.iter().map(|way| (way.destination, slots(way)[1])).collect();
        assert_eq!((sent.len(), received.len()), (12, 12));
        assert!(sent.iter().chain(&received).all(|(_, slot)| *slot < gpus - 1));
    }
}

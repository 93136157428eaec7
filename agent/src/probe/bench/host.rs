//! Bandwidths between host memory and GPUs.
//!
//! GPUs of different sockets share no way to their memory, others may: whether two can be measured at the same time is
//! tried first.

use kb_core::report::{Cell, Engine, Gap, GapKind, Operation};

use crate::probe::session::Session;
use crate::probe::timing::rate;
use crate::worker::protocol::{By, FlowKind, FlowOf, Place};

use super::between::is_same;
use super::{BUSY, Bench, Measured, Shape, sorted, with_conditions};

/// How far a GPU's figure may move when another one's runs at the same time.
const SAME: f64 = 0.005;

struct Kind {
    metrics: [&'static str; 2],
    engine: Engine,
    memory: Place,
    quick: bool,
}

const KINDS: [Kind; 3] = [
    Kind {
        metrics: ["h2d_bandwidth", "d2h_bandwidth"],
        engine: Engine::Ce,
        memory: Place::Pinned(0),
        quick: true,
    },
    Kind {
        metrics: ["h2d_bandwidth_pageable", "d2h_bandwidth_pageable"],
        engine: Engine::Ce,
        memory: Place::Pageable,
        quick: false,
    },
    Kind {
        metrics: ["h2d_bandwidth", "d2h_bandwidth"],
        engine: Engine::Sm,
        memory: Place::Pinned(0),
        quick: false,
    },
];

fn flow(gpu: u32, to_gpu: bool, engine: Engine, memory: Place, times: u32) -> FlowOf {
    let own = Place::Gpu(gpu, 0);
    let (source, destination) = if to_gpu { (memory, own) } else { (own, memory) };
    let by = if engine == Engine::Sm {
        By::Kernel
    } else {
        By::CopyEngine
    };
    FlowOf {
        initiator: gpu,
        kind: FlowKind::Copy {
            source,
            destination,
            by,
        },
        times,
    }
}

fn cell(gpu: u32, to_gpu: bool, samples: Result<Vec<f64>, Gap>) -> Cell {
    let (source, destination) = if to_gpu {
        (None, Some(gpu))
    } else {
        (Some(gpu), None)
    };
    Cell::new(source, destination, samples)
}

impl Bench<'_> {
    pub(super) fn with_host(&mut self, session: &mut Session<'_>) {
        let full = self.mode.full;
        let in_twos = self.halves_may_run_at_once(session);
        for kind in KINDS.iter().filter(|kind| kind.quick || full) {
            for (metric, to_gpu) in kind.metrics.into_iter().zip([true, false]) {
                let bytes = match kind.memory {
                    Place::Pageable => self.mode.pageable_bytes,
                    _ => self.mode.pinned_bytes,
                };
                // Ordinary memory is copied by one thread of the worker.
                let in_twos = in_twos && kind.memory != Place::Pageable;
                let shape = Shape {
                    at_once: in_twos,
                    ..shape(metric, kind.engine, bytes)
                };
                let mut cells = Vec::new();
                for gpus in self.host_rounds(in_twos) {
                    cells.extend(self.with_memory(session, shape, kind.memory, &gpus, to_gpu));
                }
                self.add(shape, sorted(cells));
            }
        }
        if full {
            self.both_ways_with_host(session);
            self.all_with_host(session);
        }
    }

    /// GPUs measured together: each by itself, or with the one that is half of all further on. Boards number them by socket.
    fn host_rounds(&self, in_twos: bool) -> Vec<Vec<u32>> {
        if !in_twos {
            return (0..self.gpus).map(|gpu| vec![gpu]).collect();
        }
        let half = self.gpus.div_ceil(2);
        let with_other = |gpu| {
            let other = gpu + half;
            std::iter::once(gpu).chain((other < self.gpus).then_some(other))
        };
        (0..half).map(|gpu| with_other(gpu).collect()).collect()
    }

    fn halves_may_run_at_once(&mut self, session: &mut Session<'_>) -> bool {
        let rounds = self.host_rounds(true);
        let Some([first, other]) = rounds.first().map(Vec::as_slice) else {
            return false;
        };
        // With fewer, trying takes as long as what it saves.
        if !self.mode.full || self.gpus < 4 || self.idle.len() < self.gpus as usize {
            return false;
        }
        let mut same = true;
        for (metrics, to_gpu) in [
            (["h2d_bandwidth_alone", "h2d_bandwidth_beside_others"], true),
            (["d2h_bandwidth_alone", "d2h_bandwidth_beside_others"], false),
        ] {
            let [alone, beside] = metrics.map(|metric| shape(metric, Engine::Ce, self.mode.pinned_bytes));
            let single = self.with_memory(session, alone, Place::Pinned(0), &[*first], to_gpu);
            self.add(alone, single.clone());
            let both = self.with_memory(session, beside, Place::Pinned(0), &[*first, *other], to_gpu);
            same &= is_same(&single, &both, SAME);
            let beside = Shape {
                at_once: true,
                ..beside
            };
            self.add(beside, both);
        }
        same
    }

    fn with_memory(
        &mut self,
        session: &mut Session<'_>,
        shape: Shape,
        memory: Place,
        gpus: &[u32],
        to_gpu: bool,
    ) -> Vec<Cell> {
        let copies = self.mode.host_copies;
        let flows = gpus
            .iter()
            .map(|gpu| flow(*gpu, to_gpu, shape.engine, memory, copies));
        let ends: Vec<(u32, bool)> = gpus.iter().map(|gpu| (*gpu, to_gpu)).collect();
        self.ends(session, shape, flows.collect(), &ends)
    }

    fn both_ways_with_host(&mut self, session: &mut Session<'_>) {
        let bytes = (self.mode.pinned_bytes / 2).max(16);
        let copies = self.mode.host_copies;
        let shapes = ["h2d_bandwidth_both_ways", "d2h_bandwidth_both_ways"]
            .map(|metric| shape(metric, Engine::Ce, bytes));
        let (mut up, mut down) = (Vec::new(), Vec::new());
        for gpu in 0..self.gpus {
            let flows = vec![
                flow(gpu, true, Engine::Ce, Place::Pinned(0), copies),
                flow(gpu, false, Engine::Ce, Place::Pinned(1), copies),
            ];
            let ends = [(gpu, true), (gpu, false)];
            let cells = self.ends(session, shapes[0], flows, &ends);
            let (to, from): (Vec<Cell>, Vec<Cell>) =
                cells.into_iter().partition(|cell| cell.source.is_none());
            up.extend(to);
            down.extend(from);
        }
        let [of_up, of_down] = shapes;
        self.add(of_up, up);
        self.add(of_down, down);
    }

    fn all_with_host(&mut self, session: &mut Session<'_>) {
        let gpus: Vec<u32> = (0..self.gpus).filter(|gpu| self.idle.contains(gpu)).collect();
        if gpus.len() < 2 {
            return;
        }
        for (metric, to_gpu) in [
            ("h2d_bandwidth_all_gpus", true),
            ("d2h_bandwidth_all_gpus", false),
        ] {
            let shape = Shape {
                at_once: true,
                ..shape(metric, Engine::Ce, self.mode.pinned_bytes)
            };
            let cells = self.with_memory(session, shape, Place::Pinned(0), &gpus, to_gpu);
            self.add(shape, cells);
        }
    }

    fn ends(
        &mut self,
        session: &mut Session<'_>,
        shape: Shape,
        flows: Vec<FlowOf>,
        ends: &[(u32, bool)],
    ) -> Vec<Cell> {
        self.begin(shape);
        let busy = ends.iter().find(|(gpu, _)| !self.idle.contains(gpu));
        let measured = if let Some((gpu, _)) = busy {
            Err(Gap::new(GapKind::Skipped, format!("{BUSY} (GPU {gpu})")))
        } else {
            let measure = self.measure_of(flows, shape.bytes, session);
            session.measure(self.mode, &[], measure)
        };
        let figures = |number: usize, measured: &Measured| {
            let each = measured
                .samples
                .iter()
                .filter_map(|sample| sample.each.get(number));
            each.map(|seconds| rate(shape.bytes, *seconds)).collect()
        };
        let cells = ends.iter().enumerate().map(|(number, (gpu, to_gpu))| {
            let samples = measured.as_ref().map(|measured| figures(number, measured));
            let made = cell(*gpu, *to_gpu, samples.map_err(Gap::clone));
            let conditions = measured.as_ref().map(|measured| measured.conditions.as_slice());
            with_conditions(made, conditions.unwrap_or_default())
        });
        cells.collect()
    }
}

fn shape(metric: &'static str, engine: Engine, bytes: u64) -> Shape {
    Shape {
        metric,
        unit: "GB/s",
        engine,
        operation: Operation::Other,
        bytes,
        peer_access: None,
        at_once: false,
    }
}

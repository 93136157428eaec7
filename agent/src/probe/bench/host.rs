//! Bandwidths between host memory and GPUs.

use kb_core::report::{Cell, Engine, Gap, GapKind, Operation};

use crate::probe::session::Session;
use crate::probe::timing::rate;
use crate::worker::protocol::{By, FlowKind, FlowOf, Place};

use super::{BUSY, Bench, Measured, Shape, with_conditions};

/// What is measured with host memory.
struct Kind {
    /// To the GPU, and from it.
    metrics: [&'static str; 2],
    engine: Engine,
    memory: Place,
    /// In quick mode too.
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

/// A copy between a GPU and its host memory.
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

/// The cell of a GPU, in the one direction or the other.
fn cell(gpu: u32, to_gpu: bool, samples: Result<Vec<f64>, Gap>) -> Cell {
    let (source, destination) = if to_gpu {
        (None, Some(gpu))
    } else {
        (Some(gpu), None)
    };
    Cell::new(source, destination, samples)
}

impl Bench<'_> {
    /// All of them.
    pub(super) fn with_host(&mut self, session: &mut Session<'_>) {
        let full = self.mode.full;
        for kind in KINDS.iter().filter(|kind| kind.quick || full) {
            for (metric, to_gpu) in kind.metrics.into_iter().zip([true, false]) {
                let bytes = match kind.memory {
                    Place::Pageable => self.mode.pageable_bytes,
                    _ => self.mode.pinned_bytes,
                };
                let shape = shape(metric, kind.engine, bytes);
                let copies = self.mode.host_copies;
                let cells = (0..self.gpus)
                    .map(|gpu| {
                        let flow = flow(gpu, to_gpu, kind.engine, kind.memory, copies);
                        let ends = [(gpu, to_gpu)];
                        self.ends(session, shape, vec![flow], &ends)
                    })
                    .collect::<Vec<_>>();
                self.add(shape, cells.into_iter().flatten().collect());
            }
        }
        if full {
            self.both_ways_with_host(session);
            self.all_with_host(session);
        }
    }

    /// Up and down at the same time, a half of the host memory each.
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

    /// All GPUs at the same time.
    fn all_with_host(&mut self, session: &mut Session<'_>) {
        let gpus: Vec<u32> = (0..self.gpus).filter(|gpu| self.idle.contains(gpu)).collect();
        if gpus.len() < 2 {
            return;
        }
        let copies = self.mode.host_copies;
        for (metric, to_gpu) in [
            ("h2d_bandwidth_all_gpus", true),
            ("d2h_bandwidth_all_gpus", false),
        ] {
            let shape = Shape {
                at_once: true,
                ..shape(metric, Engine::Ce, self.mode.pinned_bytes)
            };
            let flow = |gpu: &u32| flow(*gpu, to_gpu, Engine::Ce, Place::Pinned(0), copies);
            let ends: Vec<(u32, bool)> = gpus.iter().map(|gpu| (*gpu, to_gpu)).collect();
            let cells = self.ends(session, shape, gpus.iter().map(flow).collect(), &ends);
            self.add(shape, cells);
        }
    }

    /// Runs flows at the same time; a cell for each.
    fn ends(
        &mut self,
        session: &mut Session<'_>,
        shape: Shape,
        flows: Vec<FlowOf>,
        ends: &[(u32, bool)],
    ) -> Vec<Cell> {
        self.say(shape);
        let busy = ends.iter().find(|(gpu, _)| !self.idle.contains(gpu));
        let measured = if let Some((gpu, _)) = busy {
            Err(Gap {
                kind: GapKind::Skipped,
                reason: format!("{BUSY} (GPU {gpu})"),
            })
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

//! Latencies: of small copies, of loads that wait for each other, and of those while copies load the links.

use kb_core::report::{Cell, Engine, Gap, GapKind, Operation};

use crate::probe::session::Session;
use crate::worker::protocol::{By, FlowKind, FlowOf, Place, Sampled};

use super::mode::{COPIES_OF_LOAD, HOPS_UNDER_LOAD, LATENCY_BYTES, LATENCY_COPIES, LOAD_BYTES};
use super::ways::{Way, rounds};
use super::{BUSY, Bench, Shape, closed_cells, sorted, with_conditions};

const MICROSECONDS: f64 = 1e6;
const NANOSECONDS: f64 = 1e9;

fn of_loads(metric: &'static str) -> Shape {
    Shape {
        metric,
        unit: "ns",
        engine: Engine::Sm,
        operation: Operation::Pull,
        bytes: LOAD_BYTES,
        peer_access: Some(true),
        at_once: false,
    }
}

/// The way of the bytes: to whoever loads, from the owner.
fn chase(way: &Way, times: u32) -> FlowOf {
    FlowOf {
        initiator: way.destination,
        kind: FlowKind::Chase {
            owner: Some(way.source),
        },
        times,
    }
}

fn first(samples: &[Sampled]) -> Vec<f64> {
    samples
        .iter()
        .filter_map(|sample| sample.each.first().copied())
        .collect()
}

fn scaled(seconds: &[f64], by: f64) -> Vec<f64> {
    seconds.iter().map(|seconds| seconds * by).collect()
}

impl Bench<'_> {
    /// All that need access.
    pub(super) fn latencies(&mut self, session: &mut Session<'_>, ways: &[Way]) {
        self.copy_latency(session, ways, true);
        self.load_latency(session, ways);
        if self.mode.full {
            self.under_load(session, ways);
            self.of_host_memory(session);
        }
    }

    /// Copies of 16 bytes, and what the host needs to queue one.
    pub(super) fn copy_latency(&mut self, session: &mut Session<'_>, ways: &[Way], peer_access: bool) {
        let shape = Shape {
            metric: "copy_latency",
            unit: "us",
            engine: Engine::Ce,
            operation: Operation::Push,
            bytes: LATENCY_BYTES,
            peer_access: Some(peer_access),
            at_once: false,
        };
        let mut cells: Vec<Cell> = closed_cells(ways).collect();
        let mut queueing = cells.clone();
        for way in rounds(ways, false).into_iter().flatten() {
            self.say(shape);
            let flow = FlowOf {
                initiator: way.source,
                kind: FlowKind::Copy {
                    source: Place::Gpu(way.source, 0),
                    destination: Place::Gpu(way.destination, 0),
                    by: if peer_access { By::CopyEngine } else { By::Contexts },
                },
                times: LATENCY_COPIES,
            };
            let access = [(way.source, way.destination)];
            let access = if peer_access { &access[..] } else { &[] };
            let measure = self.measure_of(vec![flow], LATENCY_BYTES, session);
            let measured = session.measure(self.mode, access, measure);
            let ends = (Some(way.source), Some(way.destination));
            let (took, queued) = match measured {
                Ok(measured) => {
                    let queued: Vec<f64> = measured.samples.iter().map(|sample| sample.queueing).collect();
                    let took = scaled(&first(&measured.samples), MICROSECONDS);
                    let cell = Cell::new(ends.0, ends.1, Ok(took));
                    let cell = with_conditions(cell, &measured.conditions);
                    (cell, Cell::new(ends.0, ends.1, Ok(scaled(&queued, MICROSECONDS))))
                }
                Err(gap) => {
                    let cell = Cell::new(ends.0, ends.1, Err(gap));
                    (cell.clone(), cell)
                }
            };
            cells.push(took);
            queueing.push(queued);
        }
        self.add(shape, sorted(cells));
        let shape = Shape {
            metric: "copy_queueing_time",
            ..shape
        };
        self.add(shape, sorted(queueing));
    }

    /// Loads by a kernel, each of which needs what the one before has loaded.
    fn load_latency(&mut self, session: &mut Session<'_>, ways: &[Way]) {
        let shape = of_loads("load_latency");
        let mut cells: Vec<Cell> = closed_cells(ways).collect();
        for way in rounds(ways, false).into_iter().flatten() {
            self.say(shape);
            let measure = self.measure_of(vec![chase(&way, self.mode.hops)], LOAD_BYTES, session);
            let measured = session.measure(self.mode, &[(way.destination, way.source)], measure);
            let (samples, conditions) = match measured {
                Ok(measured) => (
                    Ok(scaled(&first(&measured.samples), NANOSECONDS)),
                    measured.conditions,
                ),
                Err(gap) => (Err(gap), Vec::new()),
            };
            let cell = Cell::new(Some(way.source), Some(way.destination), samples);
            cells.push(with_conditions(cell, &conditions));
        }
        self.add(shape, sorted(cells));
    }

    /// The same while the copy engine of the GPU that loads fetches data from the same owner.
    fn under_load(&mut self, session: &mut Session<'_>, ways: &[Way]) {
        let shape = of_loads("load_latency_under_load");
        let mut cells: Vec<Cell> = closed_cells(ways).collect();
        for way in rounds(ways, false).into_iter().flatten() {
            self.say(shape);
            let load = FlowOf {
                initiator: way.destination,
                kind: FlowKind::Copy {
                    source: Place::Gpu(way.source, 0),
                    destination: Place::Gpu(way.destination, 0),
                    by: By::CopyEngine,
                },
                times: COPIES_OF_LOAD,
            };
            let flows = vec![load, chase(&way, HOPS_UNDER_LOAD)];
            let measure = self.measure_of(flows, self.mode.bytes, session);
            let measured = session.measure(self.mode, &[(way.destination, way.source)], measure);
            let samples = measured.and_then(|measured| loaded(&measured.samples));
            cells.push(Cell::new(Some(way.source), Some(way.destination), samples));
        }
        self.add(shape, sorted(cells));
    }

    /// Loads from page-locked host memory.
    fn of_host_memory(&mut self, session: &mut Session<'_>) {
        let shape = Shape {
            peer_access: None,
            ..of_loads("host_load_latency")
        };
        let mut cells = Vec::new();
        for gpu in 0..self.gpus {
            self.say(shape);
            let samples = if self.idle.contains(&gpu) {
                let flow = FlowOf {
                    initiator: gpu,
                    kind: FlowKind::Chase { owner: None },
                    times: self.mode.hops,
                };
                let measure = self.measure_of(vec![flow], LOAD_BYTES, session);
                let measured = session.measure(self.mode, &[], measure);
                measured.map(|measured| scaled(&first(&measured.samples), NANOSECONDS))
            } else {
                Err(Gap {
                    kind: GapKind::Skipped,
                    reason: format!("{BUSY} (GPU {gpu})"),
                })
            };
            cells.push(Cell::new(None, Some(gpu), samples));
        }
        self.add(shape, cells);
    }
}

/// Nanoseconds a load of the second flow, unless the first one ended before it.
fn loaded(samples: &[Sampled]) -> Result<Vec<f64>, Gap> {
    let figure = |sample: &Sampled| {
        let &[copy, hop] = sample.each.as_slice() else {
            return None;
        };
        // The copies are the first flow: where all of it took no longer than they, they outlasted the loads.
        let copies = copy * f64::from(COPIES_OF_LOAD);
        (sample.together <= copies * 1.001 + 2e-6).then_some(hop * NANOSECONDS)
    };
    samples
        .iter()
        .map(figure)
        .collect::<Option<_>>()
        .ok_or_else(|| Gap {
            kind: GapKind::Failed,
            reason: "the copies ended before the loads, so they were no load".to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_count_only_while_copies_run() {
        let sample = |together| Sampled {
            each: vec![0.001, 1e-6],
            together,
            queueing: 0.0,
        };
        let copies = 0.001 * f64::from(COPIES_OF_LOAD);
        let held = loaded(&[sample(copies)]).unwrap();
        assert!((held[0] - 1000.0).abs() < 1e-6, "{held:?}");
        let reason = loaded(&[sample(copies), sample(copies * 1.1)])
            .unwrap_err()
            .reason;
        assert!(reason.contains("before the loads"), "{reason}");
    }
}

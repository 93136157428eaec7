//! Latencies: of small copies, of loads that wait for each other, and of those while copies load the links.

use kb_core::report::{Cell, Engine, Gap, GapKind, Operation};

use crate::probe::session::Session;
use crate::worker::protocol::{By, FlowKind, FlowOf, Place, Sampled};

use super::between::{SAME, is_same};
use super::mode::{COPIES_OF_LOAD, HOPS_UNDER_LOAD, LATENCY_BYTES, LATENCY_COPIES, LOAD_BYTES};
use super::ways::{Beside, Way, rounds};
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

/// Seconds that a flow took in each sample.
fn of_flow(samples: &[Sampled], flow: usize) -> Vec<f64> {
    let its = |sample: &Sampled| sample.each.get(flow).copied();
    samples.iter().filter_map(its).collect()
}

fn scaled(seconds: &[f64], by: f64) -> Vec<f64> {
    seconds.iter().map(|seconds| seconds * by).collect()
}

impl Bench<'_> {
    pub(super) fn latencies(&mut self, session: &mut Session<'_>, ways: &[Way], beside: Beside) {
        self.copy_latency(session, ways, true);
        self.load_latency(session, ways, beside);
        if self.mode.full {
            self.under_load(session, ways, beside);
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
        for way in rounds(ways, Beside::Nobody).into_iter().flatten() {
            self.begin(shape);
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
                    let took = scaled(&of_flow(&measured.samples, 0), MICROSECONDS);
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
    fn load_latency(&mut self, session: &mut Session<'_>, ways: &[Way], beside: Beside) {
        let beside = self.chases_beside(session, ways, beside);
        let shape = Shape {
            at_once: beside != Beside::Nobody,
            ..of_loads("load_latency")
        };
        let mut cells: Vec<Cell> = closed_cells(ways).collect();
        for round in rounds(ways, beside) {
            cells.extend(self.chases(session, shape, &round));
        }
        self.add(shape, sorted(cells));
    }

    /// What may run beside a chase. A load at a time takes next to nothing of any link, so that each GPU can chase through
    /// another one's memory while somebody chases through its own; one way is measured alone and beside others first.
    fn chases_beside(&mut self, session: &mut Session<'_>, ways: &[Way], beside: Beside) -> Beside {
        if beside == Beside::Nobody {
            return beside;
        }
        let all = rounds(ways, Beside::OthersAndBack);
        let Some(round) = all.first().filter(|round| round.len() > 1) else {
            return Beside::Nobody;
        };
        let shape = of_loads("load_latency_alone");
        let alone = self.chases(session, shape, round.get(..1).unwrap_or_default());
        self.add(shape, alone.clone());
        let shape = Shape {
            at_once: true,
            ..of_loads("load_latency_beside_others")
        };
        let together = self.chases(session, shape, round);
        let same = is_same(&alone, &together, SAME);
        self.add(shape, together);
        if same {
            Beside::OthersAndBack
        } else {
            Beside::Nobody
        }
    }

    fn chases(&mut self, session: &mut Session<'_>, shape: Shape, round: &[Way]) -> Vec<Cell> {
        self.begin(shape);
        let flows = round.iter().map(|way| chase(way, self.mode.hops));
        let measure = self.measure_of(flows.collect(), LOAD_BYTES, session);
        let access: Vec<(u32, u32)> = round.iter().map(|way| (way.destination, way.source)).collect();
        let measured = session.measure(self.mode, &access, measure);
        let cell = |(number, way): (usize, &Way)| {
            let ends = (Some(way.source), Some(way.destination));
            match &measured {
                Ok(measured) => {
                    let took = scaled(&of_flow(&measured.samples, number), NANOSECONDS);
                    with_conditions(Cell::new(ends.0, ends.1, Ok(took)), &measured.conditions)
                }
                Err(gap) => Cell::new(ends.0, ends.1, Err(gap.clone())),
            }
        };
        round.iter().enumerate().map(cell).collect()
    }

    fn under_load(&mut self, session: &mut Session<'_>, ways: &[Way], beside: Beside) {
        let shape = Shape {
            at_once: beside != Beside::Nobody,
            ..of_loads("load_latency_under_load")
        };
        let mut cells: Vec<Cell> = closed_cells(ways).collect();
        for round in rounds(ways, beside) {
            let [few, many] = COPIES_OF_LOAD;
            let mut taken = self.loaded_chases(session, shape, &round, few);
            if taken.iter().any(|cell| cell.gap.is_some()) {
                taken = self.loaded_chases(session, shape, &round, many);
            }
            cells.extend(taken);
        }
        self.add(shape, sorted(cells));
    }

    fn loaded_chases(
        &mut self,
        session: &mut Session<'_>,
        shape: Shape,
        round: &[Way],
        copies: u32,
    ) -> Vec<Cell> {
        self.begin(shape);
        let load = |way: &Way| FlowOf {
            initiator: way.destination,
            kind: FlowKind::Copy {
                source: Place::Gpu(way.source, 0),
                destination: Place::Gpu(way.destination, 0),
                by: By::CopyEngine,
            },
            times: copies,
        };
        let flows = round
            .iter()
            .flat_map(|way| [load(way), chase(way, HOPS_UNDER_LOAD)]);
        let measure = self.measure_of(flows.collect(), self.mode.bytes, session);
        let access: Vec<(u32, u32)> = round.iter().map(|way| (way.destination, way.source)).collect();
        let measured = session.measure(self.mode, &access, measure);
        let cell = |(number, way): (usize, &Way)| {
            let samples = measured
                .as_ref()
                .map_err(Gap::clone)
                .and_then(|measured| loaded(&measured.samples, number, copies));
            Cell::new(Some(way.source), Some(way.destination), samples)
        };
        round.iter().enumerate().map(cell).collect()
    }

    fn of_host_memory(&mut self, session: &mut Session<'_>) {
        let shape = Shape {
            peer_access: None,
            ..of_loads("host_load_latency")
        };
        let mut cells = Vec::new();
        for gpu in 0..self.gpus {
            self.begin(shape);
            let samples = if self.idle.contains(&gpu) {
                let flow = FlowOf {
                    initiator: gpu,
                    kind: FlowKind::Chase { owner: None },
                    // One GPU after the other, and from host memory they vary by per cents anyway.
                    times: self.mode.hops / 2,
                };
                let measure = self.measure_of(vec![flow], LOAD_BYTES, session);
                let measured = session.measure(self.mode, &[], measure);
                measured.map(|measured| scaled(&of_flow(&measured.samples, 0), NANOSECONDS))
            } else {
                Err(Gap::new(GapKind::Skipped, format!("{BUSY} (GPU {gpu})")))
            };
            cells.push(Cell::new(None, Some(gpu), samples));
        }
        self.add(shape, cells);
    }
}

/// Nanoseconds a load of a way's second flow, unless its first one ended before it.
fn loaded(samples: &[Sampled], way: usize, copies: u32) -> Result<Vec<f64>, Gap> {
    let figure = |sample: &Sampled| {
        let &[copy, hop] = sample.each.get(2 * way..2 * way + 2)? else {
            return None;
        };
        // Both wait for the same start, and the loads for their own warm-up, which is no longer than they are.
        let hops = 2.0 * hop * f64::from(HOPS_UNDER_LOAD);
        (hops <= copy * f64::from(copies)).then_some(hop * NANOSECONDS)
    };
    samples.iter().map(figure).collect::<Option<_>>().ok_or_else(|| {
        Gap::new(
            GapKind::Failed,
            "the copies ended before the loads, so they were no load".to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_count_only_while_their_own_copies_run() {
        // Two ways at once: a copy takes 1 ms, a hop a microsecond, so that the loads and their warm-up take 8 ms.
        let sample = Sampled {
            each: vec![0.001, 1e-6, 0.001, 1e-6],
            together: 0.0,
            queueing: 0.0,
        };
        let held = loaded(std::slice::from_ref(&sample), 1, 9).unwrap();
        assert!((held[0] - 1000.0).abs() < 1e-6, "{held:?}");
        let slow = Sampled {
            each: vec![0.001, 1e-6, 0.001, 1e-5],
            ..sample.clone()
        };
        assert!(loaded(std::slice::from_ref(&slow), 0, 9).is_ok());
        let reason = loaded(&[sample, slow], 1, 9).unwrap_err().reason;
        assert!(reason.contains("before the loads"), "{reason}");
    }
}

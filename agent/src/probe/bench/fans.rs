//! Several GPUs at once: all to one, one to all, and every GPU to every other.

use kb_core::report::{Cell, Engine, Gap, Operation};

use crate::probe::session::Session;
use crate::probe::timing::rate;
use crate::worker::protocol::Sampled;

use super::between::{KINDS, access, between, flow, initiator};
use super::ways::Way;
use super::{Bench, Shape, with_conditions};

impl Bench<'_> {
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
            let cells = self.all_to_all(session, shape, kind, &open);
            self.add(shape, cells);
        }
    }

    /// Every GPU to every other at the same time: what each sends, or gets where it pulls. A direction by itself has no
    /// rate here. Pushed, the copies of one GPU take turns, since its engine would serve one stream after the other;
    /// pulled, it serves all its streams at once, and copies that take turns would have all GPUs wait for each other.
    /// In either case the order is one in which no two have the same other end.
    fn all_to_all(
        &mut self,
        session: &mut Session<'_>,
        shape: Shape,
        kind: (Engine, Operation),
        open: &[Way],
    ) -> Vec<Cell> {
        let gpus = self.gpus;
        let mut ways = open.to_vec();
        ways.sort_by_key(|way| turn(way, kind.1, gpus));
        if ways.is_empty() {
            return Vec::new();
        }
        self.begin(shape);
        let copies = self.mode.copies;
        let flows = ways.iter().map(|way| flow(way, kind, slots(way), copies));
        let mut measure = self.measure_of(flows.collect(), shape.bytes, session);
        measure.turns = kind.1 == Operation::Push;
        let measured = session.measure(self.mode, &access(&ways), measure);
        let cell = |gpu: u32| {
            let its = |way: &Way| initiator(way, kind.1) == gpu;
            let flows: Vec<usize> = (0..)
                .zip(&ways)
                .filter(|(_, way)| its(way))
                .map(|(flow, _)| flow)
                .collect();
            if flows.is_empty() {
                return None;
            }
            let bytes = shape.bytes * flows.len() as u64;
            let figures = measured.as_ref().map_err(Gap::clone);
            let figures = figures.map(|measured| {
                let samples = measured.samples.iter();
                samples
                    .filter_map(|sample| Some(rate(bytes, longest(sample, &flows)?)))
                    .collect()
            });
            let ends = if kind.1 == Operation::Pull {
                (None, Some(gpu))
            } else {
                (Some(gpu), None)
            };
            let conditions = measured.as_ref().map(|measured| measured.conditions.as_slice());
            let cell = Cell::new(ends.0, ends.1, figures);
            Some(with_conditions(cell, conditions.unwrap_or_default()))
        };
        (0..gpus).filter_map(cell).collect()
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

/// Seconds a copy of the flow that took longest, of some that started together: until then their GPU was at work.
fn longest(sample: &Sampled, flows: &[usize]) -> Option<f64> {
    let each = flows.iter().map(|flow| sample.each.get(*flow).copied());
    each.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
}

/// When a GPU's copy has its turn: first with the GPU behind it, then the next. No two in a turn share the other end.
fn turn(way: &Way, operation: Operation, gpus: u32) -> (u32, u32) {
    let one = initiator(way, operation);
    let other = if one == way.source {
        way.destination
    } else {
        way.source
    };
    ((other + gpus.max(1) - one) % gpus.max(1), one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_gpu_is_at_work_until_its_last_flow_has_ended() {
        let sample = Sampled {
            each: vec![0.5, 0.1, 0.3, 0.2],
            together: 0.0,
            queueing: 0.0,
        };
        assert_eq!(longest(&sample, &[1, 2]), Some(0.3));
        assert_eq!(longest(&sample, &[1, 4]), None);
    }

    #[test]
    fn in_each_turn_every_gpu_sends_to_one_and_gets_from_one() {
        for (gpus, operation) in [(2, Operation::Push), (5, Operation::Pull), (8, Operation::Push)] {
            let ways = (0..gpus).flat_map(|a| (0..gpus).map(move |b| Way::open(a, b)));
            let mut ways: Vec<Way> = ways.filter(|way| way.source != way.destination).collect();
            ways.sort_by_key(|way| turn(way, operation, gpus));
            for step in ways.chunks(gpus as usize) {
                let from: BTreeSet<u32> = step.iter().map(|way| way.source).collect();
                let to: BTreeSet<u32> = step.iter().map(|way| way.destination).collect();
                assert_eq!((from.len(), to.len()), (step.len(), step.len()), "{step:?}");
            }
        }
    }

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

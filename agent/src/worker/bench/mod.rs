//! What the worker does for the bench: memory and kernels on each GPU, and the samples of a cell.

mod arrivals;
mod conditions;
mod flows;
mod holdings;
mod load;

use std::collections::btree_map::{BTreeMap, Entry};
use std::time::Duration;

use crate::gpu::{Burn, CallError, Flow, Pace, run};

use super::inventory::Inventory;
use super::near::Kept;
use super::obey::refuse;
use super::outcome::failure;
use super::place::Place;
use super::protocol::{Answer, By, FlowKind, FlowOf, Measure, Sampled};

use conditions::conditions_of;
use holdings::OfGpu;

/// What stands in a buffer before something arrives.
const BEFORE: u32 = 0xdead_beef;

#[derive(Default)]
pub(super) struct Bench {
    gpus: BTreeMap<u32, OfGpu>,
    /// The kernel of the load, once it was asked for.
    burns: BTreeMap<u32, Burn>,
}

impl Bench {
    /// Takes memory on a GPU, unless it is there.
    pub(super) fn prepare(
        &mut self,
        gpu: u32,
        place: &Place,
        (sizes, cpus): ([u64; 3], &[u32]),
        limit: Duration,
    ) -> Answer {
        let mut elsewhere = None;
        if let Entry::Vacant(free) = self.gpus.entry(gpu) {
            let sizes = sizes.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
            let kept = (!cpus.is_empty()).then(|| Kept::on(cpus)).transpose();
            let cpus = if kept.is_ok() { cpus } else { &[] };
            let prepared = OfGpu::prepare(gpu, place, (sizes, cpus), limit);
            elsewhere = kept.err();
            match prepared {
                Ok(of_gpu) => free.insert(of_gpu),
                Err(error) => return Answer::Failed(failure(&error)),
            };
        }
        Answer::BenchPrepared { elsewhere }
    }

    pub(super) fn measure(
        &self,
        measure: &Measure,
        places: &BTreeMap<u32, Place>,
        inventory: Option<&Inventory>,
    ) -> Answer {
        match self.samples(measure, places, inventory) {
            Ok(answer) => answer,
            Err(Trouble::Call(error)) => Answer::Failed(failure(&error)),
            Err(Trouble::Unprepared(gpu)) => refuse(
                "measure",
                format!("GPU {gpu} is not prepared, or has less memory"),
            ),
        }
    }

    fn samples(
        &self,
        measure: &Measure,
        places: &BTreeMap<u32, Place>,
        inventory: Option<&Inventory>,
    ) -> Result<Answer, Trouble> {
        let bytes = usize::try_from(measure.bytes).unwrap_or(usize::MAX);
        let flows: Vec<Flow<'_>> = measure
            .flows
            .iter()
            .map(|flow| self.flow(flow, bytes, places))
            .collect::<Result<_, _>>()?;
        let received = if measure.verify {
            self.expected(measure, bytes, places)?
        } else {
            Vec::new()
        };
        for arrival in &received {
            let stream = &arrival.place.stream;
            stream.set(arrival.window, BEFORE)?;
            stream.wait("cuMemsetD32Async", arrival.place.limit)?;
        }
        let by_contexts = |flow: &FlowOf| matches!(flow.kind, FlowKind::Copy { by: By::Contexts, .. });
        let staged = measure.flows.iter().any(by_contexts);
        let [first, others] = measure.warm_ups;
        let pace = Pace {
            warm_ups: first,
            first: true,
            gated: !staged && !flows.iter().any(Flow::needs_the_host),
            turns: measure.turns,
            limit: Duration::from_millis(measure.limit_ms),
        };
        // What the host copies itself, a thread next to the GPU copies.
        let by_host = measure
            .flows
            .iter()
            .zip(&flows)
            .find(|(_, flow)| flow.needs_the_host());
        let cpus = by_host.map(|(flow, _)| self.of(flow.initiator)).transpose()?;
        let cpus = cpus.map_or(&[][..], |of_gpu| of_gpu.cpus.as_slice());
        let _kept = (!cpus.is_empty()).then(|| Kept::on(cpus));
        let (mut samples, mut conditions) = (Vec::new(), Vec::new());
        for number in 0..measure.samples {
            let asked = number == measure.samples / 2;
            let pace = if number == 0 {
                pace
            } else {
                Pace {
                    warm_ups: others,
                    first: false,
                    ..pace
                }
            };
            let mut read = Vec::new();
            let sample = run(&flows, pace, || {
                if asked {
                    read = conditions_of(measure, inventory);
                }
            })?;
            for condition in &mut read {
                condition.while_running = sample.running;
            }
            conditions.append(&mut read);
            samples.push(Sampled {
                each: sample.each,
                together: sample.together,
                queueing: sample.queueing,
            });
        }
        let wrong = received
            .iter()
            .filter_map(|arrival| arrival.compare().transpose());
        Ok(Answer::Measured {
            samples,
            conditions,
            wrong: wrong.collect::<Result<_, _>>()?,
        })
    }

    fn of(&self, gpu: u32) -> Result<&OfGpu, Trouble> {
        self.gpus.get(&gpu).ok_or(Trouble::Unprepared(gpu))
    }
}

enum Trouble {
    Call(CallError),
    Unprepared(u32),
}

impl From<CallError> for Trouble {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

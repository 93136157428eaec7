//! What the worker does for the bench: memory and kernels on each GPU, and the samples of a cell.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::time::Duration;

use kb_core::report::Conditions;

use crate::gpu::{
    Area, BenchKernels, Buffer, CallError, Flow, Mover, Pace, Pageable, Pattern, Pinned, Ring, run,
};

use super::inventory::Inventory;
use super::near::Kept;
use super::obey::refuse;
use super::outcome::failure;
use super::place::Place;
use super::protocol::{self, Answer, By, FlowKind, FlowOf, Measure, Sampled, WrongData};

/// The patterns of the GPUs' buffers differ by these seeds.
const SEED: u64 = 0x6265_6e63_6800_0000;
/// What stands in a buffer before something arrives.
const BEFORE: u32 = 0xdead_beef;

/// What the bench holds, by GPU.
#[derive(Default)]
pub(super) struct Bench {
    gpus: BTreeMap<u32, OfGpu>,
}

struct OfGpu {
    kernels: BenchKernels,
    outgoing: Buffer,
    incoming: Buffer,
    ring: Ring,
    /// Host memory, next to the GPU where that was possible.
    pinned: Pinned,
    pageable: Pageable,
    host_ring: Ring,
    /// CPUs next to it, as far as they are known and this process may use them.
    cpus: Vec<u32>,
}

impl OfGpu {
    fn prepare(
        gpu: u32,
        place: &Place,
        (sizes, cpus): ([usize; 3], &[u32]),
        limit: Duration,
    ) -> Result<Self, CallError> {
        let [bytes, pinned_bytes, pageable_bytes] = sizes;
        let context = &place.context;
        let of_gpu = Self {
            kernels: BenchKernels::load(context)?,
            outgoing: Buffer::allocate(context, bytes)?,
            incoming: Buffer::allocate(context, bytes)?,
            ring: Ring::on_gpu(context, &place.stream, limit)?,
            pinned: Pinned::allocate(context, pinned_bytes)?,
            pageable: Pageable::allocate(pageable_bytes),
            host_ring: Ring::on_host(context)?,
            cpus: cpus.to_vec(),
        };
        let whole = of_gpu.outgoing.window(0, bytes).ok_or_else(outside)?;
        place.fill(whole, pattern(gpu))?;
        // Each kernel once, before any of them is launched behind a closed gate: a driver that loads them at their
        // first launch may wait for what runs.
        let (to, from) = (of_gpu.window(false, 0, bytes), of_gpu.window(true, 0, bytes));
        let areas = |to, from| (Area::of_gpu(context, to), Area::of_gpu(context, from));
        let (to, from) = areas(to?, from?);
        let ring = &of_gpu.ring;
        for mover in [Mover::Kernel { to, from }, Mover::Chase { ring }] {
            let flow = Flow {
                context,
                kernels: &of_gpu.kernels,
                mover,
                times: 1,
            };
            let once = Pace {
                warm_ups: 0,
                first: true,
                gated: false,
                limit,
            };
            run(&[flow], once, || ())?;
        }
        Ok(of_gpu)
    }

    /// The piece of a buffer that begins after so many lengths.
    fn window(&self, outgoing: bool, slot: u32, bytes: usize) -> Result<crate::gpu::Windows<'_>, CallError> {
        let buffer = if outgoing { &self.outgoing } else { &self.incoming };
        let offset = (slot as usize).checked_mul(bytes);
        offset
            .and_then(|offset| buffer.window(offset, bytes))
            .ok_or_else(outside)
    }
}

fn outside() -> CallError {
    CallError::Refused {
        call: "cuMemcpyAsync",
        why: "the bench has less memory there than is to be copied",
    }
}

fn pattern(gpu: u32) -> Pattern {
    Pattern {
        seed: SEED + u64::from(gpu),
        complement: false,
    }
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

    /// Takes the samples of a cell.
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

    fn flow<'a>(
        &'a self,
        flow: &FlowOf,
        bytes: usize,
        places: &'a BTreeMap<u32, Place>,
    ) -> Result<Flow<'a>, Trouble> {
        let initiator = self.of(flow.initiator)?;
        let place = places
            .get(&flow.initiator)
            .ok_or(Trouble::Unprepared(flow.initiator))?;
        let area =
            |end: protocol::Place, outgoing: bool| self.area(flow.initiator, end, outgoing, bytes, places);
        let mover = match flow.kind {
            FlowKind::Copy {
                source,
                destination,
                by,
            } => {
                let (to, from) = (area(destination, false)?, area(source, true)?);
                match by {
                    By::CopyEngine => Mover::CopyEngine { to, from },
                    By::Contexts => Mover::BetweenContexts { to, from },
                    By::Kernel => Mover::Kernel { to, from },
                }
            }
            FlowKind::Chase { owner: Some(owner) } => Mover::Chase {
                ring: &self.of(owner)?.ring,
            },
            FlowKind::Chase { owner: None } => Mover::Chase {
                ring: &initiator.host_ring,
            },
        };
        Ok(Flow {
            context: &place.context,
            kernels: &initiator.kernels,
            mover,
            times: flow.times,
        })
    }

    fn area<'a>(
        &'a self,
        initiator: u32,
        end: protocol::Place,
        outgoing: bool,
        bytes: usize,
        places: &'a BTreeMap<u32, Place>,
    ) -> Result<Area<'a>, Trouble> {
        match end {
            protocol::Place::Gpu(gpu, slot) => {
                let place = places.get(&gpu).ok_or(Trouble::Unprepared(gpu))?;
                let window = self.of(gpu)?.window(outgoing, slot, bytes)?;
                Ok(Area::of_gpu(&place.context, window))
            }
            protocol::Place::Pinned(slot) => {
                let offset = (slot as usize).saturating_mul(bytes);
                let area = self.of(initiator)?.pinned.area().part(offset, bytes);
                area.ok_or_else(|| outside().into())
            }
            protocol::Place::Pageable => {
                let area = self.of(initiator)?.pageable.area().part(0, bytes);
                area.ok_or_else(|| outside().into())
            }
        }
    }

    /// What must have arrived, and where: the first piece of each GPU's buffer, which others send the same of theirs.
    fn expected<'a>(
        &'a self,
        measure: &Measure,
        bytes: usize,
        places: &'a BTreeMap<u32, Place>,
    ) -> Result<Vec<Arrival<'a>>, Trouble> {
        let between = measure.flows.iter().filter_map(|flow| match flow.kind {
            FlowKind::Copy {
                source: protocol::Place::Gpu(source, 0),
                destination: protocol::Place::Gpu(destination, 0),
                ..
            } => Some((source, destination)),
            _ => None,
        });
        between
            .map(|(source, destination)| {
                Ok(Arrival {
                    source,
                    destination,
                    place: places.get(&destination).ok_or(Trouble::Unprepared(destination))?,
                    window: self.of(destination)?.window(false, 0, bytes)?,
                })
            })
            .collect()
    }
}

/// Data that one GPU gets from another.
struct Arrival<'a> {
    source: u32,
    destination: u32,
    place: &'a Place,
    window: crate::gpu::Windows<'a>,
}

impl Arrival<'_> {
    /// The owner compares; what is wrong.
    fn compare(&self) -> Result<Option<WrongData>, CallError> {
        let found = self.place.compare(&[(self.window, pattern(self.source))])?;
        let wrong = found.into_iter().flatten().next();
        Ok(wrong.map(|wrong| WrongData {
            source: self.source,
            destination: self.destination,
            message: format!(
                "what GPU {} got from GPU {} is wrong: {} words from byte {} on",
                self.destination,
                self.source,
                wrong.words,
                self.window.offset_of(wrong.first_word)
            ),
        }))
    }
}

/// Why there are no samples.
enum Trouble {
    Call(CallError),
    Unprepared(u32),
}

impl From<CallError> for Trouble {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

/// The GPUs of a cell as they are now.
fn conditions_of(measure: &Measure, inventory: Option<&Inventory>) -> Vec<Conditions> {
    let Some(inventory) = inventory else {
        return Vec::new();
    };
    let mut gpus = BTreeSet::new();
    for flow in &measure.flows {
        gpus.insert(flow.initiator);
        match flow.kind {
            FlowKind::Copy {
                source, destination, ..
            } => {
                let of = |end| match end {
                    protocol::Place::Gpu(gpu, _) => Some(gpu),
                    _ => None,
                };
                gpus.extend([source, destination].into_iter().filter_map(of));
            }
            FlowKind::Chase { owner } => gpus.extend(owner),
        }
    }
    let read = |gpu: u32| {
        Some(Conditions {
            gpu,
            while_running: false,
            facts: inventory.gpu(gpu)?.conditions(),
        })
    };
    gpus.into_iter().filter_map(read).collect()
}

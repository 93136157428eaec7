//! Flows: transfers, and chases of pointers, that run at the same time and are timed by events of their own streams.
//!
//! The way of nvbandwidth: a gate closes every stream, warm-ups are queued behind it, then the first stream's start,
//! for which all others wait, then what counts. Only then do the gates open, so the host's pauses between two calls
//! do not show; and what is cold warms up before the clock runs. Unlike there, the first stream starts when the others
//! have warmed up too: what they still copied would be traffic that counts for nobody.
//!
//! Streams of one context share its copy engine, which serves them as it likes: of three to three GPUs an H200 pushes all
//! of one, then all of the next, and at any moment some GPUs get nothing and others from two or three at once. Flows
//! that are to share fairly therefore take turns in one stream ([`Pace::turns`]).

use std::ffi::c_void;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::area::{Area, Kind, Ring};
use super::bench_kernels::BenchKernels;
use super::burn::Burn;
use super::call::CallError;
use super::context::Context;
use super::gate::Gate;
use super::stream::Stream;
use super::timing::Event;

/// Hops that warm a chase up: once around the ring. What it left in the caches stays there for the samples behind it, in
/// front of which a part of it wakes the links.
pub(crate) const WARM_HOPS: u32 = 16_384;
pub(crate) const WARM_HOPS_AGAIN: u32 = 2048;

#[derive(Clone, Copy)]
pub(crate) enum Mover<'a> {
    /// The copy engine, by the call that takes addresses alone.
    CopyEngine {
        to: Area<'a>,
        from: Area<'a>,
    },
    /// The same by the call that names both contexts, which stages through the host where access is not enabled.
    BetweenContexts {
        to: Area<'a>,
        from: Area<'a>,
    },
    Kernel {
        to: Area<'a>,
        from: Area<'a>,
    },
    /// Launches of the load's kernel, prepared before.
    Burn {
        burn: &'a Burn,
    },
    /// One thread of the initiator that follows a ring.
    Chase {
        ring: &'a Ring,
    },
}

#[derive(Clone, Copy)]
pub(crate) struct Flow<'a> {
    pub(crate) context: &'a Rc<Context>,
    /// Of the same context; for the gate too.
    pub(crate) kernels: &'a BenchKernels,
    pub(crate) mover: Mover<'a>,
    pub(crate) times: u32,
}

#[derive(Clone, Copy)]
pub(crate) struct Pace {
    /// Copies in front of those that count.
    pub(crate) warm_ups: u32,
    /// False where the same was done just before.
    pub(crate) first: bool,
    /// False for what the driver does on the host, and so would wait for the gate that waits for it.
    pub(crate) gated: bool,
    /// Flows of one context take turns in one stream, copy by copy, in the order given.
    pub(crate) turns: bool,
    pub(crate) limit: Duration,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    /// Seconds a copy, or a hop, of each flow; a turn, where flows take turns.
    pub(crate) each: Vec<f64>,
    /// Seconds from the first flow's start to the end of the last one.
    pub(crate) together: f64,
    /// Seconds a copy that the host needed to queue the first flow.
    pub(crate) queueing: f64,
    /// True when the work was still running after `meanwhile`.
    pub(crate) running: bool,
}

struct Lane<'a> {
    flow: Flow<'a>,
    others: Vec<Flow<'a>>,
    gate: Option<Gate>,
    warm: Event,
    start: Event,
    end: Event,
    stream: Stream,
}

impl<'a> Lane<'a> {
    fn create(flow: Flow<'a>, gated: bool) -> Result<Self, CallError> {
        Ok(Self {
            flow,
            others: Vec::new(),
            gate: gated.then(|| Gate::create(flow.context)).transpose()?,
            warm: Event::create(flow.context)?,
            start: Event::create(flow.context)?,
            end: Event::create(flow.context)?,
            stream: Stream::create(flow.context)?,
        })
    }

    fn close(&self, limit: Duration) -> Result<(), CallError> {
        match &self.gate {
            Some(gate) => gate.close(self.flow.kernels, &self.stream, limit),
            None => Ok(()),
        }
    }

    fn warm_up(&self, pace: Pace) -> Result<(), CallError> {
        let hops = if pace.first { WARM_HOPS } else { WARM_HOPS_AGAIN };
        match self.flow.mover {
            Mover::Chase { .. } => self.queue(self.flow.times.min(hops)),
            _ => self.queue(pace.warm_ups),
        }
    }

    fn queue(&self, times: u32) -> Result<(), CallError> {
        if self.others.is_empty() {
            return self.queue_of(&self.flow, times);
        }
        (0..times).try_for_each(|_| {
            self.queue_of(&self.flow, 1)?;
            self.others.iter().try_for_each(|flow| self.queue_of(flow, 1))
        })
    }

    fn queue_of(&self, flow: &Flow<'_>, times: u32) -> Result<(), CallError> {
        let kernels = flow.kernels;
        match flow.mover {
            // SAFETY: areas and rings borrow their memory, and `run` returns after the streams have been waited for.
            Mover::Chase { ring } => unsafe { kernels.chase(&self.stream, ring.start(), times) },
            // SAFETY: the flow borrows the kernel and its buffers, and `run` returns after the streams have been waited for.
            Mover::Burn { burn } => unsafe { burn.launch(&self.stream, times) },
            Mover::Kernel { to, from } => {
                let bytes = to.bytes.min(from.bytes);
                // SAFETY: as above; both areas have so many bytes.
                unsafe { kernels.copy(&self.stream, (to.address, from.address), bytes, times) }
            }
            Mover::CopyEngine { to, from } => self.copy(to, from, times),
            Mover::BetweenContexts { to, from } => self.copy_between(to, from, times),
        }
    }

    fn copy(&self, to: Area<'_>, from: Area<'_>, times: u32) -> Result<(), CallError> {
        let (api, stream) = (&self.flow.context.api, self.stream.handle);
        let bytes = to.bytes.min(from.bytes);
        let host = |address: u64| address as *mut c_void;
        // SAFETY: both areas are alive and have so many bytes; which of them is host memory decides the call.
        unsafe {
            match (to.kind, from.kind) {
                (Kind::Device(_), Kind::Device(_)) => {
                    self.repeat("cuMemcpyAsync", api.symbols.cuMemcpyAsync, times, |copy| {
                        copy(to.address, from.address, bytes, stream)
                    })
                }
                (Kind::Device(_), _) => {
                    let copy = api.symbols.cuMemcpyHtoDAsync_v2;
                    self.repeat("cuMemcpyHtoDAsync_v2", copy, times, |copy| {
                        copy(to.address, host(from.address).cast_const(), bytes, stream)
                    })
                }
                (_, Kind::Device(_)) => {
                    let copy = api.symbols.cuMemcpyDtoHAsync_v2;
                    self.repeat("cuMemcpyDtoHAsync_v2", copy, times, |copy| {
                        copy(host(to.address), from.address, bytes, stream)
                    })
                }
                _ => Err(without_gpu()),
            }
        }
    }

    fn copy_between(&self, to: Area<'_>, from: Area<'_>, times: u32) -> Result<(), CallError> {
        let (Kind::Device(to_context), Kind::Device(from_context)) = (to.kind, from.kind) else {
            return Err(without_gpu());
        };
        let (api, stream) = (&self.flow.context.api, self.stream.handle);
        let bytes = to.bytes.min(from.bytes);
        let copy = api.symbols.cuMemcpyPeerAsync;
        self.repeat("cuMemcpyPeerAsync", copy, times, |copy| {
            // SAFETY: both areas are alive, in these contexts, and have so many bytes.
            unsafe {
                copy(
                    to.address,
                    to_context.handle,
                    from.address,
                    from_context.handle,
                    bytes,
                    stream,
                )
            }
        })
    }

    /// One breadcrumb for all calls of a row: writing one in front of each would be part of what queueing costs.
    fn repeat<F: Copy>(
        &self,
        name: &'static str,
        function: Option<F>,
        times: u32,
        call: impl Fn(F) -> i32,
    ) -> Result<(), CallError> {
        let function = function.ok_or(CallError::Missing { call: name })?;
        let api = &self.flow.context.api;
        self.flow.context.enter()?;
        api.trace.about_to(name);
        (0..times).try_for_each(|_| api.checked(name, call(function)))
    }

    /// Seconds a copy, hop or turn, once it has ended.
    fn seconds_each(&self) -> Result<f64, CallError> {
        let times = match self.flow.mover {
            Mover::Chase { .. } => self.flow.kernels.hops(self.flow.times),
            _ => self.flow.times.max(1),
        };
        Ok(self.end.seconds_since(&self.start)? / f64::from(times))
    }

    fn is_running(&self) -> bool {
        let none = Duration::ZERO;
        matches!(
            self.stream.wait("cuStreamQuery", none),
            Err(CallError::Deadline { .. })
        )
    }
}

/// The lanes of a sample. Dropped, in whatever state, all gates open before any lane goes: freeing a lane's host memory
/// waits for its stream, and that may wait for another lane behind its own gate.
struct Lanes<'a>(Vec<Lane<'a>>);

impl Lanes<'_> {
    fn gates(&self) -> impl Iterator<Item = &Gate> {
        self.0.iter().filter_map(|lane| lane.gate.as_ref())
    }
}

impl Drop for Lanes<'_> {
    fn drop(&mut self) {
        self.gates().for_each(Gate::open);
    }
}

fn without_gpu() -> CallError {
    CallError::Refused {
        call: "cuMemcpyAsync",
        why: "no GPU takes part in the copy as it has to",
    }
}

/// A lane for each flow, or for each context where they take turns, and the lane of each flow.
fn lanes<'a>(flows: &[Flow<'a>], pace: Pace) -> Result<(Lanes<'a>, Vec<usize>), CallError> {
    let (mut lanes, mut lane_of) = (Vec::<Lane<'a>>::new(), Vec::new());
    for flow in flows {
        let same = |lane: &Lane<'_>| Rc::ptr_eq(lane.flow.context, flow.context);
        let shared = lanes.iter().position(same).filter(|_| pace.turns);
        lane_of.push(shared.unwrap_or(lanes.len()));
        match shared.and_then(|number| lanes.get_mut(number)) {
            Some(lane) => lane.others.push(*flow),
            None => lanes.push(Lane::create(*flow, pace.gated)?),
        }
    }
    Ok((Lanes(lanes), lane_of))
}

/// Takes one sample. `meanwhile` is done while the work runs; the first flow is the one that the others start with.
pub(crate) fn run(flows: &[Flow<'_>], pace: Pace, meanwhile: impl FnOnce()) -> Result<Sample, CallError> {
    let nothing = || CallError::Refused {
        call: "cuStreamCreate",
        why: "there is nothing to be timed",
    };
    let (lanes, lane_of) = lanes(flows, pace)?;
    let (first, others) = lanes.0.split_first().ok_or_else(nothing)?;
    let all_ended = Event::create(first.flow.context)?;
    for lane in &lanes.0 {
        lane.close(pace.limit)?;
    }
    for lane in &lanes.0 {
        lane.warm_up(pace)?;
    }
    for lane in others {
        lane.warm.record(&lane.stream)?;
        lane.warm.await_by(&first.stream)?;
    }
    first.start.record(&first.stream)?;
    for lane in others {
        first.start.await_by(&lane.stream)?;
        lane.start.record(&lane.stream)?;
    }
    let mut queueing = 0.0;
    for (number, lane) in lanes.0.iter().enumerate() {
        let before = Instant::now();
        lane.queue(lane.flow.times)?;
        if number == 0 {
            queueing = before.elapsed().as_secs_f64() / f64::from(lane.flow.times.max(1));
        }
        lane.end.record(&lane.stream)?;
    }
    for lane in others {
        lane.end.await_by(&first.stream)?;
    }
    all_ended.record(&first.stream)?;
    lanes.gates().for_each(Gate::open);
    meanwhile();
    let running = first.is_running();
    let since = Instant::now();
    for lane in &lanes.0 {
        let left = pace.limit.saturating_sub(since.elapsed());
        lane.stream.wait("cuStreamQuery", left)?;
    }
    if lanes.gates().any(Gate::gave_up) {
        return Err(CallError::QueuedLate {
            call: "cuLaunchKernel",
            limit: pace.limit,
        });
    }
    let each = lanes
        .0
        .iter()
        .map(Lane::seconds_each)
        .collect::<Result<Vec<f64>, _>>()?;
    Ok(Sample {
        each: lane_of
            .iter()
            .filter_map(|lane| each.get(*lane).copied())
            .collect(),
        together: all_ended.seconds_since(&first.start)?,
        queueing,
        running,
    })
}

impl Flow<'_> {
    /// True where the driver copies with the host's help, and a gate would be in its own way.
    pub(crate) fn needs_the_host(&self) -> bool {
        match self.mover {
            Mover::CopyEngine { to, from }
            | Mover::BetweenContexts { to, from }
            | Mover::Kernel { to, from } => to.is_pageable() || from.is_pageable(),
            Mover::Burn { .. } | Mover::Chase { .. } => false,
        }
    }
}

//! What the bench holds of one GPU: memory on it and beside it, and kernels.

use std::time::Duration;

use crate::gpu::{
    Area, BenchKernels, Buffer, CallError, Flow, Mover, Pace, Pageable, Pattern, Pinned, Ring, Windows, run,
};
use crate::worker::place::Place;

/// The patterns of the GPUs' buffers differ by these seeds.
const SEED: u64 = 0x6265_6e63_6800_0000;

pub(super) struct OfGpu {
    pub(super) kernels: BenchKernels,
    outgoing: Buffer,
    incoming: Buffer,
    pub(super) ring: Ring,
    /// Host memory, next to the GPU where that was possible.
    pub(super) pinned: Pinned,
    pub(super) pageable: Pageable,
    pub(super) host_ring: Ring,
    /// CPUs next to it, as far as they are known and this process may use them.
    pub(super) cpus: Vec<u32>,
}

impl OfGpu {
    pub(super) fn prepare(
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
        // Each kernel once before a launch behind a closed gate: a driver that loads at first launch may wait for what runs.
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
                turns: false,
                limit,
            };
            run(&[flow], once, || ())?;
        }
        Ok(of_gpu)
    }

    /// The piece of a buffer that begins after so many lengths.
    pub(super) fn window(&self, outgoing: bool, slot: u32, bytes: usize) -> Result<Windows<'_>, CallError> {
        let buffer = if outgoing { &self.outgoing } else { &self.incoming };
        let offset = (slot as usize).checked_mul(bytes);
        offset
            .and_then(|offset| buffer.window(offset, bytes))
            .ok_or_else(outside)
    }
}

pub(super) fn outside() -> CallError {
    CallError::Refused {
        call: "cuMemcpyAsync",
        why: "the bench has less memory there than is to be copied",
    }
}

pub(super) fn pattern(gpu: u32) -> Pattern {
    Pattern {
        seed: SEED + u64::from(gpu),
        complement: false,
    }
}

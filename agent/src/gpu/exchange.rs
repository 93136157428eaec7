//! The kernel `exchange` of `kernels.ptx`: one of two that run at the same time and wait for each other's stores.

use std::ffi::c_void;
use std::time::Duration;

use super::call::CallError;
use super::kernels::Kernels;
use super::memory::Windows;
use super::stream::Stream;

/// Cycles that a nanosecond has at most on any GPU: the kernel's second deadline is by its cycle counter.
const MOST_CYCLES: u64 = 4;

#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    /// Where the other's stores arrive; the first two words of each are 0.
    pub(crate) own: Windows<'a>,
    pub(crate) peer: Windows<'a>,
    pub(crate) rounds: u32,
    /// What the values that this side stores are made of.
    pub(crate) seed_out: u32,
    /// What the values that it gets are made of.
    pub(crate) seed_in: u32,
    /// When it gives up waiting, by the GPU's own clock.
    pub(crate) limit: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Observed {
    pub(crate) rounds: u32,
    /// Rounds whose value was wrong though its number had arrived.
    pub(crate) wrong: u32,
    /// The first of these; 0: none.
    pub(crate) first_wrong: u32,
    /// What stood at the end in place of the number that it waited for.
    pub(crate) last: u32,
}

impl Kernels {
    /// Launches one side. Does not wait; [`Self::observed`] does.
    pub(crate) fn exchange(&self, stream: &Stream, side: Side<'_>) -> Result<(), CallError> {
        let (mut own, mut own_stride) = (side.own.pointer, side.own.stride);
        let (mut peer, mut peer_stride) = (side.peer.pointer, side.peer.stride);
        let mut windows = side.own.count.min(side.peer.count);
        let mut rounds = side.rounds;
        let (mut seed_out, mut seed_in) = (side.seed_out, side.seed_in);
        let mut limit = u64::try_from(side.limit.as_nanos()).unwrap_or(u64::MAX / MOST_CYCLES);
        let mut cycles = limit.saturating_mul(MOST_CYCLES);
        let mut out = self.slot(0, 1)?.pointer;
        let mut parameters: [*mut c_void; 11] = [
            (&raw mut own).cast(),
            (&raw mut own_stride).cast(),
            (&raw mut peer).cast(),
            (&raw mut peer_stride).cast(),
            (&raw mut windows).cast(),
            (&raw mut rounds).cast(),
            (&raw mut seed_out).cast(),
            (&raw mut seed_in).cast(),
            (&raw mut limit).cast(),
            (&raw mut cycles).cast(),
            (&raw mut out).cast(),
        ];
        // SAFETY: `exchange` takes these eleven; callers keep the windows until they have waited for both sides.
        unsafe {
            self.module
                .launch(stream, self.exchange, [1, 1], 1, &mut parameters)
        }
    }

    pub(crate) fn observed(&self, stream: &Stream, limit: Duration) -> Result<Observed, CallError> {
        let found = self.results(stream, "cuLaunchKernel", limit)?;
        let &[rounds, wrong, first_wrong, last, ..] = found.as_slice() else {
            return Err(CallError::Refused {
                call: "cuLaunchKernel",
                why: "the result buffer is too small",
            });
        };
        Ok(Observed {
            rounds,
            wrong,
            first_wrong,
            last,
        })
    }
}

//! The kernel of `burn.ptx` for one context: multiply-adds in registers, and whether their checksum is right.

use std::ffi::c_void;
use std::rc::Rc;
use std::time::Duration;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT as MULTIPROCESSORS;

use super::call::CallError;
use super::context::Context;
use super::driver::attribute;
use super::memory::Buffer;
use super::module::{Function, Module};
use super::stream::Stream;

const TEXT: &str = include_str!("burn.ptx");
const THREADS: u32 = 256;
const LANES: u32 = 32;
/// Blocks for each multiprocessor: 2048 threads, all that one holds on data centre GPUs.
const BLOCKS_EACH: u32 = 8;
const CHAINS: u32 = 8;
const STEPS: u32 = 2;
/// Operations of a thread and round: a fused multiply-add counts as two.
const OPERATIONS: u32 = CHAINS * STEPS * 2 * 2;
/// Sum, wrong threads, the block of one of them.
const RESULT_WORDS: usize = 3;
const WORD: usize = 4;

/// The map x' = (FACTOR x + OFFSET) x + 1, as in the text.
const FACTOR: f32 = -2.03;
const OFFSET: f32 = 0.3;

pub(crate) struct Burn {
    /// Dropped before what it works on.
    module: Module,
    kernel: Function,
    expected: Buffer,
    result: Buffer,
    /// What the host has computed, and for how many rounds.
    table: Option<(u32, [u32; LANES as usize])>,
    blocks: u32,
}

/// What launches have left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Burnt {
    /// Threads that found their own checksum wrong, and the block of one of them.
    pub(crate) wrong: Option<(u32, u32)>,
    /// Whether the sum of all checksums is what it has to be.
    pub(crate) sum_is_right: bool,
}

impl Burn {
    /// Compiles and loads it. Code 221 means that the driver's JIT library is missing.
    pub(crate) fn load(context: &Rc<Context>) -> Result<Self, CallError> {
        let multiprocessors = attribute(&context.api, MULTIPROCESSORS, context.device)?;
        let module = Module::load(context, TEXT)?;
        Ok(Self {
            kernel: module.function(c"burn")?,
            module,
            expected: Buffer::allocate(context, LANES as usize * WORD)?,
            result: Buffer::allocate(context, RESULT_WORDS * WORD)?,
            table: None,
            blocks: u32::try_from(multiprocessors).unwrap_or(1).max(1) * BLOCKS_EACH,
        })
    }

    /// Operations of one launch.
    pub(crate) fn operations(&self, rounds: u32) -> f64 {
        f64::from(self.blocks) * f64::from(THREADS) * f64::from(rounds) * f64::from(OPERATIONS)
    }

    /// Gets ready for launches of so many rounds: what they have to come to, and results of zero. Waits.
    pub(crate) fn prepare(&mut self, stream: &Stream, rounds: u32, limit: Duration) -> Result<(), CallError> {
        if self.table.is_none_or(|(known, _)| known != rounds) {
            let table = table(rounds);
            let window = self
                .expected
                .window(0, LANES as usize * WORD)
                .ok_or_else(too_small)?;
            let word = |index: u64| {
                let lane = usize::try_from(index).ok();
                lane.and_then(|lane| table.get(lane)).copied().unwrap_or_default()
            };
            stream.upload(window, word, limit)?;
            self.table = Some((rounds, table));
        }
        let window = self.result.window(0, RESULT_WORDS * WORD).ok_or_else(too_small)?;
        stream.set(window, 0)?;
        stream.wait("cuMemsetD32Async", limit)
    }

    /// Launches it so many times. Does not wait.
    ///
    /// # Safety
    /// This value is kept until the stream has been waited for.
    pub(super) unsafe fn launch(&self, stream: &Stream, times: u32) -> Result<(), CallError> {
        let Some((mut rounds, _)) = self.table else {
            return Err(unprepared());
        };
        let (mut expected, mut result) = (self.expected.pointer, self.result.pointer);
        for _ in 0..times {
            let mut parameters: [*mut c_void; 3] = [
                (&raw mut expected).cast(),
                (&raw mut result).cast(),
                (&raw mut rounds).cast(),
            ];
            let grid = [self.blocks, 1];
            // SAFETY: `burn` takes these three; the caller keeps both buffers.
            unsafe {
                self.module
                    .launch(stream, self.kernel, grid, THREADS, &mut parameters)
            }?;
        }
        Ok(())
    }

    /// What so many launches since [`Self::prepare`] have come to; they have ended.
    pub(crate) fn results(
        &self,
        stream: &Stream,
        launches: u32,
        limit: Duration,
    ) -> Result<Burnt, CallError> {
        let Some((_, table)) = &self.table else {
            return Err(unprepared());
        };
        let window = self.result.window(0, RESULT_WORDS * WORD).ok_or_else(too_small)?;
        let found = stream.download(window, limit)?;
        let [sum, wrong, block] = *found.as_slice() else {
            return Err(too_small());
        };
        let of_lanes = table.iter().fold(0_u32, |sum, word| sum.wrapping_add(*word));
        let threads_of_lane = self.blocks.wrapping_mul(THREADS / LANES);
        let right = of_lanes.wrapping_mul(threads_of_lane).wrapping_mul(launches);
        Ok(Burnt {
            wrong: (wrong > 0).then_some((wrong, block)),
            sum_is_right: sum == right,
        })
    }
}

fn unprepared() -> CallError {
    CallError::Refused {
        call: "cuLaunchKernel",
        why: "what the kernel has to come to was not computed",
    }
}

fn too_small() -> CallError {
    CallError::Refused {
        call: "cuLaunchKernel",
        why: "the buffers of the load are too small",
    }
}

/// What a thread of each lane comes to, computed by the host in the same steps.
fn table(rounds: u32) -> [u32; LANES as usize] {
    let mut lane = 0;
    [(); LANES as usize].map(|()| {
        let word = checksum(lane, rounds);
        lane += 1;
        word
    })
}

fn next(x: f32) -> f32 {
    FACTOR.mul_add(x, OFFSET).mul_add(x, 1.0)
}

fn checksum(lane: u32, rounds: u32) -> u32 {
    let chains = (1..=CHAINS).map(|chain| {
        let bits = (lane * CHAINS + chain).wrapping_mul(0x009e_3779) & 0x007f_ffff | 0x3f00_0000;
        let start = f32::from_bits(bits);
        // `rounds` may be in the hundred thousands, so that it is counted in 64 bits.
        (0..u64::from(rounds) * u64::from(STEPS)).fold(start, |x, _| next(x))
    });
    chains.fold(0x811c_9dc5, |hash: u32, x| {
        (hash ^ x.to_bits()).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_differ_and_a_wrong_bit_in_any_chain_shows() {
        assert_eq!(
            (FACTOR.to_bits(), OFFSET.to_bits()),
            (0xc001_eb85, 0x3e99_999a),
            "as in the text"
        );
        let table = table(1000);
        let distinct: std::collections::BTreeSet<u32> = table.iter().copied().collect();
        assert_eq!(distinct.len(), table.len());
        // The sign, the exponent and the upper bits of the mantissa, wrong once: what is lost by rounding is a few per cent of the
        // lower ones (docs/AGENT.md).
        let ends = |start: f32, steps: u32| (0..steps).fold(start, |x, _| next(x));
        for bit in 11..32 {
            let is_seen = |at: &u32| {
                let right = ends(0.75, *at);
                let wrong = f32::from_bits(right.to_bits() ^ (1 << bit));
                ends(right, 1000).to_bits() != ends(wrong, 1000).to_bits()
            };
            let seen = (1..=200).filter(is_seen).count();
            assert!(seen >= 195, "bit {bit}: {seen} of 200");
        }
        assert!((-0.78..1.02).contains(&ends(0.75, 1000)));
    }
}

//! What the worker holds on each GPU: context, stream, kernels where they can be had, and the memory of the checks.

use std::rc::Rc;
use std::time::Duration;

use crate::gpu::{
    Buffer, CallError, Context, Device, Driver, Kernels, Pattern, Shareable, Stream, Windows, Wrong, word,
};

use super::outcome::failure;
use super::zones::{Layout, Zones};

/// Left free beside what is spread over a GPU's memory: contexts of other processes, and what the driver itself needs.
const RESERVE_BYTES: usize = 2 << 30;
/// Allocations are multiples of the driver's unit: smaller ones may share one, and a legacy handle names the whole unit.
const UNIT_BYTES: usize = 2 << 20;
const OUT_OF_MEMORY: i32 = 2;

pub(super) struct Place {
    kernels: Result<Kernels, CallError>,
    pub(super) buffer: Buffer,
    /// What timed copies move, once there was one.
    timed: Option<Buffer>,
    /// What another process gets by descriptor, once it was asked for.
    pub(super) shareable: Option<Shareable>,
    pub(super) stream: Stream,
    pub(super) context: Rc<Context>,
    layout: Layout,
    pub(super) limit: Duration,
}

impl Place {
    /// Takes a context and memory for `data_bytes` in windows; `spread`: over most of the GPU's memory, where there is room.
    pub(super) fn prepare(
        driver: &Driver,
        device: Device,
        data_bytes: usize,
        spread: bool,
        limit: Duration,
    ) -> Result<Self, CallError> {
        let context = Context::retain(driver, device)?;
        let stream = Stream::create(&context)?;
        let packed = Layout::packed(data_bytes);
        let (buffer, layout) = take_memory(&context, packed, spread)?;
        let kernels = match Kernels::load(&context) {
            // The context is of no use for copies either, and why says more than that there are no kernels.
            Err(error) if failure(&error).poisoned => return Err(error),
            kernels => kernels,
        };
        Ok(Self {
            kernels,
            buffer,
            timed: None,
            shareable: None,
            stream,
            context,
            layout,
            limit,
        })
    }

    pub(super) fn without_kernels(&self) -> Option<&CallError> {
        self.kernels.as_ref().err()
    }

    pub(super) fn kernels(&self) -> Result<&Kernels, CallError> {
        self.kernels.as_ref().map_err(Clone::clone)
    }

    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    pub(super) fn zones(&self) -> Result<Zones<'_>, CallError> {
        self.layout.zones(self.buffer.span())
    }

    pub(super) fn data(&self) -> Result<Windows<'_>, CallError> {
        Ok(self.zones()?.data)
    }

    pub(super) fn take_timed(&mut self, bytes: usize) -> Result<(), CallError> {
        if self.timed.is_none() {
            self.timed = Some(Buffer::allocate(&self.context, bytes)?);
        }
        Ok(())
    }

    pub(super) fn timed(&self, bytes: usize) -> Option<Windows<'_>> {
        self.timed.as_ref()?.window(0, bytes)
    }

    /// Fills own memory, and waits: by a kernel, or by an upload where there is none.
    pub(super) fn fill(&self, windows: Windows<'_>, pattern: Pattern) -> Result<(), CallError> {
        match &self.kernels {
            Ok(kernels) => {
                kernels.fill(&self.stream, windows, pattern)?;
                self.stream.wait("cuLaunchKernel", self.limit)
            }
            Err(_) => self
                .stream
                .upload(windows, |index| expected(pattern, index), self.limit),
        }
    }

    /// Compares own memory: by a kernel, or by a download in this GPU's own context where there is none.
    pub(super) fn compare(&self, asked: &[(Windows<'_>, Pattern)]) -> Result<Vec<Option<Wrong>>, CallError> {
        if let Ok(kernels) = &self.kernels {
            return kernels.check(&self.stream, asked, self.limit);
        }
        let downloaded = asked.iter().map(|(windows, pattern)| {
            let found = self.stream.download(*windows, self.limit)?;
            Ok(compare_on_host(&found, *pattern))
        });
        downloaded.collect()
    }

    pub(super) fn compared_by(&self) -> &'static str {
        match self.kernels {
            Ok(_) => "owner_kernel",
            Err(_) => "owner_copy",
        }
    }
}

fn take_memory(context: &Rc<Context>, packed: Layout, spread: bool) -> Result<(Buffer, Layout), CallError> {
    if spread && let Some(layout) = spread_over(context, packed)? {
        match Buffer::allocate(context, layout.bytes()) {
            Ok(buffer) => return Ok((buffer, layout)),
            // Less is free than the driver says, or not in one piece: the small allocation will do.
            Err(error) if error.code().map(|(code, _)| code) == Some(OUT_OF_MEMORY) => {}
            Err(error) => return Err(error),
        }
    }
    let bytes = packed.bytes().next_multiple_of(UNIT_BYTES);
    Ok((Buffer::allocate(context, bytes)?, packed))
}

/// Windows over the smaller of 75 % of the memory and what is free but for a reserve.
fn spread_over(context: &Context, packed: Layout) -> Result<Option<Layout>, CallError> {
    let (free, total) = match context.memory_info() {
        Err(CallError::Missing { .. }) => return Ok(None),
        result => result?,
    };
    let reserve = RESERVE_BYTES.min(total / 8);
    let bytes = (total / 4 * 3).min(free.saturating_sub(reserve)) / UNIT_BYTES * UNIT_BYTES;
    Ok(packed.spread(bytes))
}

pub(super) fn expected(pattern: Pattern, index: u64) -> u32 {
    let word = word(pattern.seed, index);
    if pattern.complement { !word } else { word }
}

pub(super) fn compare_on_host(found: &[u32], pattern: Pattern) -> Option<Wrong> {
    let wrong = |(index, word): &(u64, &u32)| **word != expected(pattern, *index);
    let mut wrong_words = (0_u64..).zip(found).filter(wrong);
    let (first_word, _) = wrong_words.next()?;
    let words = 1 + wrong_words.count() as u64;
    Some(Wrong { first_word, words })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_finds_the_first_wrong_word_and_counts_them() {
        let pattern = Pattern {
            seed: 7,
            complement: true,
        };
        let mut words: Vec<u32> = (0..100).map(|index| expected(pattern, index)).collect();
        assert_eq!(compare_on_host(&words, pattern), None);
        words[40] ^= 1;
        words[99] ^= 1 << 31;
        assert_eq!(
            compare_on_host(&words, pattern),
            Some(Wrong {
                first_word: 40,
                words: 2
            })
        );
        let straight = Pattern {
            complement: false,
            ..pattern
        };
        assert_eq!(
            compare_on_host(&words, straight),
            Some(Wrong {
                first_word: 0,
                words: 100
            })
        );
    }
}

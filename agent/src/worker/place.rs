//! What the worker holds on each GPU: context, stream, kernels where they can be had, and the buffers of the checks.

use std::rc::Rc;
use std::time::Duration;

use crate::gpu::{Buffer, CallError, Context, Driver, Kernels, Pattern, Stream, Window, Wrong};
use crate::probe::pattern::word;

use super::protocol::CallFailure;

/// Bytes of the guard zone before and after the data.
pub(super) const GUARD_BYTES: usize = 4 * 1024;

/// One prepared GPU.
pub(super) struct Place {
    /// Dropped before what they live in.
    kernels: Result<Kernels, CallError>,
    /// Guard zone, data, guard zone.
    buffer: Buffer,
    pub(super) stream: Stream,
    pub(super) context: Rc<Context>,
    data_bytes: usize,
    pub(super) limit: Duration,
}

impl Place {
    pub(super) fn prepare(
        driver: &Driver,
        device: crate::gpu::Device,
        data_bytes: usize,
        limit: Duration,
    ) -> Result<Self, CallError> {
        let context = Context::retain(driver, device)?;
        let stream = Stream::create(&context)?;
        let buffer = Buffer::allocate(&context, data_bytes + 2 * GUARD_BYTES)?;
        let kernels = Kernels::load(&context);
        Ok(Self {
            kernels,
            buffer,
            stream,
            context,
            data_bytes,
            limit,
        })
    }

    /// Why there are no kernels here.
    pub(super) fn without_kernels(&self) -> Option<&CallError> {
        self.kernels.as_ref().err()
    }

    /// The kernels, for checks that are about kernels.
    pub(super) fn kernels(&self) -> Result<&Kernels, CallError> {
        self.kernels.as_ref().map_err(Clone::clone)
    }

    /// The zone that peers access.
    pub(super) fn data(&self) -> Result<Window<'_>, CallError> {
        self.zone(GUARD_BYTES, self.data_bytes)
    }

    /// The zones that nobody must touch.
    pub(super) fn guards(&self) -> Result<[Window<'_>; 2], CallError> {
        Ok([
            self.zone(0, GUARD_BYTES)?,
            self.zone(GUARD_BYTES + self.data_bytes, GUARD_BYTES)?,
        ])
    }

    fn zone(&self, offset: usize, bytes: usize) -> Result<Window<'_>, CallError> {
        self.buffer.window(offset, bytes).ok_or(CallError::Refused {
            call: "cuMemAlloc_v2",
            why: "the zone does not fit into its buffer",
        })
    }

    /// Fills own memory: by a kernel, or by an upload where there is none.
    pub(super) fn fill(&self, window: Window<'_>, pattern: Pattern) -> Result<(), CallError> {
        match &self.kernels {
            Ok(kernels) => kernels.fill(&self.stream, window, pattern, self.limit),
            Err(_) => self
                .stream
                .upload(window, |index| expected(pattern, index), self.limit),
        }
    }

    /// Compares own memory: by a kernel, or by a download in this GPU's own context where there is none.
    pub(super) fn compare(&self, window: Window<'_>, pattern: Pattern) -> Result<Option<Wrong>, CallError> {
        if let Ok(kernels) = &self.kernels {
            return kernels.check(&self.stream, window, pattern, self.limit);
        }
        let found = self.stream.download(window, self.limit)?;
        Ok(compare_on_host(&found, pattern))
    }

    /// How [`Self::compare`] compares, as the report says it.
    pub(super) fn compared_by(&self) -> &'static str {
        match self.kernels {
            Ok(_) => "owner_kernel",
            Err(_) => "owner_copy",
        }
    }
}

fn expected(pattern: Pattern, index: u64) -> u32 {
    let word = word(pattern.seed, index);
    if pattern.complement { !word } else { word }
}

fn compare_on_host(found: &[u32], pattern: Pattern) -> Option<Wrong> {
    let wrong = |(index, word): &(u64, &u32)| **word != expected(pattern, *index);
    let mut wrong_words = (0_u64..).zip(found).filter(wrong);
    let (first_word, _) = wrong_words.next()?;
    let words = 1 + wrong_words.count() as u64;
    Some(Wrong { first_word, words })
}

/// Codes that leave the context as it was: refusals of a call's arguments, of peer access, of memory, of the PTX.
/// Any other one may be sticky, and then every later call returns it too.
const HARMLESS: [i32; 13] = [1, 2, 101, 205, 209, 217, 218, 221, 222, 704, 705, 711, 801];

/// A failed call as the parent gets it.
pub(super) fn failure(error: &CallError) -> CallFailure {
    let code = error.code();
    let poisoned = match error {
        CallError::Code { code, .. } => !HARMLESS.contains(code),
        CallError::Deadline { .. } => true,
        CallError::Missing { .. } | CallError::Refused { .. } => false,
    };
    CallFailure {
        call: error.call().to_owned(),
        code: code.map(|(code, _)| code),
        code_name: code.map(|(_, name)| name.to_owned()),
        message: error.to_string(),
        poisoned,
    }
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

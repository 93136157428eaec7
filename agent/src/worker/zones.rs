//! Where in a GPU's memory the checks work: windows with guard zones, side by side or spread over one allocation.

use crate::gpu::{CallError, Span, Windows};

pub(super) const WINDOWS: u32 = 16;
/// Bytes of a guard zone, unless a window has less: before and after each window.
const GUARD_BYTES: usize = 4 * 1024;
/// Windows that are spread begin at multiples of this.
const ALIGNMENT: usize = 4 * 1024;
/// Least bytes of a window: the exchange and the atomics need a few words.
const LEAST_BYTES: usize = 64;

/// How the windows lie: guard zone, data, guard zone, and again after `stride` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    data: usize,
    guard: usize,
    /// Bytes from one window to the next.
    stride: usize,
}

impl Layout {
    /// Side by side, `data_bytes` in all.
    pub(super) fn packed(data_bytes: usize) -> Self {
        let data = (data_bytes / WINDOWS as usize / 4 * 4).max(LEAST_BYTES);
        let guard = data.min(GUARD_BYTES);
        Self {
            data,
            guard,
            stride: data + 2 * guard,
        }
    }

    /// Windows of the same size, as far apart as `bytes` bytes allow; `None` where these do not hold them.
    pub(super) fn spread(self, bytes: usize) -> Option<Self> {
        let one = self.data + 2 * self.guard;
        let stride = bytes.checked_sub(one)? / (WINDOWS as usize - 1) / ALIGNMENT * ALIGNMENT;
        (stride >= one).then_some(Self { stride, ..self })
    }

    pub(super) fn bytes(self) -> usize {
        self.stride * (WINDOWS as usize - 1) + self.data + 2 * self.guard
    }

    pub(super) fn data_bytes(self) -> u64 {
        self.data as u64 * u64::from(WINDOWS)
    }

    pub(super) fn spread_bytes(self) -> u64 {
        (self.stride * (WINDOWS as usize - 1) + self.data) as u64
    }

    pub(super) fn zones(self, memory: Span<'_>) -> Result<Zones<'_>, CallError> {
        let zone = |offset, bytes| {
            let windows = memory.windows(offset, self.stride, WINDOWS, bytes);
            windows.ok_or(CallError::Refused {
                call: "cuMemAlloc_v2",
                why: "the windows do not fit into their memory",
            })
        };
        Ok(Zones {
            data: zone(self.guard, self.data)?,
            guards: [zone(0, self.guard)?, zone(self.guard + self.data, self.guard)?],
        })
    }
}

#[derive(Clone, Copy)]
pub(super) struct Zones<'a> {
    pub(super) data: Windows<'a>,
    /// What nobody must touch: before and after each window.
    pub(super) guards: [Windows<'a>; 2],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_hold_the_data_and_lie_apart() {
        let packed = Layout::packed(4 << 20);
        assert_eq!((packed.data, packed.guard), (256 << 10, 4 << 10));
        assert_eq!(packed.bytes(), 16 * (264 << 10));
        let spread = packed.spread(100 << 30).unwrap();
        assert!(spread.bytes() <= 100 << 30);
        assert!(spread.bytes() > 99 << 30);
        assert_eq!(packed.spread(packed.bytes() - 1), None);
    }

    #[test]
    fn small_windows_have_small_guards() {
        let packed = Layout::packed(4 << 10);
        assert_eq!((packed.data, packed.guard, packed.stride), (256, 256, 768));
        assert_eq!(Layout::packed(0).data, LEAST_BYTES);
    }
}

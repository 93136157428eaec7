//! Mapped memory, touched only through atomic operations: other threads and other processes have it mapped too.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use std::{
    ffi::c_void,
    fs::OpenOptions,
    io,
    path::Path,
    ptr,
    sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering},
};

/// Readable and writable memory; page-aligned.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: *mut c_void,
    bytes: usize,
}

// SAFETY: the memory is owned by the value until it is dropped, and only accessed atomically.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is what was mapped, and no reference into it outlives the value. Failing leaks it.
        let _ = unsafe { munmap(self.start, self.bytes) };
    }
}

impl Mapping {
    /// The first `bytes` of a file that is that long.
    pub(crate) fn of_file(path: &Path, bytes: usize) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() < bytes as u64 {
            return Err(io::Error::other("shorter than it should be"));
        }
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe {
            mmap(
                ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &file,
                0,
            )?
        };
        // Programs use few places of large files: reading ahead costs more than it saves. Only a hint.
        // SAFETY: this is what was mapped.
        let _ = unsafe { madvise(start, bytes, Advice::Random) };
        Ok(Self { start, bytes })
    }

    /// Zeros that belong to this process.
    pub(crate) fn anonymous(bytes: usize) -> io::Result<Self> {
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        Ok(Self { start, bytes })
    }

    pub(crate) fn address(&self) -> u64 {
        self.start as u64
    }

    /// The address of `size` bytes at `at`, which must be a multiple of `size`; `None` outside.
    fn place(&self, at: usize, size: usize) -> Option<*mut u8> {
        let end = at.checked_add(size)?;
        if end > self.bytes || !at.is_multiple_of(size) {
            return None;
        }
        Some(self.start.cast::<u8>().wrapping_add(at))
    }

    fn u8_at(&self, at: usize) -> Option<&AtomicU8> {
        let place = self.place(at, 1)?;
        // SAFETY: inside the mapping, which outlives the reference.
        Some(unsafe { AtomicU8::from_ptr(place) })
    }

    fn u16_at(&self, at: usize) -> Option<&AtomicU16> {
        let place = self.place(at, 2)?;
        // SAFETY: inside the mapping, which outlives the reference, and aligned (the mapping is to a page).
        Some(unsafe { AtomicU16::from_ptr(place.cast()) })
    }

    pub(crate) fn u32_at(&self, at: usize) -> Option<&AtomicU32> {
        let place = self.place(at, 4)?;
        // SAFETY: inside the mapping, which outlives the reference, and aligned (the mapping is to a page).
        Some(unsafe { AtomicU32::from_ptr(place.cast()) })
    }

    pub(crate) fn u64_at(&self, at: usize) -> Option<&AtomicU64> {
        let place = self.place(at, 8)?;
        // SAFETY: inside the mapping, which outlives the reference, and aligned (the mapping is to a page).
        Some(unsafe { AtomicU64::from_ptr(place.cast()) })
    }

    /// Adds one to the 64-bit number at `at`; gives what was there, 0 outside.
    pub(crate) fn add_one(&self, at: usize) -> u64 {
        self.u64_at(at)
            .map_or(0, |number| number.fetch_add(1, Ordering::Relaxed))
    }

    /// One aligned number of 1, 2, 4 or 8 bytes in one step; `None` outside or unaligned.
    #[inline]
    pub(crate) fn load(&self, at: usize, size: usize) -> Option<u64> {
        Some(match size {
            1 => u64::from(self.u8_at(at)?.load(Ordering::Acquire)),
            2 => u64::from(self.u16_at(at)?.load(Ordering::Acquire)),
            4 => u64::from(self.u32_at(at)?.load(Ordering::Acquire)),
            8 => self.u64_at(at)?.load(Ordering::Acquire),
            _ => return None,
        })
    }

    /// The counterpart of [`Mapping::load`].
    #[inline]
    pub(crate) fn store(&self, at: usize, size: usize, value: u64) -> Option<()> {
        match size {
            1 => self.u8_at(at)?.store(value as u8, Ordering::Release),
            2 => self.u16_at(at)?.store(value as u16, Ordering::Release),
            4 => self.u32_at(at)?.store(value as u32, Ordering::Release),
            8 => self.u64_at(at)?.store(value, Ordering::Release),
            _ => return None,
        }
        Some(())
    }

    /// Copies bytes out, by words where it can; `None` outside.
    pub(crate) fn read(&self, at: usize, into: &mut [u8]) -> Option<()> {
        let head = head_bytes(at, into.len());
        let (first, rest) = into.split_at_mut(head);
        for (index, byte) in first.iter_mut().enumerate() {
            *byte = self.u8_at(at + index)?.load(Ordering::Relaxed);
        }
        let mut place = at + head;
        let (words, last) = rest.as_chunks_mut::<8>();
        for word in words {
            *word = self.u64_at(place)?.load(Ordering::Relaxed).to_ne_bytes();
            place += 8;
        }
        for byte in last {
            *byte = self.u8_at(place)?.load(Ordering::Relaxed);
            place += 1;
        }
        Some(())
    }

    /// Copies bytes in, by words where it can; `None` outside.
    pub(crate) fn write(&self, at: usize, from: &[u8]) -> Option<()> {
        let (first, rest) = from.split_at(head_bytes(at, from.len()));
        let mut place = at;
        for byte in first {
            self.u8_at(place)?.store(*byte, Ordering::Relaxed);
            place += 1;
        }
        let (words, last) = rest.as_chunks::<8>();
        for word in words {
            self.u64_at(place)?
                .store(u64::from_ne_bytes(*word), Ordering::Relaxed);
            place += 8;
        }
        for byte in last {
            self.u8_at(place)?.store(*byte, Ordering::Relaxed);
            place += 1;
        }
        std::sync::atomic::fence(Ordering::SeqCst);
        Some(())
    }
}

/// Bytes before the first whole word.
fn head_bytes(at: usize, len: usize) -> usize {
    (at.next_multiple_of(8) - at).min(len)
}

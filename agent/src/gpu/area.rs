//! Memory that flows read and write: of a GPU, page-locked, or ordinary memory of this process.

use std::cell::UnsafeCell;
use std::rc::Rc;
use std::time::Duration;

use super::call::CallError;
use super::context::Context;
use super::host_words::HostWords;
use super::memory::{Buffer, Windows};
use super::stream::Stream;

/// Bytes of a ring: larger than a multiprocessor's L1, smaller than any L2, as nvbandwidth's.
pub(crate) const RING_BYTES: usize = 2 << 20;
/// Bytes from one node of a ring to the next: a cache line.
const NODE_BYTES: usize = 128;

/// A stretch of memory at an address that is one for host and GPUs.
#[derive(Clone, Copy)]
pub(crate) struct Area<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) address: u64,
    pub(super) bytes: usize,
}

#[derive(Clone, Copy)]
pub(super) enum Kind<'a> {
    Device(&'a Context),
    Pinned,
    Pageable,
}

impl<'a> Area<'a> {
    pub(crate) fn of_gpu(context: &'a Context, window: Windows<'a>) -> Self {
        Self {
            kind: Kind::Device(context),
            address: window.pointer,
            bytes: window.words * 4,
        }
    }

    /// So many bytes after the first `offset` ones; `None` outside.
    pub(crate) fn part(self, offset: usize, bytes: usize) -> Option<Self> {
        let end = offset.checked_add(bytes)?;
        (end <= self.bytes).then(|| Self {
            address: self.address + offset as u64,
            bytes,
            ..self
        })
    }

    pub(super) fn is_pageable(self) -> bool {
        matches!(self.kind, Kind::Pageable)
    }
}

/// Page-locked host memory, all zeros at first.
pub(crate) struct Pinned {
    words: HostWords,
    bytes: usize,
}

impl Pinned {
    /// Allocates it in this context; every other one can use it too.
    pub(crate) fn allocate(context: &Rc<Context>, bytes: usize) -> Result<Self, CallError> {
        let words = HostWords::allocate(context, bytes / 4)?;
        Ok(Self { words, bytes })
    }

    pub(crate) fn area(&self) -> Area<'_> {
        Area {
            kind: Kind::Pinned,
            address: self.words.pointer as u64,
            bytes: self.bytes,
        }
    }
}

/// Ordinary host memory, touched. Nobody reads it but copies, so it is kept as raw memory.
pub(crate) struct Pageable {
    memory: Box<[UnsafeCell<u8>]>,
}

impl Pageable {
    /// Takes it and touches every page: untouched pages are all the same page of zeros.
    pub(crate) fn allocate(bytes: usize) -> Self {
        let memory = (0..bytes).map(|_| UnsafeCell::new(1)).collect();
        Self { memory }
    }

    pub(crate) fn area(&self) -> Area<'_> {
        Area {
            kind: Kind::Pageable,
            address: self.memory.as_ptr() as u64,
            bytes: self.memory.len(),
        }
    }
}

/// A ring of pointers, each to the next node, in a GPU's memory or in page-locked host memory.
pub(crate) enum Ring {
    Device(Buffer),
    Host(HostWordsOfRing),
}

pub(crate) struct HostWordsOfRing(HostWords);

impl Ring {
    pub(crate) fn on_gpu(context: &Rc<Context>, stream: &Stream, limit: Duration) -> Result<Self, CallError> {
        let buffer = Buffer::allocate(context, RING_BYTES)?;
        let base = buffer.pointer;
        let window = buffer.window(0, RING_BYTES).ok_or(CallError::Refused {
            call: "cuMemAlloc_v2",
            why: "the ring does not fit into its memory",
        })?;
        stream.upload(window, |word| ring_word(base, word), limit)?;
        Ok(Self::Device(buffer))
    }

    pub(crate) fn on_host(context: &Rc<Context>) -> Result<Self, CallError> {
        let mut words = HostWords::allocate(context, RING_BYTES / 4)?;
        let base = words.pointer as u64;
        words.set(|word| ring_word(base, word));
        Ok(Self::Host(HostWordsOfRing(words)))
    }

    /// Where it begins; it lives as long as this.
    pub(super) fn start(&self) -> u64 {
        match self {
            Self::Device(buffer) => buffer.pointer,
            Self::Host(HostWordsOfRing(words)) => words.pointer as u64,
        }
    }
}

/// A word of the ring's image: each node begins with the address of the next one, the last with that of the first.
fn ring_word(base: u64, word: u64) -> u32 {
    let words = (NODE_BYTES / 4) as u64;
    let nodes = (RING_BYTES / NODE_BYTES) as u64;
    let next = base + (word / words + 1) % nodes * NODE_BYTES as u64;
    let [low, high] = [next & u64::from(u32::MAX), next >> 32].map(|half| u32::try_from(half).unwrap_or(0));
    match word % words {
        0 => low,
        1 => high,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_leads_through_all_nodes_and_back() {
        let base = 0x7f12_3456_0000;
        let (words, nodes) = (NODE_BYTES as u64 / 4, (RING_BYTES / NODE_BYTES) as u64);
        let mut at = base;
        for hop in 0..nodes {
            assert_eq!(at, base + hop * NODE_BYTES as u64);
            let word = (at - base) / NODE_BYTES as u64 * words;
            at = u64::from(ring_word(base, word)) | u64::from(ring_word(base, word + 1)) << 32;
        }
        assert_eq!(at, base);
        assert_eq!(ring_word(base, 2), 0);
    }
}

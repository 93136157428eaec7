//! Memory as a running kernel sees it.

use super::{
    Machine,
    access::{Engine, Reach, corrupt},
    context::Context,
    mapping::Mapping,
    traffic::Traffic,
};
use crate::{
    driver::Code,
    ptx::{Memory, Trap},
    scenario::{Access, Fate},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};

/// Allocations remembered: a kernel rarely works on more.
const REMEMBERED: usize = 4;

pub(crate) struct KernelMemory {
    machine: &'static Machine,
    context: Arc<Context>,
    /// Where the last accesses went, good while nothing changes.
    found: Vec<Reach>,
    /// The index in `found` of the last access.
    last: usize,
    /// [`super::memory::AddressSpace::changes`] when they were found.
    found_at: u64,
    /// Bytes that reach their owner when the kernel ends.
    deferred: BTreeMap<u64, u8>,
    pub(crate) traffic: Traffic,
}

impl KernelMemory {
    pub(crate) fn new(machine: &'static Machine, context: Arc<Context>) -> Self {
        let traffic = Traffic::new(context.gpu, machine.scenario.gpus.len());
        Self {
            machine,
            context,
            traffic,
            found: Vec::new(),
            last: 0,
            found_at: 0,
            deferred: BTreeMap::new(),
        }
    }

    /// Lets the deferred bytes through.
    pub(crate) fn finish(&mut self) -> Result<(), Code> {
        for (address, value) in &self.deferred {
            // Freed in between: as lost as on a real machine.
            let Some((region, offset)) = self.machine.memory.find(*address, 1) else {
                continue;
            };
            region
                .mapping
                .write(offset, &[*value])
                .ok_or(Code::ILLEGAL_ADDRESS)?;
        }
        Ok(())
    }

    /// Finds the region that holds the bytes, sets `last` to its index in `found`, and returns the GPU that owns it, if a GPU does.
    #[inline]
    fn find(&mut self, address: u64, size: usize) -> Result<Option<usize>, Trap> {
        let changes = self.machine.memory.changes();
        if changes != self.found_at {
            self.found.clear();
            self.found_at = changes;
        }
        let holds = |reach: &Reach| reach.region.holds(address, size as u64);
        if !self.found.get(self.last).is_some_and(holds) {
            self.last = match self.found.iter().position(holds) {
                Some(place) => place,
                None => self.look_up(address, size)?,
            };
        }
        let reach = self
            .found
            .get_mut(self.last)
            .ok_or(Trap::IllegalAddress(address))?;
        reach.offset = (address - reach.region.address) as usize;
        Ok(reach.owner())
    }

    /// Adds what holds the bytes to `found`, in place of the oldest if there are enough, and gives its place there.
    #[cold]
    fn look_up(&mut self, address: u64, size: usize) -> Result<usize, Trap> {
        let reach = self
            .machine
            .reach(&self.context, Engine::Sm, address, size as u64);
        if self.found.len() >= REMEMBERED {
            self.found.remove(0);
        }
        self.found.push(reach.map_err(|_| Trap::IllegalAddress(address))?);
        Ok(self.found.len() - 1)
    }

    /// What [`KernelMemory::find`] has found, and what becomes of an access to it.
    fn fate(&self, address: u64, access: Access) -> Result<(&Reach, Fate), Trap> {
        let reach = self.found.get(self.last).ok_or(Trap::IllegalAddress(address))?;
        if access != Access::Load {
            reach
                .demand_writable()
                .map_err(|_| Trap::IllegalAddress(address))?;
        }
        Ok((reach, self.machine.fate(reach, access)))
    }

    fn with<T>(
        &self,
        reach: &Reach,
        fate: Fate,
        body: impl FnOnce(&Mapping) -> Option<T>,
    ) -> Result<T, Trap> {
        let trap = Trap::IllegalAddress(reach.region.address + reach.offset as u64);
        let mirror = self.machine.mirror_for(reach, fate).map_err(|_| trap)?;
        body(mirror.as_deref().unwrap_or(&reach.region.mapping)).ok_or(trap)
    }

    /// What the kernel sees where some of the bytes are its own deferred ones.
    fn overlay(&self, address: u64, size: usize, value: u64) -> u64 {
        let mut bytes = value.to_le_bytes();
        for (at, own) in self.deferred.range(address..address + size as u64) {
            if let Some(byte) = bytes.get_mut((at - address) as usize) {
                *byte = *own;
            }
        }
        u64::from_le_bytes(bytes)
    }

    fn defer(&mut self, address: u64, size: usize, value: u64) {
        self.deferred
            .extend((address..).zip(value.to_le_bytes()).take(size));
    }
}

/// The number with the bits flipped that the fate flips.
fn corrupted(fate: Fate, reach: &Reach, size: usize, value: u64) -> u64 {
    let mut bytes = value.to_le_bytes();
    if let Some(used) = bytes.get_mut(..size) {
        corrupt(fate, reach, reach.offset, used);
    }
    u64::from_le_bytes(bytes)
}

impl Memory for KernelMemory {
    fn begin(&mut self, thread: usize) {
        self.traffic.begin(thread);
    }

    fn turn_of(&mut self, thread: usize) {
        self.traffic.turn_of(thread);
    }

    fn load(&mut self, address: u64, size: usize) -> Result<u64, Trap> {
        let owner = self.find(address, size)?;
        self.traffic.load(owner, address, size);
        let (reach, fate) = self.fate(address, Access::Load)?;
        if fate == Fate::Dropped {
            return Ok(0);
        }
        let value = self.with(reach, fate, |memory| memory.load(reach.offset, size))?;
        let value = corrupted(fate, reach, size, value);
        Ok(if self.deferred.is_empty() {
            value
        } else {
            self.overlay(address, size, value)
        })
    }

    fn store(&mut self, address: u64, size: usize, value: u64) -> Result<(), Trap> {
        let owner = self.find(address, size)?;
        self.traffic.store(owner, size);
        let (reach, fate) = self.fate(address, Access::Store)?;
        match fate {
            Fate::Dropped => Ok(()),
            Fate::AtKernelEnd => {
                self.defer(address, size, value);
                Ok(())
            }
            fate => {
                let value = corrupted(fate, reach, size, value);
                self.with(reach, fate, |memory| memory.store(reach.offset, size, value))
            }
        }
    }

    fn atomic(&mut self, address: u64, size: usize, change: &dyn Fn(u64) -> u64) -> Result<u64, Trap> {
        let owner = self.find(address, size)?;
        self.traffic.load(owner, address, size);
        let (reach, fate) = self.fate(address, Access::Atomic)?;
        match fate {
            Fate::Dropped => Ok(0),
            Fate::AtKernelEnd => {
                let before = self.with(reach, Fate::Through, |memory| memory.load(reach.offset, size))?;
                let before = self.overlay(address, size, before);
                self.defer(address, size, change(before));
                Ok(before)
            }
            fate => {
                let after = |before: u64| corrupted(fate, reach, size, change(before));
                self.with(reach, fate, |memory| exchange(memory, reach.offset, size, &after))
            }
        }
    }
}

/// Replaces a number in one step; gives what was there.
fn exchange(memory: &Mapping, at: usize, size: usize, after: &dyn Fn(u64) -> u64) -> Option<u64> {
    let order = Ordering::SeqCst;
    if size == 4 {
        let word = memory.u32_at(at)?;
        return word
            .fetch_update(order, order, |before| Some(after(before.into()) as u32))
            .ok()
            .map(u64::from);
    }
    memory
        .u64_at(at)?
        .fetch_update(order, order, |before| Some(after(before)))
        .ok()
}

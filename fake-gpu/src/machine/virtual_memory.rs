//! Virtual memory management: physical allocations behind handles, reserved addresses, and what is mapped where.

use super::{
    Machine,
    ledger::{Block, Ledger},
    memory::Origin,
    table::Table,
};
use crate::driver::Code;
use std::{
    collections::BTreeMap,
    os::fd::{BorrowedFd, OwnedFd},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

/// Sizes and addresses are multiples of this: what an H200 answers for minimum and recommendation alike.
pub(crate) const GRANULARITY: u64 = 2 << 20;

#[derive(Default)]
pub(crate) struct VirtualMemory {
    handles: Table<Arc<Physical>>,
    /// Address -> bytes.
    reserved: Mutex<BTreeMap<u64, u64>>,
}

/// A physical allocation; freed when no handle, no mapping and no descriptor is left, in any process.
pub(crate) struct Physical {
    pub(crate) block: Block,
    /// From another process's descriptor.
    pub(crate) imported: bool,
    exportable: bool,
    ledger: &'static Ledger,
}

impl Drop for Physical {
    fn drop(&mut self) {
        self.ledger.give_back(self.block.id);
    }
}

impl Machine {
    /// `cuMemCreate` on the GPU at `place`.
    pub(crate) fn create_physical(
        &'static self,
        place: usize,
        bytes: u64,
        exportable: bool,
    ) -> Result<usize, Code> {
        let gpu = self.gpu(place).ok_or(Code::INVALID_DEVICE)?;
        let block = self
            .ledger
            .take(place, bytes, gpu.memory_bytes, gpu.listed_bytes())?;
        Ok(self.keep_physical(block, false, exportable))
    }

    fn keep_physical(&'static self, block: Block, imported: bool, exportable: bool) -> usize {
        self.virtual_memory.handles.add(Arc::new(Physical {
            block,
            imported,
            exportable,
            ledger: &self.ledger,
        }))
    }

    /// `cuMemRelease`: what is mapped stays.
    pub(crate) fn release_physical(&self, handle: usize) -> Result<(), Code> {
        let removed = self.virtual_memory.handles.remove(handle);
        removed.map(|_| ()).ok_or(Code::INVALID_VALUE)
    }

    /// A descriptor that another process can import.
    pub(crate) fn export(&self, handle: usize) -> Result<OwnedFd, Code> {
        let physical = self.physical(handle)?;
        if !physical.exportable {
            return Err(Code::INVALID_VALUE);
        }
        self.ledger.descriptor(physical.block.id)
    }

    /// A handle of the memory that a descriptor names, whoever exported it. Error 999 for a file of another kind.
    pub(crate) fn import(&'static self, descriptor: i32) -> Result<usize, Code> {
        if descriptor < 0 {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: only looked at during this call; one that is not open is refused by the kernel.
        let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
        rustix::fs::fstat(borrowed).map_err(|_| Code::INVALID_VALUE)?;
        let file =
            std::fs::read_link(format!("/proc/self/fd/{descriptor}")).map_err(|_| Code::INVALID_VALUE)?;
        let id = self.ledger.id_of(&file).ok_or(Code::UNKNOWN)?;
        let block = self.ledger.share(id)?.ok_or(Code::INVALID_VALUE)?;
        let imported = !Ledger::is_own(&block);
        Ok(self.keep_physical(block, imported, true))
    }

    fn physical(&self, handle: usize) -> Result<Arc<Physical>, Code> {
        self.virtual_memory.handles.get(handle).ok_or(Code::INVALID_VALUE)
    }

    fn reserved(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, u64>> {
        self.virtual_memory
            .reserved
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// `cuMemAddressReserve` where the caller has no wish.
    pub(crate) fn reserve(&self, bytes: u64, align: u64) -> u64 {
        let address = self.memory.new_address(bytes, align);
        self.reserved().insert(address, bytes);
        address
    }

    /// `cuMemAddressFree`: only a whole reservation, with nothing mapped in it.
    pub(crate) fn free_reservation(&self, address: u64, bytes: u64) -> Result<(), Code> {
        let mut reserved = self.reserved();
        if reserved.get(&address) != Some(&bytes) || !self.memory.beginning_in(address, bytes).is_empty() {
            return Err(Code::INVALID_VALUE);
        }
        reserved.remove(&address);
        Ok(())
    }

    /// `cuMemMap` of the beginning of an allocation, at reserved addresses where nothing is mapped.
    pub(crate) fn map(&self, address: u64, bytes: u64, handle: usize) -> Result<(), Code> {
        let physical = self.physical(handle)?;
        if bytes > physical.block.bytes {
            return Err(Code::NOT_SUPPORTED);
        }
        let reserved = self.reserved();
        if !within(&reserved, address, bytes) || !self.is_unmapped(address, bytes) {
            return Err(Code::INVALID_VALUE);
        }
        let mut block = physical.block.clone();
        block.bytes = bytes;
        let origin = Origin::Mapped {
            rights: RwLock::default(),
            physical,
        };
        self.map_block_at(address, None, block, origin).map(|_| ())
    }

    fn is_unmapped(&self, address: u64, bytes: u64) -> bool {
        self.memory.beginning_in(address, bytes).is_empty() && self.memory.find(address, 1).is_none()
    }

    /// Mappings that fill these addresses without a gap.
    fn mappings(&self, address: u64, bytes: u64) -> Result<Vec<u64>, Code> {
        let found = self.memory.beginning_in(address, bytes);
        let mut next = address;
        for region in &found {
            let mapped = region
                .device
                .as_ref()
                .is_some_and(|device| matches!(device.origin, Origin::Mapped { .. }));
            if region.address != next || !mapped {
                return Err(Code::INVALID_VALUE);
            }
            next += region.bytes;
        }
        if next == address || next != address.wrapping_add(bytes) {
            return Err(Code::INVALID_VALUE);
        }
        Ok(found.iter().map(|region| region.address).collect())
    }

    /// `cuMemSetAccess` for one GPU: no right, reading, or writing too.
    pub(crate) fn set_access(
        &self,
        address: u64,
        bytes: u64,
        place: usize,
        right: Option<bool>,
    ) -> Result<(), Code> {
        for start in self.mappings(address, bytes)? {
            let region = self.memory.beginning_at(start).ok_or(Code::INVALID_VALUE)?;
            let device = region.device.as_ref().ok_or(Code::INVALID_VALUE)?;
            let Origin::Mapped { rights, .. } = &device.origin else {
                return Err(Code::INVALID_VALUE);
            };
            let owner = device.block.gpu;
            if right.is_some() && place != owner && !self.scenario.pairs.can_access(place, owner) {
                return Err(Code::INVALID_DEVICE);
            }
            let mut rights = rights.write().unwrap_or_else(PoisonError::into_inner);
            match right {
                Some(right) => rights.insert(place, right),
                None => rights.remove(&place),
            };
        }
        self.memory.note_change();
        Ok(())
    }

    /// `cuMemUnmap` of whole mappings, after what their users have queued. Reserved addresses without mapping are no error.
    pub(crate) fn unmap(&self, address: u64, bytes: u64) -> Result<(), Code> {
        if self.is_unmapped(address, bytes) && within(&self.reserved(), address, bytes) {
            return Ok(());
        }
        for start in self.mappings(address, bytes)? {
            if let Some(region) = self.memory.beginning_at(start) {
                self.finish_users(&region);
                self.release(start);
            }
        }
        Ok(())
    }
}

/// Whether these addresses lie in one reservation.
fn within(reserved: &BTreeMap<u64, u64>, address: u64, bytes: u64) -> bool {
    let before = reserved.range(..=address).next_back();
    before.is_some_and(|(start, room)| {
        let end = (address - start).checked_add(bytes);
        end.is_some_and(|end| end <= *room)
    })
}

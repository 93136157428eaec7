//! The address space of this process: device memory at made-up addresses, pinned host memory at its real ones.

use super::{
    Machine,
    ledger::{Block, Ledger},
    mapping::Mapping,
    virtual_memory::Physical,
};
use crate::driver::Code;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// First device address: no address of user memory, so that a program that follows one is stopped at once.
const FIRST_ADDRESS: u64 = 0x0020_0000_0000_0000;
/// Allocations begin at multiples of this and are that far apart at least, so that running over an end is seen.
const ADDRESS_GRANULE: u64 = 2 << 20;

#[derive(Default)]
pub(crate) struct AddressSpace {
    regions: RwLock<BTreeMap<u64, Arc<Region>>>,
    used: AtomicU64,
    /// Changes with every change of the space or of anybody's rights, so that a kernel knows when to look again.
    changes: AtomicU64,
}

/// One allocation as this process sees it.
pub(crate) struct Region {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// Ordinal of the context it goes with; mapped memory goes with none.
    pub(crate) context: Option<usize>,
    pub(crate) mapping: Mapping,
    /// `None` for host memory.
    pub(crate) device: Option<DeviceMemory>,
}

pub(crate) struct DeviceMemory {
    pub(crate) block: Block,
    pub(crate) origin: Origin,
    mirrors: Mutex<HashMap<usize, Arc<Mapping>>>,
}

/// Where device memory comes from, which decides who may reach it. GPUs are places in the scenario.
pub(crate) enum Origin {
    /// `cuMemAlloc`: its GPU, and those that have enabled peer access.
    Own,
    /// A legacy handle of another process: the GPU that opened it, so many times.
    Opened { gpu: usize, times: AtomicU64 },
    /// `cuMemMap`: those that `cuMemSetAccess` names, and no other.
    Mapped {
        rights: Rights,
        /// Kept for as long as it is mapped.
        physical: Arc<Physical>,
    },
}

/// What `cuMemSetAccess` grants: GPU -> whether it may write too.
pub(crate) type Rights = RwLock<BTreeMap<usize, bool>>;

impl Origin {
    /// Whether another process took the memory.
    pub(crate) fn is_foreign(&self) -> bool {
        match self {
            Self::Own => false,
            Self::Opened { .. } => true,
            Self::Mapped { physical, .. } => physical.imported,
        }
    }
}

impl AddressSpace {
    /// The region that holds all of these bytes, and where in it they begin.
    pub(crate) fn find(&self, address: u64, bytes: u64) -> Option<(Arc<Region>, usize)> {
        let regions = self.regions.read().unwrap_or_else(PoisonError::into_inner);
        let (_, region) = regions.range(..=address).next_back()?;
        region
            .holds(address, bytes)
            .then(|| (Arc::clone(region), (address - region.address) as usize))
    }

    pub(crate) fn beginning_at(&self, address: u64) -> Option<Arc<Region>> {
        self.regions
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&address)
            .cloned()
    }

    pub(crate) fn beginning_in(&self, address: u64, bytes: u64) -> Vec<Arc<Region>> {
        let regions = self.regions.read().unwrap_or_else(PoisonError::into_inner);
        let range = regions.range(address..address.saturating_add(bytes));
        range.map(|(_, region)| Arc::clone(region)).collect()
    }

    /// Memory that a context has already opened from this block.
    pub(crate) fn imported(&self, context: usize, block: u64) -> Option<Arc<Region>> {
        let regions = self.regions.read().unwrap_or_else(PoisonError::into_inner);
        let fits = |region: &&Arc<Region>| {
            let opened = |device: &DeviceMemory| {
                matches!(device.origin, Origin::Opened { .. }) && device.block.id == block
            };
            region.context == Some(context) && region.device.as_ref().is_some_and(opened)
        };
        regions.values().find(fits).cloned()
    }

    /// A number that differs after every change.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Says that somebody's rights have changed.
    pub(crate) fn note_change(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    fn add(&self, region: Region) -> u64 {
        let address = region.address;
        self.regions
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(address, Arc::new(region));
        self.note_change();
        address
    }

    fn remove(&self, address: u64) -> Option<Arc<Region>> {
        let region = self
            .regions
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&address);
        self.note_change();
        region
    }

    /// Addresses that nothing has had before, at a multiple of `align` (a power of two).
    pub(crate) fn new_address(&self, bytes: u64, align: u64) -> u64 {
        let align = align.max(ADDRESS_GRANULE);
        let span = bytes.next_multiple_of(ADDRESS_GRANULE) + align;
        (FIRST_ADDRESS + self.used.fetch_add(span, Ordering::Relaxed)).next_multiple_of(align)
    }
}

impl Region {
    pub(crate) fn holds(&self, address: u64, bytes: u64) -> bool {
        let offset = address.checked_sub(self.address);
        offset
            .and_then(|offset| offset.checked_add(bytes))
            .is_some_and(|end| end <= self.bytes)
    }
}

impl Machine {
    /// `cuMemAlloc` for the context of `ordinal` on the GPU at `place`.
    pub(crate) fn allocate(&self, ordinal: usize, place: usize, bytes: u64) -> Result<u64, Code> {
        let gpu = self.gpu(place).ok_or(Code::INVALID_DEVICE)?;
        let block = self
            .ledger
            .take(place, bytes, gpu.memory_bytes, gpu.listed_bytes())?;
        self.map_block(Some(ordinal), block, Origin::Own)
    }

    /// Maps a block of this or another process at a new address.
    pub(crate) fn map_block(
        &self,
        context: Option<usize>,
        block: Block,
        origin: Origin,
    ) -> Result<u64, Code> {
        let address = self.memory.new_address(block.bytes, ADDRESS_GRANULE);
        self.map_block_at(address, context, block, origin)
    }

    /// Maps a block at an address where nothing is.
    pub(crate) fn map_block_at(
        &self,
        address: u64,
        context: Option<usize>,
        block: Block,
        origin: Origin,
    ) -> Result<u64, Code> {
        let bytes = block.bytes;
        let length = bytes.next_multiple_of(8) as usize;
        let mapping = Mapping::of_file(&self.ledger.file(block.id), length).map_err(|_| Code::MAP_FAILED)?;
        let device = Some(DeviceMemory {
            block,
            origin,
            mirrors: Mutex::default(),
        });
        Ok(self.memory.add(Region {
            address,
            bytes,
            context,
            mapping,
            device,
        }))
    }

    /// `cuMemHostAlloc`: the device address is the host's.
    pub(crate) fn allocate_host(&self, ordinal: usize, bytes: u64) -> Result<u64, Code> {
        let mapping =
            Mapping::anonymous((bytes as usize).next_multiple_of(8)).map_err(|_| Code::OUT_OF_MEMORY)?;
        let address = mapping.address();
        Ok(self.memory.add(Region {
            address,
            bytes,
            context: Some(ordinal),
            mapping,
            device: None,
        }))
    }

    /// Unmaps what begins here; what `cuMemAlloc` took goes back to the GPU.
    pub(crate) fn release(&self, address: u64) {
        let Some(region) = self.memory.remove(address) else {
            return;
        };
        if let Some(device) = region.device.as_ref()
            && matches!(device.origin, Origin::Own)
        {
            self.ledger.give_back(device.block.id);
        }
    }

    /// Freeing waits for what its context has queued, as the driver does; mapped memory goes with every context.
    pub(crate) fn finish_users(&self, region: &Region) {
        let ordinals = match region.context {
            Some(ordinal) => ordinal..ordinal + 1,
            None => 0..self.devices.len(),
        };
        for context in ordinals.filter_map(|ordinal| self.contexts.active(ordinal)) {
            self.drain(&context);
        }
    }

    pub(crate) fn release_all(&self, ordinal: usize) {
        let regions = self.memory.regions.read().unwrap_or_else(PoisonError::into_inner);
        let own: Vec<u64> = regions
            .values()
            .filter(|r| r.context == Some(ordinal))
            .map(|r| r.address)
            .collect();
        drop(regions);
        for address in own {
            self.release(address);
        }
    }
}

impl DeviceMemory {
    /// What `initiator` works on where a fault keeps its accesses from the owner: zeros at first, shared by that GPU's programs.
    pub(crate) fn mirror(&self, ledger: &Ledger, initiator: usize) -> Option<Arc<Mapping>> {
        let mut mirrors = self.mirrors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mirror) = mirrors.get(&initiator) {
            return Some(Arc::clone(mirror));
        }
        let length = self.block.bytes.next_multiple_of(8);
        let path = ledger.mirror(self.block.id, initiator);
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .ok()?;
        file.set_len(length).ok()?;
        let mirror = Arc::new(Mapping::of_file(&path, length as usize).ok()?);
        mirrors.insert(initiator, Arc::clone(&mirror));
        Some(mirror)
    }
}

//! The address space of this process: device memory at made-up addresses, pinned host memory at its real ones.

use super::{Machine, ledger::Block, ledger::Ledger, mapping::Mapping};
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

/// What is where.
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
    /// Ordinal of the context it goes with.
    pub(crate) context: usize,
    pub(crate) mapping: Mapping,
    /// `None` for host memory.
    pub(crate) device: Option<DeviceMemory>,
}

/// What only device memory has.
pub(crate) struct DeviceMemory {
    pub(crate) block: Block,
    /// The GPU (its place in the scenario) that opened it from a handle of another process, and how often.
    pub(crate) import: Option<Import>,
    mirrors: Mutex<HashMap<usize, Arc<Mapping>>>,
}

/// Memory of another process.
pub(crate) struct Import {
    pub(crate) gpu: usize,
    pub(crate) opened: AtomicU64,
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

    /// The region that begins here.
    pub(crate) fn beginning_at(&self, address: u64) -> Option<Arc<Region>> {
        self.regions
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&address)
            .cloned()
    }

    /// Memory that a context has already opened from this block.
    pub(crate) fn imported(&self, context: usize, block: u64) -> Option<Arc<Region>> {
        let regions = self.regions.read().unwrap_or_else(PoisonError::into_inner);
        let fits = |region: &&Arc<Region>| {
            let device = region.device.as_ref();
            region.context == context && device.is_some_and(|d| d.import.is_some() && d.block.id == block)
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

    /// Takes away the region that begins here.
    fn remove(&self, address: u64) -> Option<Arc<Region>> {
        let region = self
            .regions
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&address);
        self.note_change();
        region
    }

    fn new_address(&self, bytes: u64) -> u64 {
        let span = bytes.next_multiple_of(ADDRESS_GRANULE) + ADDRESS_GRANULE;
        FIRST_ADDRESS + self.used.fetch_add(span, Ordering::Relaxed)
    }
}

impl Region {
    /// Whether all of these bytes are in it.
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
        self.map_block(ordinal, block, None)
    }

    /// Maps a block of this or another process.
    pub(crate) fn map_block(
        &self,
        ordinal: usize,
        block: Block,
        import: Option<Import>,
    ) -> Result<u64, Code> {
        let length = block.bytes.next_multiple_of(8) as usize;
        let mapping = Mapping::of_file(&self.ledger.file(block.id), length).map_err(|_| Code::MAP_FAILED)?;
        let (address, bytes) = (self.memory.new_address(block.bytes), block.bytes);
        let device = Some(DeviceMemory {
            block,
            import,
            mirrors: Mutex::default(),
        });
        Ok(self.memory.add(Region {
            address,
            bytes,
            context: ordinal,
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
            context: ordinal,
            mapping,
            device: None,
        }))
    }

    /// Unmaps what begins here and, unless it is another process's, gives it back to the GPU.
    pub(crate) fn release(&self, address: u64) {
        let Some(region) = self.memory.remove(address) else {
            return;
        };
        if let Some(device) = region.device.as_ref().filter(|device| device.import.is_none()) {
            self.ledger.give_back(device.block.id);
        }
    }

    /// Releases all that goes with a context.
    pub(crate) fn release_all(&self, ordinal: usize) {
        let regions = self.memory.regions.read().unwrap_or_else(PoisonError::into_inner);
        let own: Vec<u64> = regions
            .values()
            .filter(|r| r.context == ordinal)
            .map(|r| r.address)
            .collect();
        drop(regions);
        for address in own {
            self.release(address);
        }
    }
}

impl DeviceMemory {
    /// What `initiator` works on where a fault keeps its accesses from the owner: zeros at first, shared by all of
    /// that GPU's programs.
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

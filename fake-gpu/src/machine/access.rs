//! Every access of a GPU to memory goes through here: who may reach what, and what becomes of it.

use super::{
    Machine,
    context::Context,
    mapping::Mapping,
    memory::{DeviceMemory, Origin, Region},
    time::Path,
};
use crate::{
    driver::Code,
    scenario::{Access, Fate, MemoryFault, Route},
};
use std::{
    ops::Range,
    sync::{Arc, PoisonError},
};

/// Bytes that an initiator may reach, and how.
pub(crate) struct Reach {
    pub(crate) region: Arc<Region>,
    pub(crate) offset: usize,
    initiator: usize,
    /// What issues the access, and once more or [`Route::Ipc`].
    routes: [Route; 2],
    /// Straight to the memory. A GPU copy without peer access goes through the host, where no fault of the direct path meets it.
    direct: bool,
    /// False where the initiator was granted reading alone.
    writable: bool,
    /// Whether the scenario has a fault for any access to any part of the region.
    faulty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Copy,
    Sm,
}

/// What a context may do with device memory: `None` for nothing, else whether it may write.
fn rights_of(device: &DeviceMemory, context: &Context) -> Option<bool> {
    let owner = device.block.gpu;
    let by_peer_access = owner == context.gpu || context.has_peer(owner);
    match &device.origin {
        Origin::Own => by_peer_access.then_some(true),
        Origin::Opened { gpu, .. } => (by_peer_access || *gpu == context.gpu).then_some(true),
        Origin::Mapped { rights, .. } => rights
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&context.gpu)
            .copied(),
    }
}

/// Whether it is mapped, but nobody may reach it.
fn is_sealed(device: &DeviceMemory) -> bool {
    match &device.origin {
        Origin::Mapped { rights, .. } => rights.read().unwrap_or_else(PoisonError::into_inner).is_empty(),
        Origin::Own | Origin::Opened { .. } => false,
    }
}

impl Machine {
    /// Finds `bytes` at `address` for a context. Error 700 where there is nothing, or nothing this engine may reach.
    pub(crate) fn reach(
        &self,
        context: &Context,
        engine: Engine,
        address: u64,
        bytes: u64,
    ) -> Result<Reach, Code> {
        let (region, offset) = self.memory.find(address, bytes).ok_or(Code::ILLEGAL_ADDRESS)?;
        let route = match engine {
            Engine::Copy => Route::CopyEngine,
            Engine::Sm => Route::Sm,
        };
        let device = region.device.as_ref();
        let foreign = device.is_some_and(|device| device.origin.is_foreign());
        let routes = [route, if foreign { Route::Ipc } else { route }];
        let rights = device.map_or(Some(true), |device| rights_of(device, context));
        // A copy engine without a right goes through the host; mapped memory that nobody has a right to cannot be reached.
        if rights.is_none() && (engine == Engine::Sm || device.is_some_and(is_sealed)) {
            return Err(Code::ILLEGAL_ADDRESS);
        }
        let mut reach = Reach {
            region,
            offset,
            initiator: context.gpu,
            routes,
            direct: rights.is_some(),
            writable: rights != Some(false),
            faulty: false,
        };
        reach.faulty = [Access::Load, Access::Store, Access::Atomic]
            .into_iter()
            .any(|access| self.faults(&reach, access).next().is_some());
        Ok(reach)
    }

    fn faults<'a>(&'a self, reach: &Reach, access: Access) -> impl Iterator<Item = &'a MemoryFault> {
        let (initiator, routes) = (reach.initiator, reach.routes);
        let owner = reach
            .region
            .device
            .as_ref()
            .filter(|_| reach.direct)
            .map(|device| device.block.gpu);
        let fits =
            move |fault: &&MemoryFault| owner.is_some_and(|gpu| fault.fits(initiator, gpu, &routes, access));
        self.scenario.memory_faults.iter().filter(fits)
    }

    /// What becomes of an access to one number.
    #[inline]
    pub(crate) fn fate(&self, reach: &Reach, access: Access) -> Fate {
        if !reach.faulty {
            return Fate::Through;
        }
        let place = reach.physical(reach.offset);
        self.faults(reach, access)
            .find(|fault| fault.covers(place))
            .map_or(Fate::Through, |fault| fault.fate)
    }

    fn fates(&self, reach: &Reach, access: Access, bytes: usize) -> Vec<(Range<usize>, Fate)> {
        let whole = reach.offset..reach.offset + bytes;
        let first = reach.physical(0);
        let ends = self
            .faults(reach, access)
            .filter_map(|fault| fault.range)
            .flat_map(|(from, to)| [from, to]);
        let mut cuts: Vec<usize> = ends.map(|end| end.saturating_sub(first) as usize).collect();
        cuts.retain(|cut| whole.contains(cut));
        cuts.extend([whole.start, whole.end]);
        cuts.sort_unstable();
        cuts.dedup();
        let parts = cuts.iter().zip(cuts.iter().skip(1));
        parts
            .map(|(from, to)| {
                let place = reach.physical(*from);
                let fault = self.faults(reach, access).find(|fault| fault.covers(place));
                (*from..*to, fault.map_or(Fate::Through, |fault| fault.fate))
            })
            .collect()
    }

    pub(crate) fn read(&self, reach: &Reach, into: &mut [u8]) -> Result<(), Code> {
        for (part, fate) in self.fates(reach, Access::Load, into.len()) {
            let bytes = slice_of(into, reach.offset, &part)?;
            if fate == Fate::Dropped {
                bytes.fill(0);
                continue;
            }
            let mirror = self.mirror_for(reach, fate)?;
            let source = mirror.as_deref().unwrap_or(&reach.region.mapping);
            source.read(part.start, bytes).ok_or(Code::ILLEGAL_ADDRESS)?;
            corrupt(fate, reach, part.start, bytes);
        }
        Ok(())
    }

    /// Writes as the initiator does. The bytes are changed where a fault does so on the way.
    pub(crate) fn write(&self, reach: &Reach, from: &mut [u8]) -> Result<(), Code> {
        reach.demand_writable()?;
        for (part, fate) in self.fates(reach, Access::Store, from.len()) {
            if fate == Fate::Dropped {
                continue;
            }
            let bytes = slice_of(from, reach.offset, &part)?;
            corrupt(fate, reach, part.start, bytes);
            let mirror = self.mirror_for(reach, fate)?;
            let target = mirror.as_deref().unwrap_or(&reach.region.mapping);
            target.write(part.start, bytes).ok_or(Code::ILLEGAL_ADDRESS)?;
        }
        Ok(())
    }

    /// The private memory of this fate, `None` for the others.
    pub(crate) fn mirror_for(&self, reach: &Reach, fate: Fate) -> Result<Option<Arc<Mapping>>, Code> {
        if fate != Fate::PrivateMirror {
            return Ok(None);
        }
        let device = reach.region.device.as_ref().ok_or(Code::ILLEGAL_ADDRESS)?;
        device
            .mirror(&self.ledger, reach.initiator)
            .map(Some)
            .ok_or(Code::UNKNOWN)
    }
}

impl Reach {
    /// Error 700 where the initiator may only read.
    pub(crate) fn demand_writable(&self) -> Result<(), Code> {
        if self.writable {
            Ok(())
        } else {
            Err(Code::ILLEGAL_ADDRESS)
        }
    }

    /// The GPU whose memory it is; `None` for the host's.
    pub(crate) fn owner(&self) -> Option<usize> {
        self.region.device.as_ref().map(|device| device.block.gpu)
    }

    pub(crate) fn path(from: &Self, to: &Self) -> Path {
        match (from.owner(), to.owner()) {
            (None, None) => Path::Host,
            (None, Some(gpu)) => Path::ToDevice(gpu),
            (Some(gpu), None) => Path::ToHost(gpu),
            (Some(from), Some(to)) if from == to => Path::Local(to),
            (Some(gpu), Some(other)) if from.direct && to.direct => Path::Direct { from: gpu, to: other },
            (Some(from), Some(to)) => Path::Staged { from, to },
        }
    }

    pub(crate) fn path_of_stores(&self) -> Path {
        match self.owner() {
            None => Path::ToHost(self.initiator),
            Some(gpu) if gpu == self.initiator => Path::Local(gpu),
            Some(to) if self.direct => Path::Direct {
                from: self.initiator,
                to,
            },
            Some(gpu) => Path::ToDevice(gpu),
        }
    }

    /// Where a byte of the region lies in its owner's memory.
    fn physical(&self, at: usize) -> u64 {
        self.region
            .device
            .as_ref()
            .map_or(0, |device| device.block.physical)
            + at as u64
    }
}

/// Flips bits of bytes that lie at `at` of the region, where the fate says so.
pub(crate) fn corrupt(fate: Fate, reach: &Reach, at: usize, bytes: &mut [u8]) {
    let Fate::Corrupted {
        xor,
        every,
        at: first,
    } = fate
    else {
        return;
    };
    let physical = reach
        .region
        .device
        .as_ref()
        .map_or(0, |device| device.block.physical)
        + at as u64;
    for (place, byte) in (physical..).zip(bytes.iter_mut()) {
        if place
            .checked_sub(first)
            .is_some_and(|distance| distance.is_multiple_of(every.max(1)))
        {
            *byte ^= xor;
        }
    }
}

/// The bytes of a transfer, which begins at `start` of the region, that a part of the region stands for.
fn slice_of<'a>(bytes: &'a mut [u8], start: usize, part: &Range<usize>) -> Result<&'a mut [u8], Code> {
    bytes
        .get_mut(part.start - start..part.end - start)
        .ok_or(Code::UNKNOWN)
}

//! Virtual memory management: allocations without addresses, addresses without memory, handing them to processes.

use super::{Code, device};
use crate::{
    ffi::Out,
    gate::after_init,
    machine::{Machine, virtual_memory::GRANULARITY},
};
use std::{
    ffi::{c_int, c_ulonglong},
    os::fd::IntoRawFd,
};

/// `CUmemLocation`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Location {
    kind: c_int,
    id: c_int,
}

/// `CUmemAllocationProp`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Properties {
    kind: c_int,
    handle_types: c_int,
    location: Location,
    windows: usize,
    flags: [u8; 8],
}

/// `CUmemAccessDesc`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Access {
    location: Location,
    flags: c_int,
}

/// `CU_MEM_ALLOCATION_TYPE_PINNED`.
const PINNED: c_int = 1;
/// `CU_MEM_LOCATION_TYPE_DEVICE`.
const DEVICE: c_int = 1;
/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
const DESCRIPTOR: c_int = 1;
/// `CU_MEM_ALLOC_GRANULARITY_RECOMMENDED`; the minimum is 0.
const RECOMMENDED: c_int = 1;
/// `CUmemAccess_flags`.
const NO_ACCESS: c_int = 0;
const READ: c_int = 1;
const READ_WRITE: c_int = 3;

/// The place in the scenario of a device that a location names.
fn place_of(machine: &Machine, location: Location) -> Result<usize, Code> {
    if location.kind != DEVICE {
        return Err(Code::INVALID_VALUE);
    }
    device::place(machine, location.id)
}

/// The place for an allocation with these properties, and whether it can be exported.
fn wanted(machine: &Machine, properties: &Out<Properties>) -> Result<(usize, bool), Code> {
    let properties = properties.get()?;
    if properties.kind != PINNED {
        return Err(Code::INVALID_VALUE);
    }
    let place = place_of(machine, properties.location)?;
    match properties.handle_types {
        0 => Ok((place, false)),
        DESCRIPTOR => Ok((place, true)),
        _ => Err(Code::NOT_SUPPORTED),
    }
}

/// Refuses a size or address that is no multiple of the granularity.
fn demand_multiple(number: u64) -> Result<(), Code> {
    if number.is_multiple_of(GRANULARITY) {
        Ok(())
    } else {
        Err(Code::INVALID_VALUE)
    }
}

fn demand_size(bytes: usize) -> Result<u64, Code> {
    let bytes = bytes as u64;
    if bytes == 0 {
        return Err(Code::INVALID_VALUE);
    }
    demand_multiple(bytes)?;
    Ok(bytes)
}

#[unsafe(no_mangle)]
extern "C" fn cuMemGetAllocationGranularity(
    granularity: Out<usize>,
    properties: Out<Properties>,
    option: c_int,
) -> c_int {
    after_init("cuMemGetAllocationGranularity", |machine| {
        wanted(machine, &properties)?;
        if !(0..=RECOMMENDED).contains(&option) {
            return Err(Code::INVALID_VALUE);
        }
        Ok(granularity.put(GRANULARITY as usize)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemCreate(
    handle: Out<u64>,
    bytes: usize,
    properties: Out<Properties>,
    flags: c_ulonglong,
) -> c_int {
    after_init("cuMemCreate", |machine| {
        let bytes = demand_size(bytes)?;
        if handle.is_null() || flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let (place, exportable) = wanted(machine, &properties)?;
        Ok(handle.put(machine.create_physical(place, bytes, exportable)? as u64)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemRelease(handle: u64) -> c_int {
    after_init("cuMemRelease", |machine| {
        machine.release_physical(handle as usize)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemAddressReserve(
    address: Out<u64>,
    bytes: usize,
    align: usize,
    _wish: u64,
    flags: c_ulonglong,
) -> c_int {
    after_init("cuMemAddressReserve", |machine| {
        let bytes = demand_size(bytes)?;
        if address.is_null() || flags != 0 || align != 0 && !align.is_power_of_two() {
            return Err(Code::INVALID_VALUE);
        }
        // A wish is only a hint.
        Ok(address.put(machine.reserve(bytes, align as u64))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemAddressFree(address: u64, bytes: usize) -> c_int {
    after_init("cuMemAddressFree", |machine| {
        machine.free_reservation(address, bytes as u64)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemMap(address: u64, bytes: usize, offset: usize, handle: u64, flags: c_ulonglong) -> c_int {
    after_init("cuMemMap", |machine| {
        let bytes = demand_size(bytes)?;
        demand_multiple(address)?;
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        if offset != 0 {
            return Err(Code::NOT_SUPPORTED);
        }
        machine.map(address, bytes, handle as usize)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemUnmap(address: u64, bytes: usize) -> c_int {
    after_init("cuMemUnmap", |machine| machine.unmap(address, bytes as u64))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemSetAccess(address: u64, bytes: usize, wanted: Out<Access>, count: usize) -> c_int {
    after_init("cuMemSetAccess", |machine| {
        if count == 0 {
            return Err(Code::INVALID_VALUE);
        }
        for index in 0..count {
            let access = wanted.get_at(index)?;
            let right = match access.flags {
                NO_ACCESS => None,
                READ => Some(false),
                READ_WRITE => Some(true),
                _ => return Err(Code::INVALID_VALUE),
            };
            let place = place_of(machine, access.location).map_err(|_| Code::INVALID_VALUE)?;
            machine.set_access(address, bytes as u64, place, right)?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemExportToShareableHandle(
    descriptor: Out<c_int>,
    handle: u64,
    kind: c_int,
    flags: c_ulonglong,
) -> c_int {
    after_init("cuMemExportToShareableHandle", |machine| {
        if descriptor.is_null() || kind != DESCRIPTOR || flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        Ok(descriptor.put(machine.export(handle as usize)?.into_raw_fd())?)
    })
}

/// The descriptor is the pointer's value, so that descriptor 0 is a null pointer; it stays the caller's.
#[unsafe(no_mangle)]
extern "C" fn cuMemImportFromShareableHandle(handle: Out<u64>, descriptor: usize, kind: c_int) -> c_int {
    after_init("cuMemImportFromShareableHandle", |machine| {
        if handle.is_null() || descriptor == 0 || kind != DESCRIPTOR {
            return Err(Code::INVALID_VALUE);
        }
        let descriptor = c_int::try_from(descriptor).map_err(|_| Code::INVALID_VALUE)?;
        Ok(handle.put(machine.import(descriptor)? as u64)?)
    })
}

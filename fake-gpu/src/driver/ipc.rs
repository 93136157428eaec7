//! Memory of other processes, by handle.

use super::Code;
use crate::{
    ffi::Out,
    gate::after_init,
    machine::{
        ledger::Ledger,
        memory::{Origin, Region},
    },
};
use std::{
    ffi::{c_int, c_uint},
    sync::atomic::{AtomicU64, Ordering},
};

/// `CUipcMemHandle`: a mark and the id of a block.
#[derive(Clone, Copy)]
#[repr(C)]
struct Handle {
    bytes: [u8; 64],
}

const MARK: &[u8; 8] = b"FAKEIPC1";
/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`.
const LAZY_PEER_ACCESS: c_uint = 1;

fn handle_of(block: u64) -> Handle {
    let mut handle = Handle { bytes: [0; 64] };
    for (byte, value) in handle
        .bytes
        .iter_mut()
        .zip(MARK.iter().chain(&block.to_le_bytes()))
    {
        *byte = *value;
    }
    handle
}

fn block_of(handle: &Handle) -> Option<u64> {
    let block = handle.bytes.strip_prefix(MARK)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*block))
}

/// How often memory was opened from a handle; `None` for other memory.
fn times_opened(region: &Region) -> Option<&AtomicU64> {
    match &region.device.as_ref()?.origin {
        Origin::Opened { times, .. } => Some(times),
        Origin::Own | Origin::Mapped { .. } => None,
    }
}

#[unsafe(no_mangle)]
extern "C" fn cuIpcGetMemHandle(handle: Out<Handle>, address: u64) -> c_int {
    after_init("cuIpcGetMemHandle", |machine| {
        machine.current()?;
        let (region, _) = machine.memory.find(address, 1).ok_or(Code::INVALID_VALUE)?;
        let device = region
            .device
            .as_ref()
            .filter(|device| matches!(device.origin, Origin::Own));
        Ok(handle.put(handle_of(device.ok_or(Code::INVALID_VALUE)?.block.id))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuIpcOpenMemHandle_v2(address: Out<u64>, handle: Handle, flags: c_uint) -> c_int {
    after_init("cuIpcOpenMemHandle_v2", |machine| {
        let context = machine.current()?;
        if address.is_null() || flags & !LAZY_PEER_ACCESS != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let id = block_of(&handle).ok_or(Code::INVALID_VALUE)?;
        let block = machine.ledger.find(id)?.ok_or(Code::MAP_FAILED)?;
        if Ledger::is_own(&block) {
            return Err(Code::INVALID_CONTEXT);
        }
        if let Some(region) = machine.memory.imported(context.ordinal, id) {
            times_opened(&region)
                .ok_or(Code::UNKNOWN)?
                .fetch_add(1, Ordering::AcqRel);
            return Ok(address.put(region.address)?);
        }
        let other_gpu = block.gpu != context.gpu;
        let may = context.has_peer(block.gpu)
            || flags & LAZY_PEER_ACCESS != 0 && machine.scenario.pairs.can_access(context.gpu, block.gpu);
        if other_gpu && !may {
            return Err(Code::PEER_ACCESS_UNSUPPORTED);
        }
        let origin = Origin::Opened {
            gpu: context.gpu,
            times: AtomicU64::new(1),
        };
        Ok(address.put(machine.map_block(Some(context.ordinal), block, origin)?)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuIpcCloseMemHandle(address: u64) -> c_int {
    after_init("cuIpcCloseMemHandle", |machine| {
        machine.current()?;
        let region = machine.memory.beginning_at(address).ok_or(Code::INVALID_VALUE)?;
        let times = times_opened(&region).ok_or(Code::INVALID_VALUE)?;
        if times.fetch_sub(1, Ordering::AcqRel) == 1 {
            machine.finish_users(&region);
            machine.release(address);
        }
        Ok(())
    })
}

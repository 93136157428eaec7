//! Peer access: what is said about a pair, and enabling it.

use super::{Code, device};
use crate::{
    ffi::Out,
    gate::after_init,
    machine::{Machine, context::Context},
    scenario::entry,
};
use std::{
    ffi::{c_int, c_uint},
    sync::Arc,
};

/// `CUdevice_P2PAttribute` numbers.
const PERFORMANCE_RANK: c_int = 1;
const ACCESS_SUPPORTED: c_int = 2;
const NATIVE_ATOMIC_SUPPORTED: c_int = 3;
const ARRAY_ACCESS_SUPPORTED: c_int = 4;
const ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED: c_int = 5;
/// The first version of CUDA that knows the last one.
const PARTIAL_ATOMICS_SINCE: c_int = 13_000;

/// Places in the scenario of two different devices.
fn pair(machine: &Machine, from: c_int, to: c_int) -> Result<(usize, usize), Code> {
    Ok((device::place(machine, from)?, device::place(machine, to)?))
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceCanAccessPeer(can: Out<c_int>, device: c_int, peer: c_int) -> c_int {
    after_init("cuDeviceCanAccessPeer", |machine| {
        let (from, to) = pair(machine, device, peer)?;
        let granted = from != to && machine.scenario.pairs.can_access(from, to);
        Ok(can.put(c_int::from(granted))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetP2PAttribute(value: Out<c_int>, attribute: c_int, from: c_int, to: c_int) -> c_int {
    after_init("cuDeviceGetP2PAttribute", |machine| {
        let (from, to) = pair(machine, from, to)?;
        if from == to {
            return Err(Code::INVALID_DEVICE);
        }
        let pairs = &machine.scenario.pairs;
        let access = pairs.can_access(from, to);
        let found = match attribute {
            PERFORMANCE_RANK => false,
            ACCESS_SUPPORTED | ARRAY_ACCESS_SUPPORTED => access,
            NATIVE_ATOMIC_SUPPORTED => access && entry(&pairs.atomics, from, to) == Some(0),
            // The stand-in's links carry all atomic operations or none.
            ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED
                if machine.scenario.cuda_version >= PARTIAL_ATOMICS_SINCE =>
            {
                false
            }
            _ => return Err(Code::INVALID_VALUE),
        };
        Ok(value.put(c_int::from(found))?)
    })
}

/// The current context and the one the caller names, which must be another.
fn both(machine: &Machine, peer: usize) -> Result<(Arc<Context>, Arc<Context>), Code> {
    let own = machine.current()?;
    let other = machine.context(peer)?;
    if own.ordinal == other.ordinal {
        Err(Code::INVALID_CONTEXT)
    } else {
        Ok((own, other))
    }
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxEnablePeerAccess(peer: usize, flags: c_uint) -> c_int {
    after_init("cuCtxEnablePeerAccess", |machine| {
        let (own, other) = (machine.current()?, machine.context(peer)?);
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        // No GPU is its own peer.
        if own.ordinal == other.ordinal || !machine.scenario.pairs.can_access(own.gpu, other.gpu) {
            return Err(Code::PEER_ACCESS_UNSUPPORTED);
        }
        own.add_peer(other.gpu, machine.scenario.peer_limit)?;
        machine.memory.note_change();
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxDisablePeerAccess(peer: usize) -> c_int {
    after_init("cuCtxDisablePeerAccess", |machine| {
        let (own, other) = both(machine, peer)?;
        machine.drain(&own);
        own.remove_peer(other.gpu)?;
        machine.memory.note_change();
        Ok(())
    })
}

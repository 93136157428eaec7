//! The C functions about the library and its communicators.

use super::{Result, communicator::Communicator, debug, group, number};
use crate::{
    ffi::Out,
    gate,
    machine::{Machine, context},
};
use std::{
    ffi::{c_char, c_int},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// `ncclUniqueId`: a mark, the process that made it and a count.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct UniqueId {
    bytes: [u8; 128],
}

const MARK: &[u8; 8] = b"FAKENCCL";

impl UniqueId {
    fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let parts = [
            u64::from(std::process::id()),
            MADE.fetch_add(1, Ordering::Relaxed),
        ];
        let mut id = Self { bytes: [0; 128] };
        let value = MARK
            .iter()
            .copied()
            .chain(parts.into_iter().flat_map(u64::to_le_bytes));
        for (byte, value) in id.bytes.iter_mut().zip(value) {
            *byte = value;
        }
        id
    }

    /// The name of its communicator; `None` for what no [`Self::new`] made.
    fn name(&self) -> Option<String> {
        let (words, _) = self.bytes.strip_prefix(MARK)?.as_chunks::<8>();
        let [process, count, ..] = words else { return None };
        Some(format!(
            "{}-{}",
            u64::from_le_bytes(*process),
            u64::from_le_bytes(*count)
        ))
    }
}

#[unsafe(no_mangle)]
extern "C" fn ncclGetVersion(version: Out<c_int>) -> c_int {
    gate::nccl("ncclGetVersion", |machine| {
        number(version.put(machine.scenario.nccl_version).map_err(Result::from))
    })
}

/// The message of an `ncclResult_t`. Gives a text, not a code: neither counted nor hit by faults.
#[unsafe(no_mangle)]
extern "C" fn ncclGetErrorString(result: c_int) -> *const c_char {
    let text = match result {
        0 => c"no error",
        1 => c"unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        2 => c"unhandled system error (run with NCCL_DEBUG=INFO for details)",
        3 => c"internal error - please report this issue to the NCCL developers",
        4 => c"invalid argument (run with NCCL_DEBUG=WARN for details)",
        5 => c"invalid usage (run with NCCL_DEBUG=WARN for details)",
        6 => c"remote process exited or there was a network error",
        7 => c"NCCL operation in progress",
        _ => c"unknown result code",
    };
    text.as_ptr()
}

/// The last warning. Gives a text, as above.
#[unsafe(no_mangle)]
extern "C" fn ncclGetLastError(_communicator: usize) -> *const c_char {
    debug::last()
}

#[unsafe(no_mangle)]
extern "C" fn ncclGetUniqueId(id: Out<UniqueId>) -> c_int {
    gate::nccl("ncclGetUniqueId", |_| {
        number(id.put(UniqueId::new()).map_err(Result::from))
    })
}

/// Makes a rank in the current context, which joins the others at the end of the group.
fn make(
    machine: &'static Machine,
    communicator: &Out<usize>,
    (ranks, rank): (c_int, c_int),
    id: &UniqueId,
) -> std::result::Result<(), Result> {
    let name = id.name().ok_or(Result::INVALID_ARGUMENT)?;
    let place = |value: c_int| usize::try_from(value).map_err(|_| Result::INVALID_ARGUMENT);
    communicator.put(0)?;
    let made = Arc::new(Communicator::new(machine, &name, place(ranks)?, place(rank)?)?);
    communicator.put(machine.communicators.add(Arc::clone(&made)))?;
    group::join(machine, made).inspect_err(|_| {
        // It was a place for one a moment ago.
        let _ = communicator.put(0);
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclCommInitRank(communicator: Out<usize>, ranks: c_int, id: UniqueId, rank: c_int) -> c_int {
    gate::nccl("ncclCommInitRank", |machine| {
        number(make(machine, &communicator, (ranks, rank), &id))
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclCommInitAll(communicators: Out<usize>, devices: c_int, list: Out<c_int>) -> c_int {
    gate::nccl("ncclCommInitAll", |machine| {
        let all = || {
            let (id, before) = (UniqueId::new(), context::current_ordinal());
            group::start();
            for rank in 0..devices {
                let at = rank as usize;
                let device = if list.is_null() { rank } else { list.get_at(at)? };
                context::set_current(usize::try_from(device).ok());
                let place = Out::from_option(communicators.address_at(at));
                make(machine, &place, (devices, rank), &id)?;
            }
            context::set_current(before);
            group::end(machine)
        };
        number(all())
    })
}

pub(super) fn find(machine: &Machine, communicator: usize) -> std::result::Result<Arc<Communicator>, Result> {
    machine
        .communicators
        .get(communicator)
        .ok_or(Result::INVALID_ARGUMENT)
}

#[unsafe(no_mangle)]
extern "C" fn ncclCommDestroy(communicator: usize) -> c_int {
    gate::nccl("ncclCommDestroy", |machine| {
        let gone = machine.communicators.remove(communicator);
        let Some(gone) = gone else {
            return number(Err(Result::INVALID_ARGUMENT));
        };
        machine.drain(&gone.context);
        0
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclCommAbort(communicator: usize) -> c_int {
    gate::nccl("ncclCommAbort", |machine| {
        let gone = machine.communicators.remove(communicator);
        number(
            gone.map(|gone| gone.messages.abort())
                .ok_or(Result::INVALID_ARGUMENT),
        )
    })
}

/// Nothing here goes wrong behind a call's back.
#[unsafe(no_mangle)]
extern "C" fn ncclCommGetAsyncError(communicator: usize, result: Out<c_int>) -> c_int {
    gate::nccl("ncclCommGetAsyncError", |machine| {
        number(find(machine, communicator).and_then(|_| Ok(result.put(0)?)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclCommCount(communicator: usize, count: Out<c_int>) -> c_int {
    gate::nccl("ncclCommCount", |machine| {
        number(find(machine, communicator).and_then(|of| Ok(count.put(of.ranks as c_int)?)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclCommUserRank(communicator: usize, rank: Out<c_int>) -> c_int {
    gate::nccl("ncclCommUserRank", |machine| {
        number(find(machine, communicator).and_then(|of| Ok(rank.put(of.rank as c_int)?)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclCommCuDevice(communicator: usize, device: Out<c_int>) -> c_int {
    gate::nccl("ncclCommCuDevice", |machine| {
        number(find(machine, communicator).and_then(|of| Ok(device.put(of.context.ordinal as c_int)?)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclGroupStart() -> c_int {
    gate::nccl("ncclGroupStart", |_| {
        group::start();
        0
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclGroupEnd() -> c_int {
    gate::nccl("ncclGroupEnd", |machine| number(group::end(machine)))
}

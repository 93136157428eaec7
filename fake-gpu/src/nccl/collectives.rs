//! The C functions that move data.

use super::{
    Result, api, arithmetic, group, number,
    operation::{Collective, Operation, What},
};
use crate::{gate, machine::Machine};
use std::ffi::c_int;

struct Asked {
    what: What,
    from: u64,
    to: u64,
    count: usize,
    kind: c_int,
    /// `ncclRedOp_t` of those that reduce.
    reduction: Option<c_int>,
    root: c_int,
    communicator: usize,
    stream: usize,
}

fn bytes_of(count: usize, kind: c_int) -> std::result::Result<u64, Result> {
    let bytes = arithmetic::width(kind).and_then(|width| count.checked_mul(width));
    bytes.map(|bytes| bytes as u64).ok_or(Result::INVALID_ARGUMENT)
}

fn collective(machine: &'static Machine, asked: &Asked) -> std::result::Result<(), Result> {
    if asked
        .reduction
        .is_some_and(|reduction| !arithmetic::reduces(asked.kind, reduction))
    {
        return Err(Result::INVALID_ARGUMENT);
    }
    let operation = Operation::Collective(Collective {
        what: asked.what,
        from: asked.from,
        to: asked.to,
        bytes: bytes_of(asked.count, asked.kind)?,
        kind: asked.kind,
        reduction: asked.reduction.unwrap_or(0),
        root: usize::try_from(asked.root).map_err(|_| Result::INVALID_ARGUMENT)?,
    });
    let communicator = api::find(machine, asked.communicator)?;
    group::add(machine, communicator, asked.stream, operation)
}

#[unsafe(no_mangle)]
extern "C" fn ncclAllReduce(
    from: u64,
    to: u64,
    count: usize,
    kind: c_int,
    reduction: c_int,
    communicator: usize,
    stream: usize,
) -> c_int {
    gate::nccl("ncclAllReduce", |machine| {
        let asked = Asked {
            what: What::AllReduce,
            from,
            to,
            count,
            kind,
            reduction: Some(reduction),
            root: 0,
            communicator,
            stream,
        };
        number(collective(machine, &asked))
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclAllGather(
    from: u64,
    to: u64,
    count: usize,
    kind: c_int,
    communicator: usize,
    stream: usize,
) -> c_int {
    gate::nccl("ncclAllGather", |machine| {
        let asked = Asked {
            what: What::AllGather,
            from,
            to,
            count,
            kind,
            reduction: None,
            root: 0,
            communicator,
            stream,
        };
        number(collective(machine, &asked))
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclReduceScatter(
    from: u64,
    to: u64,
    count: usize,
    kind: c_int,
    reduction: c_int,
    communicator: usize,
    stream: usize,
) -> c_int {
    gate::nccl("ncclReduceScatter", |machine| {
        let asked = Asked {
            what: What::ReduceScatter,
            from,
            to,
            count,
            kind,
            reduction: Some(reduction),
            root: 0,
            communicator,
            stream,
        };
        number(collective(machine, &asked))
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclBroadcast(
    from: u64,
    to: u64,
    count: usize,
    kind: c_int,
    root: c_int,
    communicator: usize,
    stream: usize,
) -> c_int {
    gate::nccl("ncclBroadcast", |machine| {
        let asked = Asked {
            what: What::Broadcast,
            from,
            to,
            count,
            kind,
            reduction: None,
            root,
            communicator,
            stream,
        };
        number(collective(machine, &asked))
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclReduce(
    from: u64,
    to: u64,
    count: usize,
    kind: c_int,
    reduction: c_int,
    root: c_int,
    communicator: usize,
    stream: usize,
) -> c_int {
    gate::nccl("ncclReduce", |machine| {
        let asked = Asked {
            what: What::Reduce,
            from,
            to,
            count,
            kind,
            reduction: Some(reduction),
            root,
            communicator,
            stream,
        };
        number(collective(machine, &asked))
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclSend(
    from: u64,
    count: usize,
    kind: c_int,
    peer: c_int,
    communicator: usize,
    stream: usize,
) -> c_int {
    gate::nccl("ncclSend", |machine| {
        let send = || {
            let bytes = bytes_of(count, kind)?;
            let peer = usize::try_from(peer).map_err(|_| Result::INVALID_ARGUMENT)?;
            let communicator = api::find(machine, communicator)?;
            group::add(
                machine,
                communicator,
                stream,
                Operation::Send { peer, from, bytes },
            )
        };
        number(send())
    })
}

#[unsafe(no_mangle)]
extern "C" fn ncclRecv(
    to: u64,
    count: usize,
    kind: c_int,
    peer: c_int,
    communicator: usize,
    stream: usize,
) -> c_int {
    gate::nccl("ncclRecv", |machine| {
        let receive = || {
            let bytes = bytes_of(count, kind)?;
            let peer = usize::try_from(peer).map_err(|_| Result::INVALID_ARGUMENT)?;
            let communicator = api::find(machine, communicator)?;
            group::add(
                machine,
                communicator,
                stream,
                Operation::Receive { peer, to, bytes },
            )
        };
        number(receive())
    })
}

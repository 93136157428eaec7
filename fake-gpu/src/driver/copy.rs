//! Copies and fills by a copy engine.

use super::Code;
use crate::{
    ffi::HostBytes,
    gate::after_init,
    machine::{
        Machine,
        access::{Engine, Reach},
        context::Context,
        stream::{Stream, Ticket},
        time::Path,
    },
};
use std::{
    ffi::{c_int, c_uint},
    sync::Arc,
};

/// Bytes moved at a time, so that a large copy needs no buffer of its size.
const CHUNK: u64 = 1 << 20;

/// The stream that the caller names, and its context, which does the work: a copy may go into a stream of a context
/// that is not current (programming guide, stream and event behaviour).
fn target(machine: &Machine, stream: usize) -> Result<(Arc<Context>, Arc<Stream>), Code> {
    let stream = machine.stream(&machine.current()?, stream)?;
    Ok((Arc::clone(&stream.context), stream))
}

/// Whether all of these bytes belong to an allocation; copies are refused at the call otherwise.
fn demand(machine: &Machine, address: u64, bytes: u64) -> Result<(), Code> {
    machine
        .memory
        .find(address, bytes)
        .map(|_| ())
        .ok_or(Code::INVALID_VALUE)
}

fn copy(
    machine: &'static Machine,
    stream: usize,
    to: u64,
    from: u64,
    bytes: usize,
) -> Result<Option<Ticket>, Code> {
    let (context, stream) = target(machine, stream)?;
    if bytes == 0 {
        return Ok(None);
    }
    let bytes = bytes as u64;
    demand(machine, to, bytes)?;
    demand(machine, from, bytes)?;
    let work = move |begin| {
        let mut buffer = Vec::new();
        let mut path = Path::Host;
        for start in (0..bytes).step_by(CHUNK as usize) {
            let part = CHUNK.min(bytes - start);
            buffer.resize(part as usize, 0);
            let source = machine.reach(&context, Engine::Copy, from + start, part)?;
            machine.read(&source, &mut buffer)?;
            let target = machine.reach(&context, Engine::Copy, to + start, part)?;
            machine.write(&target, &mut buffer)?;
            path = Reach::path(&source, &target);
        }
        Ok(machine.time.copy(&machine.scenario.speed, path, bytes, begin))
    };
    Ok(Some(machine.submit(&stream, Vec::new(), Box::new(work))))
}

/// Queues a fill with a pattern repeated `count` times.
fn fill(machine: &'static Machine, stream: usize, to: u64, pattern: &[u8], count: usize) -> Result<(), Code> {
    let context = machine.current()?;
    let stream = machine.stream(&context, stream)?;
    if count == 0 {
        return Ok(());
    }
    if !Arc::ptr_eq(&stream.context, &context) {
        return Err(Code::INVALID_VALUE);
    }
    let bytes = (count as u64)
        .checked_mul(pattern.len() as u64)
        .ok_or(Code::INVALID_VALUE)?;
    if !to.is_multiple_of(pattern.len() as u64) {
        return Err(Code::INVALID_VALUE);
    }
    demand(machine, to, bytes)?;
    let chunk = pattern.repeat((CHUNK.min(bytes) as usize) / pattern.len());
    let work = move |begin| {
        let mut path = Path::Host;
        for start in (0..bytes).step_by(CHUNK as usize) {
            let part = CHUNK.min(bytes - start);
            let mut buffer = chunk.clone();
            buffer.truncate(part as usize);
            let target = machine.reach(&context, Engine::Copy, to + start, part)?;
            machine.write(&target, &mut buffer)?;
            path = target.path_of_stores();
        }
        Ok(machine.time.copy(&machine.scenario.speed, path, bytes, begin))
    };
    machine.submit(&stream, Vec::new(), Box::new(work));
    Ok(())
}

/// From ordinary memory, which is read before the call returns, or pinned memory, which is read when its turn comes.
fn upload(
    machine: &'static Machine,
    stream: usize,
    to: u64,
    from: HostBytes,
    bytes: usize,
) -> Result<Option<Ticket>, Code> {
    if bytes == 0 || machine.memory.find(from.address(), bytes as u64).is_some() {
        return copy(machine, stream, to, from.address(), bytes);
    }
    let (context, stream) = target(machine, stream)?;
    demand(machine, to, bytes as u64)?;
    let mut staged = from.read(bytes)?;
    let work = move |begin| {
        let bytes = staged.len() as u64;
        let target = machine.reach(&context, Engine::Copy, to, bytes)?;
        machine.write(&target, &mut staged)?;
        let path = target.owner().map_or(Path::Host, Path::ToDevice);
        Ok(machine.time.copy(&machine.scenario.speed, path, bytes, begin))
    };
    Ok(Some(machine.submit(&stream, Vec::new(), Box::new(work))))
}

/// To ordinary or pinned memory. Ordinary memory is written before the call returns.
fn download(
    machine: &'static Machine,
    stream: usize,
    to: HostBytes,
    from: u64,
    bytes: usize,
) -> Result<Option<Ticket>, Code> {
    if bytes == 0 || machine.memory.find(to.address(), bytes as u64).is_some() {
        return copy(machine, stream, to.address(), from, bytes);
    }
    let (context, stream) = target(machine, stream)?;
    demand(machine, from, bytes as u64)?;
    let of_work = Arc::clone(&context);
    let work = move |begin| {
        let mut buffer = vec![0; bytes];
        let source = machine.reach(&of_work, Engine::Copy, from, bytes as u64)?;
        machine.read(&source, &mut buffer)?;
        to.write(&buffer)?;
        let path = source.owner().map_or(Path::Host, Path::ToHost);
        Ok(machine
            .time
            .copy(&machine.scenario.speed, path, bytes as u64, begin))
    };
    // Waited for here: the caller's memory is its own again when the call returns.
    machine.wait(&machine.submit(&stream, Vec::new(), Box::new(work)));
    context.check()?;
    Ok(None)
}

/// Waits for a copy, and says how its context is then.
fn finish(machine: &Machine, ticket: Option<Ticket>) -> Result<(), Code> {
    if let Some(ticket) = ticket {
        machine.wait(&ticket);
    }
    machine.current().map(|_| ())
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpy(to: u64, from: u64, bytes: usize) -> c_int {
    after_init("cuMemcpy", |machine| {
        finish(machine, copy(machine, 0, to, from, bytes)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: usize) -> c_int {
    after_init("cuMemcpyAsync", |machine| {
        copy(machine, stream, to, from, bytes).map(|_| ())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) -> c_int {
    after_init("cuMemcpyDtoD_v2", |machine| {
        finish(machine, copy(machine, 0, to, from, bytes)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: usize) -> c_int {
    after_init("cuMemcpyDtoDAsync_v2", |machine| {
        copy(machine, stream, to, from, bytes).map(|_| ())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyHtoD_v2(to: u64, from: HostBytes, bytes: usize) -> c_int {
    after_init("cuMemcpyHtoD_v2", |machine| {
        finish(machine, upload(machine, 0, to, from, bytes)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyHtoDAsync_v2(to: u64, from: HostBytes, bytes: usize, stream: usize) -> c_int {
    after_init("cuMemcpyHtoDAsync_v2", |machine| {
        upload(machine, stream, to, from, bytes).map(|_| ())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoH_v2(to: HostBytes, from: u64, bytes: usize) -> c_int {
    after_init("cuMemcpyDtoH_v2", |machine| {
        finish(machine, download(machine, 0, to, from, bytes)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoHAsync_v2(to: HostBytes, from: u64, bytes: usize, stream: usize) -> c_int {
    after_init("cuMemcpyDtoHAsync_v2", |machine| {
        download(machine, stream, to, from, bytes).map(|_| ())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyPeer(
    to: u64,
    to_context: usize,
    from: u64,
    from_context: usize,
    bytes: usize,
) -> c_int {
    after_init("cuMemcpyPeer", |machine| {
        machine.context(to_context)?;
        machine.context(from_context)?;
        finish(machine, copy(machine, 0, to, from, bytes)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyPeerAsync(
    to: u64,
    to_context: usize,
    from: u64,
    from_context: usize,
    bytes: usize,
    stream: usize,
) -> c_int {
    after_init("cuMemcpyPeerAsync", |machine| {
        machine.context(to_context)?;
        machine.context(from_context)?;
        copy(machine, stream, to, from, bytes).map(|_| ())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD8_v2(to: u64, value: u8, count: usize) -> c_int {
    after_init("cuMemsetD8_v2", |machine| fill(machine, 0, to, &[value], count))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: usize) -> c_int {
    after_init("cuMemsetD8Async", |machine| {
        fill(machine, stream, to, &[value], count)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD32_v2(to: u64, value: c_uint, count: usize) -> c_int {
    after_init("cuMemsetD32_v2", |machine| {
        fill(machine, 0, to, &value.to_le_bytes(), count)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD32Async(to: u64, value: c_uint, count: usize, stream: usize) -> c_int {
    after_init("cuMemsetD32Async", |machine| {
        fill(machine, stream, to, &value.to_le_bytes(), count)
    })
}

//! Streams.

use super::Code;
use crate::{ffi::Out, gate::after_init, machine::stream::Stream};
use std::{
    ffi::{c_int, c_uint},
    sync::Arc,
};

/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: c_uint = 1;

#[unsafe(no_mangle)]
extern "C" fn cuStreamCreate(stream: Out<usize>, flags: c_uint) -> c_int {
    after_init("cuStreamCreate", |machine| {
        let context = machine.current()?;
        if flags > NON_BLOCKING || stream.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let made = Stream::new(&context, flags != NON_BLOCKING, false)?;
        Ok(stream.put(machine.streams.add(Arc::new(made)))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamDestroy_v2(stream: usize) -> c_int {
    after_init("cuStreamDestroy_v2", |machine| {
        // What is queued still runs: the thread ends when its queue is empty and nobody can add to it.
        machine
            .streams
            .remove(stream)
            .map(|_| ())
            .ok_or(Code::INVALID_HANDLE)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamWaitEvent(stream: usize, event: usize, flags: c_uint) -> c_int {
    after_init("cuStreamWaitEvent", |machine| {
        let context = machine.current()?;
        let stream = machine.stream(&context, stream)?;
        let event = machine.events.get(event).ok_or(Code::INVALID_HANDLE)?;
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        if let Some(record) = event.last() {
            machine.submit(&stream, vec![record.ticket], Box::new(Ok));
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamQuery(stream: usize) -> c_int {
    after_init("cuStreamQuery", |machine| {
        let context = machine.current()?;
        let stream = machine.stream(&context, stream)?;
        let pending = machine.pending(&stream);
        if !pending.iter().all(|ticket| machine.has_reached(ticket)) {
            return Err(Code::NOT_READY);
        }
        stream.context.check()
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamSynchronize(stream: usize) -> c_int {
    after_init("cuStreamSynchronize", |machine| {
        let context = machine.current()?;
        let stream = machine.stream(&context, stream)?;
        for ticket in &machine.pending(&stream) {
            machine.wait(ticket);
        }
        stream.context.check()
    })
}

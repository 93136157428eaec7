//! Events.

use super::Code;
use crate::{
    ffi::Out,
    gate::after_init,
    machine::{
        Machine,
        event::{Event, Record},
    },
};
use std::{
    ffi::{c_int, c_uint},
    sync::{Arc, OnceLock},
};

/// `CU_EVENT_BLOCKING_SYNC | DISABLE_TIMING | INTERPROCESS`.
const FLAGS: c_uint = 7;
/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: c_uint = 2;
/// `CU_EVENT_INTERPROCESS`, which only an event without time can have.
const INTERPROCESS: c_uint = 4;

#[unsafe(no_mangle)]
extern "C" fn cuEventCreate(event: Out<usize>, flags: c_uint) -> c_int {
    after_init("cuEventCreate", |machine| {
        let context = machine.current()?;
        let timing = flags & DISABLE_TIMING == 0;
        let shared = flags & INTERPROCESS != 0;
        if flags & !FLAGS != 0 || shared && timing || event.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let made = Event::new(context, timing);
        Ok(event.put(machine.events.add(Arc::new(made)))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventDestroy_v2(event: usize) -> c_int {
    after_init("cuEventDestroy_v2", |machine| {
        machine
            .events
            .remove(event)
            .map(|_| ())
            .ok_or(Code::INVALID_HANDLE)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventRecord(event: usize, stream: usize) -> c_int {
    after_init("cuEventRecord", |machine| {
        let context = machine.current()?;
        let event = machine.events.get(event).ok_or(Code::INVALID_HANDLE)?;
        let stream = machine.stream(&context, stream)?;
        if !Arc::ptr_eq(&event.context, &stream.context) {
            return Err(Code::INVALID_HANDLE);
        }
        let reached = Arc::<OnceLock<u64>>::default();
        let of_work = Arc::clone(&reached);
        let work = move |now| Ok(*of_work.get_or_init(|| now));
        let ticket = machine.submit(&stream, Vec::new(), Box::new(work));
        event.set(Record { ticket, reached });
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventQuery(event: usize) -> c_int {
    after_init("cuEventQuery", |machine| {
        let event = machine.events.get(event).ok_or(Code::INVALID_HANDLE)?;
        if event
            .last()
            .is_some_and(|record| !machine.has_reached(&record.ticket))
        {
            return Err(Code::NOT_READY);
        }
        event.context.check()
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventSynchronize(event: usize) -> c_int {
    after_init("cuEventSynchronize", |machine| {
        let event = machine.events.get(event).ok_or(Code::INVALID_HANDLE)?;
        if let Some(record) = event.last() {
            machine.wait(&record.ticket);
        }
        event.context.check()
    })
}

/// Milliseconds between two events that have both been reached, by the model of time.
#[allow(clippy::cast_precision_loss, reason = "the interface gives a float")]
fn elapsed(machine: &Machine, start: usize, end: usize) -> Result<f32, Code> {
    let recorded = |handle: usize| {
        let event = machine
            .events
            .get(handle)
            .filter(|event| event.timing)
            .ok_or(Code::INVALID_HANDLE)?;
        event.context.check()?;
        event.last().ok_or(Code::INVALID_HANDLE)
    };
    let (start, end) = (recorded(start)?, recorded(end)?);
    if !start.ticket.is_done() || !end.ticket.is_done() {
        return Err(Code::NOT_READY);
    }
    let time = |record: &Record| record.reached.get().copied().ok_or(Code::UNKNOWN);
    let (start, end) = (time(&start)?, time(&end)?);
    let nanoseconds = i128::from(end) - i128::from(start);
    Ok((nanoseconds as f64 / 1e6) as f32)
}

#[unsafe(no_mangle)]
extern "C" fn cuEventElapsedTime(milliseconds: Out<f32>, start: usize, end: usize) -> c_int {
    after_init("cuEventElapsedTime", |machine| {
        Ok(milliseconds.put(elapsed(machine, start, end)?)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: usize, end: usize) -> c_int {
    after_init("cuEventElapsedTime_v2", |machine| {
        Ok(milliseconds.put(elapsed(machine, start, end)?)?)
    })
}

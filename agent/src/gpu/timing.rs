//! Copies between two GPUs, timed by events of the source's stream.

use std::rc::Rc;
use std::time::Duration;

use cudarc::driver::sys::{CUevent, CUevent_flags};

use super::call::{CallError, call};
use super::context::Context;
use super::memory::Windows;
use super::stream::Stream;

pub(super) struct Event {
    context: Rc<Context>,
    handle: CUevent,
}

impl Event {
    pub(super) fn create(context: &Rc<Context>) -> Result<Self, CallError> {
        context.enter()?;
        let mut handle: CUevent = std::ptr::null_mut();
        let flags = CUevent_flags::CU_EVENT_DEFAULT as u32;
        // SAFETY: a place for one handle.
        unsafe { call!(context.api, cuEventCreate(&raw mut handle, flags)) }?;
        Ok(Self {
            context: Rc::clone(context),
            handle,
        })
    }

    pub(super) fn record(&self, stream: &Stream) -> Result<(), CallError> {
        self.context.enter()?;
        // SAFETY: both live and are of the same context.
        unsafe { call!(self.context.api, cuEventRecord(self.handle, stream.handle)) }
    }

    /// What this stream gets from now on begins when the event has happened, in whatever context that is.
    pub(super) fn await_by(&self, stream: &Stream) -> Result<(), CallError> {
        stream.context.enter()?;
        // SAFETY: both live; 0 is the only flag there is.
        unsafe {
            call!(
                stream.context.api,
                cuStreamWaitEvent(stream.handle, self.handle, 0)
            )
        }
    }

    /// Seconds since an earlier event; both have happened.
    pub(super) fn seconds_since(&self, earlier: &Self) -> Result<f64, CallError> {
        self.context.enter()?;
        let mut milliseconds: f32 = 0.0;
        // SAFETY: a place for one number, and two live events.
        unsafe {
            call!(
                self.context.api,
                cuEventElapsedTime(&raw mut milliseconds, earlier.handle, self.handle)
            )
        }?;
        Ok(f64::from(milliseconds) / 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: destroys what `create` created, once.
            let _ = unsafe { call!(self.context.api, cuEventDestroy_v2(self.handle)) };
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct End<'a> {
    pub(crate) context: &'a Context,
    pub(crate) window: Windows<'a>,
}

impl Stream {
    /// Seconds that each of `samples` copies took, issued one behind the other after one that warms up. Straight
    /// where this stream's context has access to the other end, else by way of the host.
    pub(crate) fn time_copies(
        &self,
        to: End<'_>,
        from: End<'_>,
        samples: usize,
        limit: Duration,
    ) -> Result<Vec<f64>, CallError> {
        let bytes = from.window.words.min(to.window.words) * 4;
        let copy = || {
            self.context.enter()?;
            // SAFETY: both windows are alive and have `bytes` bytes, in these contexts.
            unsafe {
                call!(
                    self.context.api,
                    cuMemcpyPeerAsync(
                        to.window.pointer,
                        to.context.handle,
                        from.window.pointer,
                        from.context.handle,
                        bytes,
                        self.handle
                    )
                )
            }
        };
        let events: Vec<Event> = (0..=samples)
            .map(|_| Event::create(&self.context))
            .collect::<Result<_, _>>()?;
        for event in &events {
            copy()?;
            event.record(self)?;
        }
        self.wait("cuMemcpyPeerAsync", limit)?;
        let steps = events.iter().zip(events.iter().skip(1));
        steps.map(|(before, after)| after.seconds_since(before)).collect()
    }
}

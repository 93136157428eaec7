//! A stream: copies are issued here and waited for by polling under a deadline, never by an unbounded synchronise.

use std::rc::Rc;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{CUresult, CUstream, CUstream_flags};

use super::call::{CallError, call};
use super::context::Context;
use super::memory::{HostWords, Window};

/// Pause between two polls once the work is known to take longer than a moment.
const POLL_PAUSE: Duration = Duration::from_micros(50);
/// Polls without a pause before that.
const EAGER_POLLS: u32 = 200;

/// A non-blocking stream of one context.
pub(crate) struct Stream {
    pub(super) context: Rc<Context>,
    pub(super) handle: CUstream,
}

impl Stream {
    /// Creates it.
    pub(crate) fn create(context: &Rc<Context>) -> Result<Self, CallError> {
        context.enter()?;
        let mut handle: CUstream = std::ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: a place for one handle.
        unsafe { call!(context.api, cuStreamCreate(&raw mut handle, flags)) }?;
        Ok(Self {
            context: Rc::clone(context),
            handle,
        })
    }

    /// Copies words from one window to another, by whatever engine the driver takes for it, and waits.
    pub(crate) fn copy(&self, to: Window<'_>, from: Window<'_>, limit: Duration) -> Result<(), CallError> {
        if to.words != from.words {
            return Err(CallError::Refused {
                call: "cuMemcpyAsync",
                why: "the windows differ in size",
            });
        }
        self.context.enter()?;
        let bytes = to.bytes();
        // SAFETY: both windows lie inside live buffers and have `bytes` bytes.
        unsafe {
            call!(
                self.context.api,
                cuMemcpyAsync(to.pointer, from.pointer, bytes, self.handle)
            )
        }?;
        self.wait("cuMemcpyAsync", limit)
    }

    /// Sets every word of the window, and waits.
    pub(super) fn set(&self, window: Window<'_>, value: u32, limit: Duration) -> Result<(), CallError> {
        self.context.enter()?;
        let (pointer, words) = (window.pointer, window.words);
        // SAFETY: the window has so many words.
        unsafe {
            call!(
                self.context.api,
                cuMemsetD32Async(pointer, value, words, self.handle)
            )
        }?;
        self.wait("cuMemsetD32Async", limit)
    }

    /// Uploads words, the `i`th being `word(i)`, and waits.
    pub(crate) fn upload(
        &self,
        window: Window<'_>,
        word: impl Fn(u64) -> u32,
        limit: Duration,
    ) -> Result<(), CallError> {
        let mut host = HostWords::allocate(&self.context, window.words)?;
        host.set(word);
        self.context.enter()?;
        let (from, bytes) = (host.pointer.cast_const().cast(), window.bytes());
        // SAFETY: host memory and window have `bytes` bytes; the host memory outlives the copy, see `settle`.
        let issued = unsafe {
            call!(
                self.context.api,
                cuMemcpyHtoDAsync_v2(window.pointer, from, bytes, self.handle)
            )
        };
        self.settle(issued, "cuMemcpyHtoDAsync_v2", limit, host).map(drop)
    }

    /// Downloads the words of a window.
    pub(crate) fn download(&self, window: Window<'_>, limit: Duration) -> Result<Vec<u32>, CallError> {
        let host = HostWords::allocate(&self.context, window.words)?;
        self.context.enter()?;
        let (to, bytes) = (host.pointer.cast(), window.bytes());
        // SAFETY: as in `upload`.
        let issued = unsafe {
            call!(
                self.context.api,
                cuMemcpyDtoHAsync_v2(to, window.pointer, bytes, self.handle)
            )
        };
        let host = self.settle(issued, "cuMemcpyDtoHAsync_v2", limit, host)?;
        Ok(host.get())
    }

    /// Waits for a copy with host memory. Unless it is known to have ended, the memory is never freed.
    fn settle(
        &self,
        issued: Result<(), CallError>,
        call: &'static str,
        limit: Duration,
        host: HostWords,
    ) -> Result<HostWords, CallError> {
        match issued.and_then(|()| self.wait(call, limit)) {
            Ok(()) => Ok(host),
            Err(error) => {
                std::mem::forget(host);
                Err(error)
            }
        }
    }

    /// Polls until the stream is empty. `call` names what is waited for.
    pub(super) fn wait(&self, call: &'static str, limit: Duration) -> Result<(), CallError> {
        let Some(query) = self.context.api.symbols.cuStreamQuery else {
            return Err(CallError::Missing {
                call: "cuStreamQuery",
            });
        };
        self.context.enter()?;
        // One breadcrumb for the whole wait: a hang inside the query and work that does not end read alike, and
        // the work's own call stands in front of it.
        self.context.api.trace.about_to("cuStreamQuery");
        let start = Instant::now();
        let mut polls = 0_u32;
        loop {
            // SAFETY: the stream lives as long as `self`, and its context is current.
            let code = unsafe { query(self.handle) };
            if code != CUresult::CUDA_ERROR_NOT_READY as i32 {
                // An error that comes up here belongs to the work, or to work before it.
                return self.context.api.checked(call, code);
            }
            if start.elapsed() >= limit {
                return Err(CallError::Deadline { call, limit });
            }
            polls = polls.saturating_add(1);
            if polls > EAGER_POLLS {
                std::thread::sleep(POLL_PAUSE);
            }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: destroys what `create` created, once.
            let _ = unsafe { call!(self.context.api, cuStreamDestroy_v2(self.handle)) };
        }
    }
}

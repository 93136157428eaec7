//! A stream: copies are issued here and waited for by polling under a deadline, never by an unbounded synchronise.

use std::rc::Rc;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{CUresult, CUstream, CUstream_flags};

use super::call::{CallError, call};
use super::context::Context;
use super::host_words::HostWords;
use super::memory::Windows;

/// Pause between two polls once the work is known to take longer than a moment.
const POLL_PAUSE: Duration = Duration::from_micros(50);
/// Polls without a pause before that.
const EAGER_POLLS: u32 = 200;

pub(crate) struct Stream {
    pub(super) context: Rc<Context>,
    pub(super) handle: CUstream,
}

impl Stream {
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

    /// Copies each window to its counterpart, by whatever engine the driver takes for it, and waits.
    pub(crate) fn copy(&self, to: Windows<'_>, from: Windows<'_>, limit: Duration) -> Result<(), CallError> {
        if (to.words, to.count) != (from.words, from.count) {
            return Err(CallError::Refused {
                call: "cuMemcpyAsync",
                why: "the windows differ in size or number",
            });
        }
        self.context.enter()?;
        let bytes = to.words * 4;
        for (to, from) in to.each().zip(from.each()) {
            // SAFETY: both windows lie inside live memory and have `bytes` bytes.
            unsafe {
                call!(
                    self.context.api,
                    cuMemcpyAsync(to.pointer, from.pointer, bytes, self.handle)
                )
            }?;
        }
        self.wait("cuMemcpyAsync", limit)
    }

    /// Sets every word of the windows. Does not wait.
    pub(crate) fn set(&self, windows: Windows<'_>, value: u32) -> Result<(), CallError> {
        self.context.enter()?;
        for window in windows.each() {
            let (pointer, words) = (window.pointer, window.words);
            // SAFETY: the window has so many words.
            unsafe {
                call!(
                    self.context.api,
                    cuMemsetD32Async(pointer, value, words, self.handle)
                )
            }?;
        }
        Ok(())
    }

    /// Uploads words, the `i`th of all windows being `word(i)`, and waits.
    pub(crate) fn upload(
        &self,
        windows: Windows<'_>,
        word: impl Fn(u64) -> u32,
        limit: Duration,
    ) -> Result<(), CallError> {
        let mut host = HostWords::allocate(&self.context, windows.all_words())?;
        host.set(word);
        let issued = self.upload_from(&host, windows);
        self.settle(issued, "cuMemcpyHtoDAsync_v2", limit, host).map(drop)
    }

    pub(crate) fn download(&self, windows: Windows<'_>, limit: Duration) -> Result<Vec<u32>, CallError> {
        let host = HostWords::allocate(&self.context, windows.all_words())?;
        let issued = self.download_to(&host, windows);
        let host = self.settle(issued, "cuMemcpyDtoHAsync_v2", limit, host)?;
        Ok(host.get())
    }

    /// Issues uploads of the first words of `host`, which must outlive them.
    pub(super) fn upload_from(&self, host: &HostWords, windows: Windows<'_>) -> Result<(), CallError> {
        self.context.enter()?;
        let bytes = windows.words * 4;
        for (first, window) in (0..).step_by(windows.words.max(1)).zip(windows.each()) {
            let from = part(host, first, windows.words, "cuMemcpyHtoDAsync_v2")?.cast_const();
            // SAFETY: host memory and window have `bytes` bytes there; the caller keeps the host memory.
            unsafe {
                call!(
                    self.context.api,
                    cuMemcpyHtoDAsync_v2(window.pointer, from, bytes, self.handle)
                )
            }?;
        }
        Ok(())
    }

    /// Issues downloads to the first words of `host`, which must outlive them.
    pub(super) fn download_to(&self, host: &HostWords, windows: Windows<'_>) -> Result<(), CallError> {
        self.context.enter()?;
        let bytes = windows.words * 4;
        for (first, window) in (0..).step_by(windows.words.max(1)).zip(windows.each()) {
            let to = part(host, first, windows.words, "cuMemcpyDtoHAsync_v2")?;
            // SAFETY: as in `upload_from`.
            unsafe {
                call!(
                    self.context.api,
                    cuMemcpyDtoHAsync_v2(to, window.pointer, bytes, self.handle)
                )
            }?;
        }
        Ok(())
    }

    /// Waits for copies with host memory. Unless they are known to have ended, the memory is never freed.
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
    pub(crate) fn wait(&self, call: &'static str, limit: Duration) -> Result<(), CallError> {
        let Some(query) = self.context.api.symbols.cuStreamQuery else {
            return Err(CallError::Missing {
                call: "cuStreamQuery",
            });
        };
        self.context.enter()?;
        // One breadcrumb for the whole wait: a hung query and endless work read alike, and the work's call stands before it.
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

fn part(
    host: &HostWords,
    first: usize,
    words: usize,
    call: &'static str,
) -> Result<*mut std::ffi::c_void, CallError> {
    let inside = host.at(first + words).is_some();
    host.at(first).filter(|_| inside).ok_or(CallError::Refused {
        call,
        why: "the host memory is smaller than the windows",
    })
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: destroys what `create` created, once.
            let _ = unsafe { call!(self.context.api, cuStreamDestroy_v2(self.handle)) };
        }
    }
}

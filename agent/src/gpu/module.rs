//! A PTX text, JIT-compiled for one context, and launches of its kernels.

use std::ffi::{CStr, CString, c_void};
use std::rc::Rc;

use cudarc::driver::sys::{CUfunction, CUmodule};

use super::call::{CallError, call};
use super::context::Context;
use super::stream::Stream;

pub(super) struct Module {
    context: Rc<Context>,
    handle: CUmodule,
}

/// A kernel of a [`Module`]; good while the module lives.
#[derive(Clone, Copy)]
pub(super) struct Function(CUfunction);

impl Module {
    /// Compiles and loads a text. Code 221 means that the driver's JIT library is missing.
    pub(super) fn load(context: &Rc<Context>, text: &str) -> Result<Self, CallError> {
        let text = CString::new(text).map_err(|_| CallError::Refused {
            call: "cuModuleLoadData",
            why: "the kernels' text holds a zero",
        })?;
        context.enter()?;
        let mut handle: CUmodule = std::ptr::null_mut();
        // SAFETY: a place for one handle, and a zero-terminated PTX text.
        unsafe {
            call!(
                context.api,
                cuModuleLoadData(&raw mut handle, text.as_ptr().cast())
            )
        }?;
        Ok(Self {
            context: Rc::clone(context),
            handle,
        })
    }

    /// Finds a kernel, at load time: one that is loaded lazily behind a running one can deadlock.
    pub(super) fn function(&self, name: &CStr) -> Result<Function, CallError> {
        self.context.enter()?;
        let mut function: CUfunction = std::ptr::null_mut();
        // SAFETY: a place for one handle, a live module, a zero-terminated name.
        unsafe {
            call!(
                self.context.api,
                cuModuleGetFunction(&raw mut function, self.handle, name.as_ptr())
            )
        }?;
        Ok(Function(function))
    }

    /// Launches a kernel of this module on a grid of `[x, y]` blocks of `threads` threads. Does not wait.
    ///
    /// # Safety
    /// `parameters` points to one value for each parameter of the kernel, of its size. The memory that these name is
    /// kept until the stream has been waited for.
    pub(super) unsafe fn launch(
        &self,
        stream: &Stream,
        function: Function,
        [x, y]: [u32; 2],
        threads: u32,
        parameters: &mut [*mut c_void],
    ) -> Result<(), CallError> {
        self.context.enter()?;
        let (shared_bytes, none) = (0, std::ptr::null_mut());
        let stream = stream.handle;
        let values = parameters.as_mut_ptr();
        // SAFETY: the caller's; the call copies the values before it returns.
        unsafe {
            call!(
                self.context.api,
                cuLaunchKernel(
                    function.0,
                    x,
                    y,
                    1,
                    threads,
                    1,
                    1,
                    shared_bytes,
                    stream,
                    values,
                    none
                )
            )
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: unloads what `load` loaded, once.
            let _ = unsafe { call!(self.context.api, cuModuleUnload(self.handle)) };
        }
    }
}

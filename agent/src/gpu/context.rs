//! A GPU's primary context, retained while the value lives.

use std::rc::Rc;

use cudarc::driver::sys::{CUcontext, CUdevice_attribute};

use super::call::{CallError, call};
use super::driver::{Api, Device, Driver};

pub(crate) struct Context {
    pub(super) api: Rc<Api>,
    pub(super) handle: CUcontext,
    pub(super) device: Device,
}

impl Context {
    /// Retains the device's primary context: about 0.1 s for the first on a GPU.
    pub(crate) fn retain(driver: &Driver, device: Device) -> Result<Rc<Self>, CallError> {
        driver.api.gpu.set(Some(device.ordinal));
        let mut handle: CUcontext = std::ptr::null_mut();
        // SAFETY: a place for one handle; the device came from this driver.
        unsafe {
            call!(
                driver.api,
                cuDevicePrimaryCtxRetain(&raw mut handle, device.handle)
            )
        }?;
        Ok(Rc::new(Self {
            api: Rc::clone(&driver.api),
            handle,
            device,
        }))
    }

    /// Free and total memory of its GPU in bytes.
    pub(crate) fn memory_info(&self) -> Result<(usize, usize), CallError> {
        self.enter()?;
        let (mut free, mut total) = (0_usize, 0_usize);
        // SAFETY: places for two sizes.
        unsafe { call!(self.api, cuMemGetInfo_v2(&raw mut free, &raw mut total)) }?;
        Ok((free, total))
    }

    pub(crate) fn shares_by_descriptor(&self) -> Result<bool, CallError> {
        use CUdevice_attribute::{
            CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED as BY_DESCRIPTOR,
            CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED as AT_ALL,
        };
        for attribute in [AT_ALL, BY_DESCRIPTOR] {
            if super::driver::attribute(&self.api, attribute, self.device)? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn enter(&self) -> Result<(), CallError> {
        self.api.gpu.set(Some(self.device.ordinal));
        if self.api.current.get() == self.handle {
            return Ok(());
        }
        // SAFETY: the handle is retained for as long as `self` lives.
        unsafe { call!(self.api, cuCtxSetCurrent(self.handle)) }?;
        self.api.current.set(self.handle);
        Ok(())
    }

    /// A library that sets contexts of its own may have changed what is current.
    pub(super) fn forget_current(&self) {
        self.api.current.set(std::ptr::null_mut());
    }

    /// Lets work of this context reach the memory of `peer`'s.
    pub(crate) fn enable_peer_access(&self, peer: &Self) -> Result<(), CallError> {
        self.enter()?;
        // SAFETY: both handles are retained; 0 is the only flag there is.
        unsafe { call!(self.api, cuCtxEnablePeerAccess(peer.handle, 0)) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.api.gpu.set(Some(self.device.ordinal));
        // SAFETY: releases what `retain` retained, once. Nothing can be done about a failure here.
        let _ = unsafe { call!(self.api, cuDevicePrimaryCtxRelease_v2(self.device.handle)) };
        if self.api.current.get() == self.handle {
            self.api.current.set(std::ptr::null_mut());
        }
    }
}

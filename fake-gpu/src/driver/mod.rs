//! The CUDA driver interface: one file for each group of functions. A handle or device pointer is a plain number
//! here; structures are given field by field.

mod code;
mod context;
mod copy;
mod device;
mod event;
mod ipc;
mod launch;
mod memory;
mod module;
mod peer;
mod stream;
mod system;
mod virtual_memory;

pub(crate) use code::Code;

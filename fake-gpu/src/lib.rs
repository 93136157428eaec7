//! Stands in for `libcuda.so.1`, `libnvidia-ml.so.1` and `libnccl.so.2` in tests of the agent.
//!
//! Built twice from the same source: as a Rust library, whose [`install`] puts a scenario into a folder, and as the
//! shared library that a program under test opens by the vendor's names. It executes the PTX text it is given; it
//! never recognises a kernel by name. Figures of time from it mean nothing.
//!
//! Rooms: [`scenario`] what the machine is like and how it fails; `machine` memory, contexts, streams and the fate of
//! each access; `ptx` parser and interpreter; `driver`, `nvml` and `nccl` the C functions; `gate` what every call passes.
#![allow(
    unsafe_code,
    reason = "a C library: foreign pointers, mapped memory and exported symbols"
)]
#![allow(
    non_snake_case,
    reason = "exported functions carry the names of the C interfaces"
)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "registers, addresses and C integers are reinterpreted between widths and signs all over"
)]

mod calls;
mod driver;
mod elf;
mod ffi;
mod gate;
mod install;
mod machine;
mod nccl;
mod nvml;
pub mod ptx;
pub mod scenario;

pub use install::{Installed, install};
pub use scenario::Scenario;

/// Only in the stand-in, so that programs can call findings simulated. A C string with the crate's name and version.
#[unsafe(no_mangle)]
extern "C" fn fake_gpu_marker() -> *const std::ffi::c_char {
    concat!("fake-gpu ", env!("CARGO_PKG_VERSION"), "\0")
        .as_ptr()
        .cast()
}

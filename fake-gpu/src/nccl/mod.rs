//! NCCL: communicators within one process and between several, whose collectives move real data in simulated memory.
//!
//! ```text
//! api (C functions) -> group (what was called up to ncclGroupEnd) -> operation, in the stream of each rank
//!     communicator: who the ranks are, how they reach each other        messages: files that ranks leave each other
//! ```
//!
//! Data goes by way of files, within one process too. What would go wrong on the real way (a fault of stores from GPU
//! to GPU, where the communicator uses peer access) is applied to what arrives.

mod api;
mod arithmetic;
mod collectives;
mod communicator;
mod debug;
mod group;
mod messages;
mod operation;

pub(crate) use communicator::Communicator;

/// An `ncclResult_t` other than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Result(i32);

impl Result {
    pub(crate) const UNHANDLED_CUDA_ERROR: Self = Self(1);
    pub(crate) const SYSTEM_ERROR: Self = Self(2);
    pub(crate) const INVALID_ARGUMENT: Self = Self(4);
    pub(crate) const INVALID_USAGE: Self = Self(5);
}

impl From<crate::ffi::NullPointer> for Result {
    fn from(_: crate::ffi::NullPointer) -> Self {
        Self::INVALID_ARGUMENT
    }
}

impl From<crate::driver::Code> for Result {
    fn from(_: crate::driver::Code) -> Self {
        Self::UNHANDLED_CUDA_ERROR
    }
}

/// The number that a C function returns.
fn number(result: std::result::Result<(), Result>) -> i32 {
    result.err().map_or(0, |result| result.0)
}

//! The driver's libraries behind a safe face: the only room of the agent with unsafe code, entered by the worker only.
//!
//! ```text
//! library (libcuda.so.1, by that name) -> symbols (Option<function>, results as i32) -> call! (breadcrumb, code)
//!     -> Driver, Context, Stream, Buffer / Windows, Kernels        nvml: nvml-wrapper, every absence a Fact gap
//! nccl: libnccl.so.2 by the same loader -> Communicator, collectives on streams
//! ```
//!
//! cudarc gives types, constants and names. Its loader and its closed result enum are not used: see the decision
//! record on the CUDA binding in docs/adr.
#![allow(
    unsafe_code,
    reason = "foreign functions of libcuda, libnccl and libnvidia-ml"
)]

mod area;
mod atomics;
mod bench_kernels;
mod burn;
mod call;
mod codes;
mod context;
mod driver;
mod exchange;
mod flow;
mod gate;
mod host_words;
mod ipc;
mod kernels;
mod library;
mod memory;
mod module;
mod nccl;
mod nvml;
mod pattern;
mod shareable;
mod stream;
mod symbols;
mod timing;
mod trace;

pub(crate) use area::{Area, Pageable, Pinned, Ring};
pub(crate) use bench_kernels::BenchKernels;
pub(crate) use burn::Burn;
pub(crate) use call::CallError;
pub(crate) use context::Context;
pub(crate) use driver::{Device, Driver, PciAddress};
pub(crate) use exchange::{Observed, Side};
pub(crate) use flow::{Flow, Mover, Pace, WARM_HOPS, WARM_HOPS_AGAIN, run};
pub(crate) use ipc::{LegacyHandle, Opened};
pub(crate) use kernels::{Kernels, Pattern, Wrong};
pub(crate) use memory::{Buffer, Span, Windows};
pub(crate) use nccl::{Collective, Communicator, Member, Nccl, UniqueId};
pub(crate) use nvml::{Listed, Managed, Management, Unlisted};
pub(crate) use pattern::{Nonce, word};
pub(crate) use shareable::Shareable;
pub(crate) use stream::Stream;
pub(crate) use timing::End;
pub(crate) use trace::{Breadcrumb, HardwareError, Trace};

//! Drives the shared library as a program under test would: opened by the vendor's names, through the C interface.
#![allow(unsafe_code, reason = "calls C functions by hand")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::too_many_arguments,
    reason = "helpers of tests fail loudly, and C functions have as many arguments as they have"
)]
#![allow(non_snake_case, reason = "C names")]

mod contract;
mod cuda;
mod faults_of_calls;
mod faults_of_memory;
mod faults_of_nccl;
mod kernels;
mod listing;
mod management;
mod naive;
mod nccl;
mod peers;
mod processes;
mod scenarios;
mod shipped;
mod streams;
mod support;
mod timing;
mod virtual_memory;

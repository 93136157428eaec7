//! What every store must do, on each engine, and what one engine alone must do.
//!
//! PostgreSQL comes from `PEERLESS_TEST_POSTGRES`; `cargo xtask test` and `cargo xtask postgres -- COMMAND…` set it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, also where it does so in a function that several share"
)]
#![allow(
    clippy::needless_pass_by_value,
    reason = "json!(…) is handed over where it is written"
)]

mod contract;
mod support;

mod backup;
mod crash;
mod full;
mod migrations;
mod plans;
mod processes;
mod read_only;
mod speed;

//! What every store must do, on each engine, and what one engine alone must do.
//!
//! PostgreSQL comes from `PEERLESS_TEST_POSTGRES`; `cargo xtask test` and `cargo xtask postgres -- COMMAND…` set it.

mod contract;
mod support;

mod crash;
mod full;
mod migrations;
mod processes;
mod read_only;
mod speed;

//! The Peerless server and tool.
//!
//! ```text
//! kb-seed -> store -> feed -> (matcher, search, graph: one generation) -> web
//! agent report -> domain::ingest -> correlate -> store -> web
//! ```
//!
//! Dependencies point one way: `web -> render -> domain -> feed -> {store, peerless_search} -> kb-core`.
#![forbid(unsafe_code)]

pub mod bundle;
pub mod clean;
pub mod cli;
pub mod clock;
pub mod config;
pub mod domain;
pub mod feed;
pub mod render;
pub mod site;
pub mod startup;
pub mod store;
pub mod telemetry;
pub mod web;

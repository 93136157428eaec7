//! The language that the Peerless server and agent share.
//!
//! ```text
//! document + annex (two texts) -> record / annex (read-only views) -> validate (what is wrong, where, why)
//!                                        |-> signature -> matcher -> scanner (bytes in, events and a summary out)
//!                                        |                      reason (why, as data) -> render (in sentences)
//!                                        '-> transition (edges)
//! bytes -> intake (text, or why it is none) -> scanner
//! report (agent -> server, versioned)  -> verdict (outcomes -> verdict -> exit code)
//!   |-> baseline (figures beside others of their kind)
//!   '-> observation (facts and kernel log -> states and events) -> health (kept from look to look)
//! ```
//!
//! Nothing in here reads a file, opens a socket or awaits. Text from outside never makes it panic.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod annex;
pub mod baseline;
pub mod compare;
pub mod convert;
pub mod error_words;
pub mod form;
pub mod health;
pub mod ids;
pub mod intake;
pub mod matcher;
pub mod near;
pub mod observation;
pub mod policy;
pub mod propose;
pub mod reason;
pub mod record;
pub mod redact;
pub mod render;
pub mod report;
pub mod scanner;
#[cfg(feature = "schema")]
pub mod schema;
pub mod severity;
pub mod signature;
#[cfg(feature = "simulate")]
pub mod simulate;
pub mod templates;
pub mod terminal;
pub mod text;
pub mod transition;
pub mod unreachable;
pub mod validate;
pub mod variables;
pub mod verdict;
pub mod wire;

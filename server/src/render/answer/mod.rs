//! What readers are shown of an answer, as plain values: a paragraph, a row for each fault, the environment, and texts
//! for a ticket. The records themselves are shown by `render::record`.

pub mod environment;
pub mod faults;
pub mod log;
mod marks;
pub mod origin;
mod row_builder;
pub mod summary;
pub mod ticket;
pub mod unknown;

pub use faults::{Fault, faults, in_order};

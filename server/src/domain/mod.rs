//! Use cases: what a caller wants, without HTTP and without SQL.

mod excerpt;
pub mod graph;
pub mod lookup;
pub mod records;
pub mod search;
pub mod tokens;

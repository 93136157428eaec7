//! Is this number normal? Measurements of stored reports beside those of other nodes, of the node's own last good run and
//! of published ones.
//!
//! ```text
//! report taken in -> keep      what others may be held against, a few figures a series
//!                 -> apart     what is apart from its like for the second time (like: the others, read once in a while)
//!                 -> carry     outliers that it did not measure again
//! report read     -> peers     the kept figures of the other nodes of its cohort
//!                    own       the same figures of the node's last good run
//!                    reference the table that ships with the program
//!                 -> review    all of them together, and what is apart
//! ```

mod apart;
mod carry;
mod keep;
mod like;
mod own;
mod peers;
mod reference;
mod review;

#[cfg(test)]
mod tests;

pub use apart::{OUTLIER, apart, explained_by};
pub use carry::carried;
pub use keep::kept;
pub use like::Like;
pub use reference::{Reference, Source, references, sources};
pub use review::{Review, latest, review};

//! Revisions held against each other, field by field: what changed, what two editors' changes give together, and which revision
//! a field is from. Items of lists are known by what names them, an id or the text of an action, so that an item that was moved
//! or put in between changes no other.

mod align;
mod blame;
mod diff;
mod merge;
#[cfg(test)]
mod tests;

pub use blame::{Blame, blame};
pub use diff::{Change, ChangeKind, diff};
pub use merge::{Conflict, Merged, merge};

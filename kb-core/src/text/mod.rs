//! JSON as text: what comes in is read strictly, kept byte for byte, and edited one value at a time.
//!
//! [`parse`] refuses what readers of JSON disagree about (duplicate keys, lone surrogates, NUL, a byte order mark)
//! and what is too large or too deep, and says where. It gives a [`Node`] tree with byte spans, from which
//! [`replace_value`] and its neighbours change a text without touching any other byte. A [`Tree`] is the same text as values
//! that can be changed at will, and [`rewrite`] the way back. [`parse_values`] reads as strictly, without spans, to [`Json`].

mod array_edit;
pub(crate) mod checks;
mod edit;
mod error;
mod hash;
mod json;
mod node;
mod pointer;
mod reader;
mod rewrite;
mod scalar;
pub(crate) mod shape;
mod shared;
#[cfg(test)]
mod tests;
mod tree;
mod values;
mod view;
mod violation;

pub use array_edit::{insert_item, move_item, remove_item, set_value};
pub use edit::{EditError, insert_member, remove_member, replace_value};
pub(crate) use error::Cursor;
pub use error::{Position, TextError};
pub use hash::{Sha256, Sha256Error};
pub use json::Json;
pub use node::{Kind, Member, Node};
pub use pointer::{Step, push_step, steps};
pub use reader::parse;
pub use rewrite::rewrite;
pub use tree::Tree;
pub use values::parse_values;
pub(crate) use view::{examine, read_view};
pub use violation::{Part, Severity, Violation};

/// Largest text accepted, in bytes (design, decision 1).
pub const MAX_BYTES: usize = 256 * 1024;

/// Deepest nesting of objects and arrays accepted; the outermost value is level 1. The seeds need 4.
pub const MAX_DEPTH: usize = 32;

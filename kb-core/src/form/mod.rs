//! The fields of a record in the order in which a reader sees them, for forms: where each stands, in which of the two texts, and how
//! it is put in. A form reads the texts through them and writes back what was changed, and nothing else.

mod fields;
mod rows;
#[cfg(test)]
mod tests;
mod values;

pub use fields::{Column, Field, Input, SECTIONS, Section, field};
pub use rows::{RowEdit, edit_row, parse_row_edit};
pub use values::{Refused, Texts, read, write};

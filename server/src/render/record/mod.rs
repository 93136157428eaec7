//! What readers are shown of a record, as values for its page and as plain text. What works stands before dead ends; rates
//! never without who vouches for them.

pub mod first;
pub mod markdown;
pub mod neighbours;
mod sources;
pub mod text;
pub mod texts;
pub mod tier;
mod verdict;
mod view;

pub use view::{ExampleView, NearMissView, Notice, RecordView, Source, view};

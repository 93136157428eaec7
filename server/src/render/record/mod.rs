//! What readers are shown of a record, as values for its page and as plain text. Dead ends stand before what works; rates
//! never without who vouches for them.

pub mod neighbours;
pub mod text;
pub mod texts;
pub mod tier;
mod view;

pub use view::{ExampleView, NearMissView, Notice, RecordView, Source, view};

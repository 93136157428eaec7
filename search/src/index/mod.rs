//! The index: its fields, the writer that follows the feed, the snapshot of each generation, and an index that is carried elsewhere.

pub mod carried;
mod document;
mod facet_values;
mod fields;
mod indexer;
mod search_index;
mod snapshot;

pub(super) use facet_values::{Facet, FacetValues, ValueNumber};
pub(super) use fields::FieldText;
pub(super) use snapshot::Snapshot;

pub use document::{SearchDoc, comparable_code};
pub use indexer::{Edit, Indexer, Slot};
pub use search_index::{PendingIndex, SearchIndex};

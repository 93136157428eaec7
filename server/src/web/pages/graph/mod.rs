//! The graph pages: what lies around a record, the way from one error to another, the map of the domains.
//!
//! ```text
//! around   a record            sketch   its nodes in columns
//! way      between two         map, between  domains, and the edges between two
//! drawing  boxes and lines     order, lines, label   their places and words
//! ```

pub mod around;
pub mod between;
mod drawing;
mod items;
mod label;
mod lines;
pub mod map;
mod order;
mod sketch;
pub mod way;

pub(in crate::web) use around::href as around_href;
pub use drawing::{Drawing, NodeBox, TextLine};
pub use items::{Choice, EdgeView, EndView, edge_view};
pub use lines::Line;
pub(in crate::web) use sketch::around as sketch_around;

//! Databases to test on, and records to put in.

mod child;
mod engine;
mod texts;

pub(crate) use child::{Child, child_value};
pub(crate) use engine::{Engine, Place, on};
pub(crate) use texts::{at, draft, id, publish, published, record, record_with, report, revision, seed};

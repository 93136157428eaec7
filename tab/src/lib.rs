//! Matching in a browser's tab: a log is read where it lies, and nothing of it is sent. The engine is that of the server, and so is
//! the answer, except for candidates: these come from an index that the tab does not have.
//!
//! ```text
//! pack      what a tab needs of the records, as the server gives it out
//! knowledge all records of a pack, compiled
//! answer    what is found, as `POST /api/v1/match` says it
//! reading   one log from its first byte to its last, in pieces
//! browser   the module's door for the worker's script; in WebAssembly only
//! ```

mod answer;
#[cfg(target_arch = "wasm32")]
mod browser;
mod knowledge;
mod pack;
mod reading;

pub use answer::Answer;
pub use knowledge::Knowledge;
pub use pack::{ENGINE, Pack, PackedRecord, UnreadablePack};
pub use reading::{ReadError, Reading};

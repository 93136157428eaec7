//! Matching in a browser's tab: a log is read where it lies, and nothing of it is sent. The engine is that of the server, and so is
//! the answer, except for candidates, which the tab does not look for. On a site without a server it also searches the records.
//!
//! ```text
//! pack      what a tab needs of the records, as the server gives it out
//! knowledge all records of a pack, compiled
//! answer    what is found, as `POST /api/v1/match` says it
//! reading   one log from its first byte to its last, in pieces
//! finding   the search of a site without a server
//! browser   the module's door for the worker's script; in WebAssembly only
//! ```

mod answer;
#[cfg(target_arch = "wasm32")]
mod browser;
mod finding;
mod knowledge;
mod pack;
mod reading;

pub use answer::Answer;
pub use finding::{FindRequest, Finder, FinderError, FinderPack};
pub use knowledge::Knowledge;
pub use pack::{ENGINE, Pack, PackedRecord, UnreadablePack};
pub use reading::{ReadError, Reading};

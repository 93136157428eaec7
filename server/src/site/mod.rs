//! A site of files: all pages that need no server, and the search and the reading of logs, which run in the reader's browser.
//!
//! ```text
//! folder    a folder that is this room's own, and what it says of itself
//! layout    what every page has around its content
//! lists, home, record    the pages; their bodies are those of the server's pages
//! data      what only scripts read, packed
//! notes     what a host is told: headers, how to give it out
//! write     all of it, in order
//! ```

mod data;
mod folder;
mod home;
mod layout;
mod lean;
mod lists;
mod notes;
mod record;
mod write;

pub use folder::{FolderError, MANIFEST};
pub use write::{Module, SiteError, Written, write};

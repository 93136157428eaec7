//! The site's policy on the server: read from its file, chosen for each node, and what it changes.
//!
//! ```text
//! file     policy.toml, read strictly       stages    which nodes have which policy
//! version  of all that decides              site      what one node is judged by
//! replay   what it would have said of stored reports      names   the ids that records go by
//! ```

pub mod file;
pub mod names;
pub mod replay;
mod site;
mod stages;
pub mod version;

pub use file::{FileError, read};
pub use site::{Site, said_of_run, site_of};
pub use stages::Stages;

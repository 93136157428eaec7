//! Why the server did not start, and what to do about it.

use std::io;
use std::path::PathBuf;

use crate::clock::RandomError;
use crate::store::StoreError;

/// Why the server did not start. The text is for the operator: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartupError {
    #[error(
        "cannot listen on {0}: the address is already in use; stop the other program, or choose another with --listen"
    )]
    PortInUse(String),
    /// The address cannot be had for another reason.
    #[error("cannot listen on {address}: {source}; choose another with --listen ADDR:PORT")]
    Listen { address: String, source: io::Error },
    #[error(
        "cannot make the data folder {}: {source}; make it writable for this user, or choose another with --data-dir",
        path.display()
    )]
    DataDir { path: PathBuf, source: io::Error },
    #[error(
        "cannot write to the data folder {}: {source}; make it writable for this user, or choose another with --data-dir",
        path.display()
    )]
    ReadOnlyDataDir { path: PathBuf, source: io::Error },
    #[error("cannot use the database {url}: {source}")]
    Store {
        /// Its URL, without password.
        url: String,
        source: StoreError,
    },
    /// A record that is embedded in this program is unreadable.
    #[error("the records in this program are damaged: {0}; this is a fault of the build")]
    Seeds(String),
    #[error("{0}")]
    Demo(String),
    #[error("cannot serve the module for browsers: {0}")]
    Tab(String),
    #[error("cannot set up OpenID Connect: {0}")]
    OpenId(String),
    #[error("cannot set up webhook or Alertmanager: {0}")]
    Tell(String),
    #[error("the policy {} is refused: {why}", .path.display())]
    Policy { path: PathBuf, why: String },
    #[error("cannot hash passwords: {0}")]
    Passwords(String),
    #[error("cannot build matcher and index from the database: {0}")]
    Knowledge(String),
    #[error(
        "the address space of this process is limited to {limit} MB, and the server needs {least} MB of it (of memory far \
         less): raise the limit (ulimit -v, prlimit --as, LimitAS=), and limit memory by a control group (MemoryMax=) instead"
    )]
    Addresses { limit: u64, least: u64 },
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error("cannot set up metrics: {0}")]
    Metrics(String),
    #[error("the server stopped: {0}")]
    Server(#[from] io::Error),
}

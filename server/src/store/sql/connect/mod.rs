//! From a URL to a store: the URL chooses the engine.

mod backup;
mod opened_file;
mod postgres;
mod sqlite;
mod target;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use backup::{Backup, BackupError, backup};
pub(super) use opened_file::OpenedFile;
pub(super) use postgres::migrate as migrate_postgres;
pub(super) use sqlite::migrate as migrate_sqlite;
pub(super) use target::Target;

use crate::store::{Store, StoreError};

#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// Bring the database to this program's state first. Else a database that is behind is refused.
    pub migrate: bool,
    /// SQLite: connections for reading, beside the one that writes.
    pub sqlite_readers: u32,
    pub postgres_connections: u32,
    /// How long to wait for another process's lock, or for a free connection.
    pub patience: Duration,
    pub statement_limit: Duration,
    /// SQLite: size in bytes that the database file may reach; `None`: what the disk holds.
    pub sqlite_max_bytes: Option<u64>,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            migrate: true,
            sqlite_readers: 4,
            postgres_connections: 10,
            patience: Duration::from_secs(10),
            statement_limit: Duration::from_secs(20),
            sqlite_max_bytes: None,
        }
    }
}

/// Opens the store at `url`: `postgres://…`, `sqlite:PATH` or a path. A missing SQLite file is made, for its owner only.
pub async fn connect(url: &str, options: &ConnectOptions) -> Result<Arc<dyn Store>, StoreError> {
    match Target::parse(url)? {
        Target::Sqlite(path) => Ok(Arc::new(sqlite::connect(&path, options).await?)),
        Target::Postgres(target) => Ok(Arc::new(postgres::connect(*target, options).await?)),
    }
}

/// The file that [`connect`] would open, or make, at `url`; `None` where a server has the database. Opens nothing.
///
/// # Errors
///
/// [`StoreError::Open`] where `url` names no database that is known.
pub fn sqlite_file(url: &str) -> Result<Option<PathBuf>, StoreError> {
    match Target::parse(url)? {
        Target::Sqlite(path) => Ok(Some(path)),
        Target::Postgres(_) => Ok(None),
    }
}

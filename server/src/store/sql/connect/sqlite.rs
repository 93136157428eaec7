//! SQLite: one file, one connection that writes, several that read.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection as _, Sqlite, SqliteConnection};

use super::{ConnectOptions, OpenedFile};
use crate::store::StoreError;
use crate::store::sql::dialect::Dialect as _;
use crate::store::sql::migrate::{self, Migrated};
use crate::store::sql::session::SqlStore;

/// The file is mapped into memory up to this size; reads beyond go through the cache.
const MMAP_BYTES: &str = "268435456";
/// Cache of one connection, in KiB (SQLite takes a negative number for that).
const CACHE: &str = "-8192";
/// What is left of the write-ahead log's file after a checkpoint, in bytes.
const JOURNAL_BYTES: &str = "67108864";
/// Page size of a new database in bytes (SQLite's default).
const PAGE_BYTES: u32 = 4096;
/// SQLite's result code of a file that another connection holds.
const SQLITE_BUSY: i32 = 5;
/// Pause before a file that is locked is opened again.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

pub(super) async fn connect(path: &Path, options: &ConnectOptions) -> Result<SqlStore<Sqlite>, StoreError> {
    make_file(path)?;
    let writer_options = writer_options(path, options);
    let mut first = open(path, &writer_options, options.patience).await?;
    let checked = prepare(path, &mut first, options).await;
    first.close().await?;
    checked.map_err(|error| located(path, error))?;

    let writers = pool(1, options).connect_lazy_with(writer_options);
    let reader_options = base_options(path, options).pragma("query_only", "ON");
    let readers = pool(options.sqlite_readers.max(1), options).connect_lazy_with(reader_options);
    Ok(SqlStore {
        readers,
        writers,
        file: Some(OpenedFile::at(path)?),
        statement_limit: options.statement_limit,
    })
}

/// Migrates the file's tables, and no more.
pub(in crate::store) async fn migrate(path: &Path, options: &ConnectOptions) -> Result<Migrated, StoreError> {
    make_file(path)?;
    let mut connection = open(path, &writer_options(path, options), options.patience).await?;
    let migrated = migrate::sqlite(&mut connection).await;
    connection.close().await?;
    migrated.map_err(|error| located(path, error))
}

async fn prepare(
    path: &Path,
    connection: &mut SqliteConnection,
    options: &ConnectOptions,
) -> Result<(), StoreError> {
    Sqlite::check_writer(connection).await?;
    refuse_foreign_tables(path, connection).await?;
    if options.migrate {
        migrate::sqlite(connection).await?;
        return Ok(());
    }
    migrate::check_sqlite(connection).await
}

/// A file of another program is left alone.
async fn refuse_foreign_tables(path: &Path, connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let sql = "SELECT COUNT(*) FILTER (WHERE name = '_sqlx_migrations'), COUNT(*) \
        FROM sqlite_schema WHERE type = 'table'";
    let (migrations, tables): (i64, i64) = sqlx::query_as(sql).fetch_one(connection).await?;
    if migrations == 0 && tables > 0 {
        return Err(refusal(path, "it holds tables of another program"));
    }
    Ok(())
}

fn pool(connections: u32, options: &ConnectOptions) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(options.patience)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

pub(super) fn base_options(path: &Path, options: &ConnectOptions) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .foreign_keys(true)
        .busy_timeout(options.patience)
        .pragma("mmap_size", MMAP_BYTES)
        .pragma("cache_size", CACHE)
}

fn writer_options(path: &Path, options: &ConnectOptions) -> SqliteConnectOptions {
    let writer = base_options(path, options)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("journal_size_limit", JOURNAL_BYTES);
    match options.sqlite_max_bytes {
        Some(bytes) => writer.pragma(
            "max_page_count",
            (bytes / u64::from(PAGE_BYTES)).max(1).to_string(),
        ),
        None => writer,
    }
}

/// Makes the folder and the file, for their owner only, so that SQLite's own files beside it are so too.
fn make_file(path: &Path) -> Result<(), StoreError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|error| file_error(folder, &error))?;
    }
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map(drop)
        .map_err(|error| file_error(path, &error))
}

fn file_error(path: &Path, error: &io::Error) -> StoreError {
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly(text),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            StoreError::Full(text)
        }
        _ => refusal(path, &error.to_string()),
    }
}

fn refusal(path: &Path, reason: &str) -> StoreError {
    StoreError::Open {
        url: format!("sqlite:{}", path.display()),
        reason: reason.to_owned(),
    }
}

/// The connection that writes; the first to open a new file also turns its write-ahead log on.
///
/// Where several programs do that at once, SQLite calls the file locked without asking its busy handler, for to wait
/// could be a deadlock (<https://www.sqlite.org/c3ref/busy_handler.html>). Whoever lost tries again.
async fn open(
    path: &Path,
    options: &SqliteConnectOptions,
    patience: Duration,
) -> Result<SqliteConnection, StoreError> {
    let until_free = async {
        loop {
            match SqliteConnection::connect_with(options).await {
                Err(error) if primary_code(&error) == Some(SQLITE_BUSY) => {
                    tokio::time::sleep(BUSY_PAUSE).await;
                }
                result => return result,
            }
        }
    };
    let opened = match tokio::time::timeout(patience, until_free).await {
        Ok(opened) => opened,
        Err(_) => SqliteConnection::connect_with(options).await,
    };
    opened.map_err(|error| open_error(path, error))
}

/// SQLite's result code without what extends it.
pub(super) fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code = error.as_database_error().and_then(DatabaseError::code)?;
    Some(code.parse::<i32>().ok()? & 0xff)
}

/// The error of a file that is there and cannot be opened or read.
pub(super) fn open_error(path: &Path, error: sqlx::Error) -> StoreError {
    match primary_code(&error) {
        // SQLITE_CANTOPEN: the file itself was opened before, so it is the log beside it that cannot be made.
        Some(14) => StoreError::ReadOnly(format!(
            "{}: cannot make files beside it, its folder must be writable ({error})",
            path.display()
        )),
        // SQLITE_NOTADB
        Some(26) => refusal(path, "the file is not a SQLite database"),
        // SQLITE_CORRUPT
        Some(11) => refusal(path, &format!("the file is damaged ({error})")),
        _ => located(path, StoreError::from(error)),
    }
}

/// The error with the file's name, which SQLite does not say.
pub(super) fn located(path: &Path, error: StoreError) -> StoreError {
    let path = path.display();
    match error {
        StoreError::ReadOnly(text) => StoreError::ReadOnly(format!(
            "{path}: {text}; the file and its folder must be writable"
        )),
        StoreError::Full(text) => StoreError::Full(format!("{path}: {text}")),
        StoreError::Unavailable(text) => StoreError::Unavailable(format!("{path}: {text}")),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use sqlx::Executor as _;

    use super::*;

    #[tokio::test]
    async fn a_writer_that_would_not_sync_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = connect(&folder.path().join("a.db"), &ConnectOptions::default())
            .await
            .unwrap();
        store.begin_write().await.unwrap().commit().await.unwrap();
        for lax in ["PRAGMA synchronous = NORMAL", "PRAGMA synchronous = OFF"] {
            store.writers.acquire().await.unwrap().execute(lax).await.unwrap();
            let error = store.begin_write().await.err();
            assert!(
                matches!(error, Some(StoreError::NotDurable(_))),
                "{lax}: {error:?}"
            );
        }
        store
            .writers
            .acquire()
            .await
            .unwrap()
            .execute("PRAGMA synchronous = EXTRA")
            .await
            .unwrap();
        store.begin_write().await.unwrap();
    }

    #[tokio::test]
    async fn readers_cannot_write() {
        let folder = tempfile::tempdir().unwrap();
        let store = connect(&folder.path().join("a.db"), &ConnectOptions::default())
            .await
            .unwrap();
        let mut reader = store.readers.acquire().await.unwrap();
        reader.execute("UPDATE counter SET value = 7").await.unwrap_err();
    }
}

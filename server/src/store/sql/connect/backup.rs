//! A copy of a SQLite database, taken while servers read and write it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use sqlx::error::DatabaseError;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};
use tempfile::NamedTempFile;

use super::sqlite::{base_options, located, open_error, primary_code};
use super::{ConnectOptions, Target};
use crate::store::StoreError;
use kb_core::ids::Seq;

/// SQLite's result code of a database whose pages make no sense.
const SQLITE_CORRUPT: i32 = 11;
/// SQLite's result code of a file that is no database.
const SQLITE_NOTADB: i32 = 26;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backup {
    /// Size of the file in bytes.
    pub bytes: u64,
    pub migration: i64,
    /// Newest change of the records in the copy.
    pub seq: Seq,
}

/// Why there is no backup. Nothing is left behind, but where the folder itself cannot be synced: then the whole copy is
/// there under its name, and may be gone after a power failure.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("a PostgreSQL database is saved by its own tools: pg_dump --format=custom --file={} URL", .0.display())]
    Postgres(PathBuf),
    #[error("{} is there already: name a new file", .0.display())]
    Exists(PathBuf),
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// SQLite takes only names that are text.
    #[error("{}: the folder's path must be UTF-8", .0.display())]
    NotText(PathBuf),
    /// The copy cannot be written, or the database not be read to its end.
    #[error("{}, copied from {}: {reason}", to.display(), from.display())]
    Copy {
        to: PathBuf,
        from: PathBuf,
        reason: sqlx::Error,
    },
    #[error("{} is not a database of peerless", .0.display())]
    Foreign(PathBuf),
    /// The copy does not hold what the database held.
    #[error("the copy is not sound, and was removed: {0}")]
    Unsound(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Copies the SQLite database at `url` into the new file `file`, readable to its owner alone.
///
/// The copy is of one moment, whatever is written meanwhile (`VACUUM INTO`,
/// <https://www.sqlite.org/lang_vacuum.html#vacuuminto>). It is checked and on disk before it gets its name, so that
/// a file of this name is a whole backup. A database that is behind this program is copied as it is.
pub async fn backup(url: &str, file: &Path) -> Result<Backup, BackupError> {
    let source = match Target::parse(url)? {
        Target::Sqlite(path) => path,
        Target::Postgres(_) => return Err(BackupError::Postgres(file.to_owned())),
    };
    let refused = |source| BackupError::File {
        path: file.to_owned(),
        source,
    };
    if file.symlink_metadata().is_ok() {
        return Err(BackupError::Exists(file.to_owned()));
    }
    let file_path = std::path::absolute(file).map_err(refused)?;
    let folder = file_path.parent().unwrap_or(&file_path).to_owned();
    if folder.to_str().is_none() {
        return Err(BackupError::NotText(folder));
    }
    let part = NamedTempFile::with_prefix_in(".peerless-backup-", &folder).map_err(refused)?;
    let held = copy(&source, part.path(), file).await?;
    part.as_file().sync_all().map_err(refused)?;
    let bytes = part.as_file().metadata().map_err(refused)?.len();
    part.persist_noclobber(&file_path)
        .map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => BackupError::Exists(file.to_owned()),
            _ => refused(error.error),
        })?;
    File::open(&folder)
        .and_then(|folder| folder.sync_all())
        .map_err(refused)?;
    Ok(Backup {
        bytes,
        migration: held.migration,
        seq: held.seq,
    })
}

/// What tells a database of this program, and how far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    migration: i64,
    seq: Seq,
}

/// `file` is the name that the copy at `part` will have.
async fn copy(source: &Path, part: &Path, file: &Path) -> Result<Held, BackupError> {
    let failed = |error| unread(source, error);
    let options = base_options(source, &ConnectOptions::default());
    let mut connection = SqliteConnection::connect_with(&options).await.map_err(failed)?;
    let before = held(&mut connection).await.map_err(failed)?;
    let before = before.ok_or_else(|| BackupError::Foreign(source.to_owned()))?;
    let into = sqlx::query("VACUUM INTO $1").bind(part.to_string_lossy().into_owned());
    let copied = into.execute(&mut connection).await;
    connection.close().await.map_err(failed)?;
    copied.map_err(|reason| BackupError::Copy {
        to: file.to_owned(),
        from: source.to_owned(),
        reason,
    })?;
    let after = check(part)
        .await
        .map_err(|reason| BackupError::Unsound(reason.to_string()))?;
    if after.migration < before.migration || after.seq < before.seq {
        let reason = format!("it holds {after:?}, the database held {before:?}");
        return Err(BackupError::Unsound(reason));
    }
    Ok(after)
}

/// Why the database at `source` cannot be read. Only what another program would leave there calls it foreign: whoever
/// is told that of his own damaged database looks for the fault in the wrong place.
fn unread(source: &Path, error: sqlx::Error) -> BackupError {
    let lacks_our_tables = |refusal: &dyn DatabaseError| refusal.message().starts_with("no such ");
    match (&error, primary_code(&error)) {
        (_, Some(SQLITE_NOTADB)) | (sqlx::Error::ColumnDecode { .. }, _) => {
            BackupError::Foreign(source.to_owned())
        }
        (_, Some(SQLITE_CORRUPT)) => BackupError::Store(open_error(source, error)),
        (sqlx::Error::Database(refusal), _) if lacks_our_tables(refusal.as_ref()) => {
            BackupError::Foreign(source.to_owned())
        }
        _ => BackupError::Store(located(source, error.into())),
    }
}

/// `None` where the tables are there and say nothing.
async fn held(connection: &mut SqliteConnection) -> Result<Option<Held>, sqlx::Error> {
    let sql =
        "SELECT (SELECT MAX(version) FROM _sqlx_migrations), (SELECT value FROM counter WHERE name = 'feed')";
    let (migration, seq): (Option<i64>, Option<i64>) = sqlx::query_as(sql).fetch_one(connection).await?;
    Ok(migration.zip(seq).map(|(migration, seq)| Held {
        migration,
        seq: Seq(seq),
    }))
}

/// Opens the copy and reads every page and index of it. Nobody else knows the file, so nothing is made beside it.
async fn check(part: &Path) -> Result<Held, sqlx::Error> {
    let options = SqliteConnectOptions::new()
        .filename(part)
        .read_only(true)
        .immutable(true);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    let told: String = sqlx::query_scalar("PRAGMA integrity_check(1)")
        .fetch_one(&mut connection)
        .await?;
    if told != "ok" {
        return Err(sqlx::Error::Protocol(told));
    }
    let held = held(&mut connection).await?;
    connection.close().await?;
    held.ok_or_else(|| sqlx::Error::Protocol("it says of no migration".to_owned()))
}

#[cfg(test)]
mod tests {
    use sqlx::Executor as _;

    use super::super::sqlite::migrate;
    use super::*;
    use crate::store::connect;

    #[tokio::test]
    async fn what_hinders_the_copy_is_told_with_the_name_it_would_have() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("source.db");
        connect(&source.to_string_lossy(), &ConnectOptions::default())
            .await
            .unwrap();
        // SQLite copies into no file that holds something.
        let part = folder.path().join("part");
        std::fs::write(&part, "precious").unwrap();
        let file = Path::new("/backups/new.db");
        let error = copy(&source, &part, file).await.unwrap_err().to_string();
        let wanted = format!("/backups/new.db, copied from {}: ", source.display());
        assert!(error.starts_with(&wanted), "{error}");
    }

    /// A database of this program that nobody has open.
    async fn made(path: &Path) {
        migrate(path, &ConnectOptions::default()).await.unwrap();
    }

    async fn sql(path: &Path, sql: &'static str) {
        let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        connection.execute(sql).await.unwrap();
        connection.close().await.unwrap();
    }

    #[tokio::test]
    async fn a_damaged_database_is_not_called_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("source.db");
        made(&source).await;
        let mut bytes = std::fs::read(&source).unwrap();
        // The first page, which lists the tables, stays whole.
        bytes[4096..].fill(0xff);
        std::fs::write(&source, bytes).unwrap();
        let part = folder.path().join("part");
        let error = copy(&source, &part, Path::new("new.db")).await.unwrap_err();
        assert!(
            matches!(error, BackupError::Store(StoreError::Open { .. })),
            "{error}"
        );
        let told = error.to_string();
        assert!(
            told.contains("source.db") && told.contains("database disk image is malformed"),
            "{told}"
        );
    }

    #[tokio::test]
    async fn what_is_not_of_this_program_is_called_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(
            path("text"),
            "no database at all, and long enough for a header. ".repeat(100),
        )
        .unwrap();
        sql(&path("others"), "CREATE TABLE a (b)").await;
        sql(
            &path("alike"),
            "CREATE TABLE _sqlx_migrations (version); CREATE TABLE counter (of)",
        )
        .await;
        for (name, change) in [
            ("unmigrated", "DELETE FROM _sqlx_migrations"),
            ("uncounted", "DELETE FROM counter"),
        ] {
            made(&path(name)).await;
            sql(&path(name), change).await;
        }
        for name in ["text", "others", "alike", "unmigrated", "uncounted"] {
            let error = copy(&path(name), &path("part"), Path::new("new.db"))
                .await
                .unwrap_err();
            assert!(matches!(error, BackupError::Foreign(_)), "{name}: {error}");
        }
    }
}

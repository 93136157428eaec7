//! The few places where the engines need different words.

use sqlx::{Database, PgConnection, Postgres, Sqlite, SqliteConnection};

use crate::store::StoreError;

pub(super) trait Dialect: Database {
    /// Begins a transaction that reads one consistent state throughout.
    const BEGIN_READ: &'static str;

    const BEGIN_WRITE: &'static str;

    /// Reads where a record stands and keeps other writers off it: `id` -> head revision, published revision.
    const LOCK_RECORD: &'static str;

    /// Reads the newest seq and keeps other publishers waiting until this transaction ends: seqs are committed in order.
    const LOCK_FEED: &'static str;

    /// Makes the commit of a transaction reach the disk, and changes nothing.
    const WRITE_NOTHING: &'static str;

    /// Refuses a connection on which a commit would not be on disk.
    fn check_writer(connection: &mut Self::Connection)
    -> impl Future<Output = Result<(), StoreError>> + Send;
}

impl Dialect for Sqlite {
    const BEGIN_READ: &'static str = "BEGIN DEFERRED";
    // The write lock first: a transaction that reads and then wants to write can be refused without a wait.
    const BEGIN_WRITE: &'static str = "BEGIN IMMEDIATE";
    const LOCK_RECORD: &'static str = "SELECT head_revision, published_revision FROM record WHERE id = $1";
    const LOCK_FEED: &'static str = "SELECT value FROM counter WHERE name = 'feed'";
    // The file's header is written again as it is; no program reads this number.
    const WRITE_NOTHING: &'static str = "PRAGMA user_version = 0";

    async fn check_writer(connection: &mut SqliteConnection) -> Result<(), StoreError> {
        /// `PRAGMA synchronous`: 0 off, 1 normal, 2 full, 3 extra.
        const FULL: i64 = 2;
        let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous")
            .fetch_one(&mut *connection)
            .await?;
        if synchronous < FULL {
            return Err(StoreError::NotDurable(format!(
                "PRAGMA synchronous is {synchronous}, {FULL} (FULL) was asked for"
            )));
        }
        let journal: String = sqlx::query_scalar("PRAGMA journal_mode")
            .fetch_one(connection)
            .await?;
        if journal != "wal" {
            return Err(StoreError::NotDurable(format!(
                "PRAGMA journal_mode is {journal}, wal was asked for"
            )));
        }
        Ok(())
    }
}

impl Dialect for Postgres {
    const BEGIN_READ: &'static str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    // Each statement sees what was committed when it began: after a wait for a row lock, also what the lock's holder did.
    const BEGIN_WRITE: &'static str =
        "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = '10s'";
    const LOCK_RECORD: &'static str =
        "SELECT head_revision, published_revision FROM record WHERE id = $1 FOR UPDATE";
    const LOCK_FEED: &'static str = "SELECT value FROM counter WHERE name = 'feed' FOR UPDATE";
    // A transaction with a number of its own is written to the log when it commits.
    const WRITE_NOTHING: &'static str = "SELECT txid_current()";

    async fn check_writer(_: &mut PgConnection) -> Result<(), StoreError> {
        // Checked where the pool is made: the setting belongs to the database, not to the connection.
        Ok(())
    }
}

//! Bringing a database to this program's tables.

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{Connection as _, PgConnection, SqliteConnection};

use super::StoreError;
use super::connect::{ConnectOptions, Target, migrate_postgres, migrate_sqlite};

static SQLITE: Migrator = sqlx::migrate!("../migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("../migrations/postgres");

/// What migrating did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// Newest migration before; 0: an empty database.
    pub from: i64,
    /// Newest migration now.
    pub to: i64,
}

/// Migrates the database at `url` and closes it. Two programs may do so at the same time.
pub async fn migrate(url: &str) -> Result<Migrated, StoreError> {
    match Target::parse(url)? {
        Target::Sqlite(path) => migrate_sqlite(&path, &ConnectOptions::default()).await,
        Target::Postgres(target) => migrate_postgres(&target).await,
    }
}

/// All pending migrations in one transaction, which holds the write lock from its start: of two programs the second
/// waits and then finds nothing to do.
pub(super) async fn sqlite(connection: &mut SqliteConnection) -> Result<Migrated, StoreError> {
    let mut tx = connection.begin_with("BEGIN IMMEDIATE").await?;
    let from = newest_sqlite(&mut tx).await;
    if let Err(error) = SQLITE.run(&mut *tx).await {
        return Err(refusal(error, from, &SQLITE));
    }
    tx.commit().await?;
    Ok(Migrated {
        from,
        to: known(&SQLITE),
    })
}

/// Each pending migration in its transaction, all under a lock that belongs to this connection.
pub(super) async fn postgres(connection: &mut PgConnection) -> Result<Migrated, StoreError> {
    let from = newest_postgres(connection).await;
    match POSTGRES.run(&mut *connection).await {
        Ok(()) => Ok(Migrated {
            from,
            to: known(&POSTGRES),
        }),
        Err(error) => Err(refusal(error, newest_postgres(connection).await, &POSTGRES)),
    }
}

/// Refuses a database that is not at this program's state.
pub(super) async fn check_sqlite(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    compare(newest_sqlite(connection).await, known(&SQLITE))
}

/// As [`check_sqlite`].
pub(super) async fn check_postgres(connection: &mut PgConnection) -> Result<(), StoreError> {
    compare(newest_postgres(connection).await, known(&POSTGRES))
}

fn compare(found: i64, known: i64) -> Result<(), StoreError> {
    match found.cmp(&known) {
        std::cmp::Ordering::Less => Err(StoreError::OlderDatabase { found, known }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(StoreError::NewerDatabase { found, known }),
    }
}

const NEWEST: &str = "SELECT COALESCE(MAX(version), 0) FROM _sqlx_migrations";

/// Newest migration applied; 0 where the table of migrations is not there.
async fn newest_sqlite(connection: &mut SqliteConnection) -> i64 {
    sqlx::query_scalar(NEWEST)
        .fetch_one(connection)
        .await
        .unwrap_or(0)
}

/// As [`newest_sqlite`].
async fn newest_postgres(connection: &mut PgConnection) -> i64 {
    sqlx::query_scalar(NEWEST)
        .fetch_one(connection)
        .await
        .unwrap_or(0)
}

fn known(migrator: &Migrator) -> i64 {
    migrator
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap_or(0)
}

fn refusal(error: MigrateError, found: i64, migrator: &Migrator) -> StoreError {
    match error {
        MigrateError::VersionMissing(version) => StoreError::NewerDatabase {
            found: found.max(version),
            known: known(migrator),
        },
        // What hinders any write hinders this one: say it in the same words.
        MigrateError::Execute(error) => StoreError::from(error),
        MigrateError::ExecuteMigration(error, version) => match StoreError::from(error) {
            StoreError::Database(error) => {
                StoreError::Migration(Box::new(MigrateError::ExecuteMigration(error, version)))
            }
            known => known,
        },
        other => StoreError::Migration(Box::new(other)),
    }
}

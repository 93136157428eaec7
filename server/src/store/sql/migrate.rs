//! Bringing a database to this program's tables.

use sqlx::migrate::{Migrate, MigrateError, Migrator};
use sqlx::{Connection as _, PgConnection, SqliteConnection};

use super::connect::{ConnectOptions, Target, migrate_postgres, migrate_sqlite};
use crate::store::StoreError;

static SQLITE: Migrator = sqlx::migrate!("../migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("../migrations/postgres");

/// Where the driver keeps what was applied.
const TABLE: &str = "_sqlx_migrations";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// Newest migration before; 0: an empty database.
    pub from: i64,
    pub to: i64,
}

/// Migrates the database at `url` and closes it. Two programs may do so at the same time.
pub async fn migrate(url: &str) -> Result<Migrated, StoreError> {
    match Target::parse(url)? {
        Target::Sqlite(path) => migrate_sqlite(&path, &ConnectOptions::default()).await,
        Target::Postgres(target) => migrate_postgres(&target).await,
    }
}

/// All pending migrations in one transaction with the write lock: of two programs the second waits, then has nothing to do.
pub(super) async fn sqlite(connection: &mut SqliteConnection) -> Result<Migrated, StoreError> {
    let mut tx = connection.begin_with("BEGIN IMMEDIATE").await?;
    let migrated = apply_pending(&mut *tx, &SQLITE).await?;
    tx.commit().await?;
    Ok(migrated)
}

/// Each pending migration in its transaction, all under a lock that goes with the connection.
pub(super) async fn postgres(connection: &mut PgConnection) -> Result<Migrated, StoreError> {
    connection.lock().await.map_err(refusal)?;
    let migrated = apply_pending(connection, &POSTGRES).await?;
    connection.unlock().await.map_err(refusal)?;
    Ok(migrated)
}

async fn apply_pending<C: Migrate>(connection: &mut C, migrator: &Migrator) -> Result<Migrated, StoreError> {
    connection.ensure_migrations_table(TABLE).await.map_err(refusal)?;
    if let Some(version) = connection.dirty_version(TABLE).await.map_err(refusal)? {
        return Err(refusal(MigrateError::Dirty(version)));
    }
    let applied = connection.list_applied_migrations(TABLE).await.map_err(refusal)?;
    let from = applied
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap_or(0);
    let known = known(migrator);
    if from > known {
        return Err(StoreError::NewerDatabase { found: from, known });
    }
    for migration in migrator.iter() {
        let before = applied
            .iter()
            .find(|applied| applied.version == migration.version);
        match before {
            Some(before) if before.checksum != migration.checksum => {
                return Err(refusal(MigrateError::VersionMismatch(migration.version)));
            }
            Some(_) => {}
            None => {
                connection.apply(TABLE, migration).await.map_err(refusal)?;
            }
        }
    }
    Ok(Migrated { from, to: known })
}

pub(super) async fn check_sqlite(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    compare(newest_sqlite(connection).await, known(&SQLITE))
}

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

fn refusal(error: MigrateError) -> StoreError {
    match error {
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

//! PostgreSQL: one pool that reads and writes.

use sqlx::error::DatabaseError;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, Postgres};

use super::ConnectOptions;
use crate::store::StoreError;
use crate::store::sql::migrate::{self, Migrated};
use crate::store::sql::session::SqlStore;

pub(super) async fn connect(
    target: PgConnectOptions,
    options: &ConnectOptions,
) -> Result<SqlStore<Postgres>, StoreError> {
    // Alone first: a pool would repeat a hopeless attempt until its time is up and then say "timed out".
    let mut first = open(&target).await?;
    let checked = prepare(&mut first, &target, options).await;
    first.close().await?;
    checked?;

    let pool = PgPoolOptions::new()
        .max_connections(options.postgres_connections.max(1))
        .acquire_timeout(options.patience)
        .connect_lazy_with(limited(target, options));
    Ok(SqlStore {
        readers: pool.clone(),
        writers: pool,
        file: None,
        statement_limit: options.statement_limit,
    })
}

/// A time limit in the server, for clients that stopped waiting. Migrations run without one, on connections of their own.
fn limited(target: PgConnectOptions, options: &ConnectOptions) -> PgConnectOptions {
    let milliseconds = options.statement_limit.as_millis();
    target.options([("statement_timeout", format!("{milliseconds}ms"))])
}

pub(in crate::store) async fn migrate(target: &PgConnectOptions) -> Result<Migrated, StoreError> {
    let mut connection = open(target).await?;
    let migrated = migrate::postgres(&mut connection).await;
    // Closed even on failure: the lock of migrating belongs to the connection.
    connection.close().await?;
    migrated
}

async fn prepare(
    connection: &mut PgConnection,
    target: &PgConnectOptions,
    options: &ConnectOptions,
) -> Result<(), StoreError> {
    let sql = "SELECT current_setting('server_encoding'), current_setting('synchronous_commit')";
    let (encoding, commit): (String, String) = sqlx::query_as(sql).fetch_one(&mut *connection).await?;
    if encoding != "UTF8" {
        let reason = format!("its encoding is {encoding}: records need a database made with ENCODING 'UTF8'");
        return Err(refusal(target, reason));
    }
    if commit == "off" {
        return Err(StoreError::NotDurable("synchronous_commit is off".to_owned()));
    }
    if options.migrate {
        migrate::postgres(connection).await?;
        return Ok(());
    }
    migrate::check_postgres(connection).await
}

async fn open(target: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    target.connect().await.map_err(|error| {
        let code = error.as_database_error().and_then(DatabaseError::code);
        match code.as_deref() {
            // invalid_password, invalid_authorization_specification, invalid_catalog_name
            Some("28P01" | "28000" | "3D000") => refusal(target, error.to_string()),
            _ => StoreError::from(error),
        }
    })
}

fn refusal(target: &PgConnectOptions, reason: String) -> StoreError {
    let database = target.get_database().unwrap_or_default();
    let url = format!(
        "postgres://{}:{}/{database}",
        target.get_host(),
        target.get_port()
    );
    StoreError::Open { url, reason }
}

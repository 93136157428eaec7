//! A connection in use: statements in, rows out, errors in the store's words.

use std::future::Future;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use async_trait::async_trait;
use sqlx::Pool;
use sqlx::pool::PoolConnection;

use super::connect::OpenedFile;
use super::dialect::Dialect;
use super::engine::{Engine, Statement, Value};
use crate::store::{Store, StoreError};

#[derive(Debug)]
pub(super) struct SqlStore<DB: Engine> {
    pub(super) readers: Pool<DB>,
    /// Connections for writing; the same pool on an engine with many writers.
    pub(super) writers: Pool<DB>,
    /// The file that the connections have open, on an engine that has one.
    pub(super) file: Option<OpenedFile>,
    pub(super) statement_limit: Duration,
}

pub(super) struct Session<DB: Engine, C: DerefMut<Target = DB::Connection>> {
    connection: C,
    limit: Duration,
    engine: PhantomData<DB>,
}

/// A connection with a transaction on it.
///
/// Where the transaction does not end as asked (a statement failed, an answer did not come, the caller went away), what
/// the connection is in the middle of is not known: SQLite rolls back by itself when the disk is full, and not for other
/// errors. Such a connection is closed, and the pool opens another.
pub(super) struct Transacting<DB: Engine> {
    connection: PoolConnection<DB>,
    has_ended: bool,
}

impl<DB: Engine> Deref for Transacting<DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &DB::Connection {
        &self.connection
    }
}

impl<DB: Engine> DerefMut for Transacting<DB> {
    fn deref_mut(&mut self) -> &mut DB::Connection {
        &mut self.connection
    }
}

impl<DB: Engine> Drop for Transacting<DB> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.connection.close_on_drop();
        }
    }
}

pub(super) type Single<DB> = Session<DB, PoolConnection<DB>>;

/// A transaction. Dropped without [`Tx::commit`] or [`Tx::end`] its connection is closed, which rolls it back.
pub(super) type Tx<DB> = Session<DB, Transacting<DB>>;

impl<DB: Engine> SqlStore<DB> {
    pub(super) async fn read_once(&self) -> Result<Single<DB>, StoreError> {
        self.check_file()?;
        Ok(Session {
            connection: self.readers.acquire().await?,
            limit: self.statement_limit,
            engine: PhantomData,
        })
    }

    /// A transaction that reads one consistent state.
    pub(super) async fn begin_read(&self) -> Result<Tx<DB>, StoreError> {
        self.begin(&self.readers, <DB as Dialect>::BEGIN_READ).await
    }

    /// A transaction that writes, on a connection whose commits are on disk.
    pub(super) async fn begin_write(&self) -> Result<Tx<DB>, StoreError> {
        let mut tx = self.begin(&self.writers, <DB as Dialect>::BEGIN_WRITE).await?;
        within(tx.limit, DB::check_writer(&mut tx.connection)).await??;
        Ok(tx)
    }

    async fn begin(&self, pool: &Pool<DB>, begin: &'static str) -> Result<Tx<DB>, StoreError> {
        self.check_file()?;
        let mut connection = Transacting {
            connection: pool.acquire().await?,
            has_ended: false,
        };
        let limit = self.statement_limit;
        within(limit, DB::run_plain(&mut connection, begin)).await??;
        Ok(Session {
            connection,
            limit,
            engine: PhantomData,
        })
    }

    /// Refuses a file that is no longer where it was opened: what is written to it would be lost to the next start.
    fn check_file(&self) -> Result<(), StoreError> {
        self.file.as_ref().map_or(Ok(()), OpenedFile::check)
    }
}

#[async_trait]
impl<DB: Engine> Store for SqlStore<DB> {
    async fn check_write(&self) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        within(
            tx.limit,
            DB::run_plain(&mut tx.connection, <DB as Dialect>::WRITE_NOTHING),
        )
        .await??;
        tx.commit().await
    }
}

/// Waits for the database as long as it may take. An error of time is no error of the database.
async fn within<T>(limit: Duration, answer: impl Future<Output = T>) -> Result<T, StoreError> {
    let in_time = tokio::time::timeout(limit, answer).await;
    in_time.map_err(|_| StoreError::Unavailable(format!("no answer within {} s", limit.as_secs_f32())))
}

impl<DB: Engine, C: DerefMut<Target = DB::Connection> + Send> Session<DB, C> {
    pub(super) async fn all(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Vec<DB::Row>, StoreError> {
        Ok(within(
            self.limit,
            DB::fetch(&mut self.connection, Statement::fixed(sql, values)),
        )
        .await??)
    }

    pub(super) async fn all_built(
        &mut self,
        sql: String,
        values: &[Value<'_>],
    ) -> Result<Vec<DB::Row>, StoreError> {
        Ok(within(
            self.limit,
            DB::fetch(&mut self.connection, Statement::built(sql, values)),
        )
        .await??)
    }

    pub(super) async fn first(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Option<DB::Row>, StoreError> {
        Ok(self.all(sql, values).await?.into_iter().next())
    }

    /// The one row that must be there.
    pub(super) async fn one(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<DB::Row, StoreError> {
        let row = self.first(sql, values).await?;
        row.ok_or(StoreError::Database(sqlx::Error::RowNotFound))
    }

    /// Runs a statement; the number of rows touched.
    pub(super) async fn run(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        Ok(within(
            self.limit,
            DB::execute(&mut self.connection, Statement::fixed(sql, values)),
        )
        .await??)
    }

    pub(super) async fn run_built(&mut self, sql: String, values: &[Value<'_>]) -> Result<u64, StoreError> {
        Ok(within(
            self.limit,
            DB::execute(&mut self.connection, Statement::built(sql, values)),
        )
        .await??)
    }
}

impl<DB: Engine> Tx<DB> {
    /// Makes the work last. When this fails nothing was changed, unless the connection was lost on the way.
    pub(super) async fn commit(self) -> Result<(), StoreError> {
        self.finish("COMMIT").await
    }

    pub(super) async fn end(self) -> Result<(), StoreError> {
        self.finish("ROLLBACK").await
    }

    async fn finish(mut self, sql: &'static str) -> Result<(), StoreError> {
        within(self.limit, DB::run_plain(&mut self.connection, sql)).await??;
        self.connection.has_ended = true;
        Ok(())
    }
}

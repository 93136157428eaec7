//! A connection in use: statements in, rows out, errors in the store's words.

use std::marker::PhantomData;
use std::ops::DerefMut;

use sqlx::pool::PoolConnection;
use sqlx::{Pool, Transaction};

use super::StoreError;
use super::dialect::Dialect;
use super::engine::{Engine, Statement, Value};

/// The store over one engine.
#[derive(Debug)]
pub(super) struct SqlStore<DB: Engine> {
    /// Connections for reading.
    pub(super) readers: Pool<DB>,
    /// Connections for writing; the same pool on an engine with many writers.
    pub(super) writers: Pool<DB>,
}

/// A connection, alone or within a transaction.
pub(super) struct Session<DB: Engine, C: DerefMut<Target = DB::Connection>> {
    connection: C,
    engine: PhantomData<DB>,
}

/// A connection for single statements.
pub(super) type Single<DB> = Session<DB, PoolConnection<DB>>;

/// A transaction. Dropped without [`Tx::commit`] it is rolled back.
pub(super) type Tx<DB> = Session<DB, Transaction<'static, DB>>;

impl<DB: Engine> SqlStore<DB> {
    /// A connection for one reading statement.
    pub(super) async fn read_once(&self) -> Result<Single<DB>, StoreError> {
        Ok(Session {
            connection: self.readers.acquire().await?,
            engine: PhantomData,
        })
    }

    /// A transaction that reads one consistent state.
    pub(super) async fn begin_read(&self) -> Result<Tx<DB>, StoreError> {
        let connection = self.readers.begin_with(<DB as Dialect>::BEGIN_READ).await?;
        Ok(Session {
            connection,
            engine: PhantomData,
        })
    }

    /// A transaction that writes, on a connection whose commits are on disk.
    pub(super) async fn begin_write(&self) -> Result<Tx<DB>, StoreError> {
        let mut connection = self.writers.begin_with(<DB as Dialect>::BEGIN_WRITE).await?;
        DB::check_writer(&mut connection).await?;
        Ok(Session {
            connection,
            engine: PhantomData,
        })
    }
}

impl<DB: Engine, C: DerefMut<Target = DB::Connection> + Send> Session<DB, C> {
    /// All rows.
    pub(super) async fn all(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Vec<DB::Row>, StoreError> {
        Ok(DB::fetch(&mut self.connection, Statement::fixed(sql, values)).await?)
    }

    /// All rows of a statement put together from fixed parts and placeholders.
    pub(super) async fn all_built(
        &mut self,
        sql: String,
        values: &[Value<'_>],
    ) -> Result<Vec<DB::Row>, StoreError> {
        Ok(DB::fetch(&mut self.connection, Statement::built(sql, values)).await?)
    }

    /// The first row, if any.
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
        Ok(DB::execute(&mut self.connection, Statement::fixed(sql, values)).await?)
    }

    /// Runs a statement put together from fixed parts and placeholders.
    pub(super) async fn run_built(&mut self, sql: String, values: &[Value<'_>]) -> Result<u64, StoreError> {
        Ok(DB::execute(&mut self.connection, Statement::built(sql, values)).await?)
    }
}

impl<DB: Engine> Tx<DB> {
    /// Makes the work last. When this fails nothing was changed, unless the connection was lost on the way.
    pub(super) async fn commit(self) -> Result<(), StoreError> {
        Ok(self.connection.commit().await?)
    }
}

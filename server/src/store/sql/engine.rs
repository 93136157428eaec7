//! What the store asks of an engine: statements with values in, rows of plain values out.
//!
//! All bounds are on associated types of [`Engine`], so a table family says `impl<DB: Engine>` and no more.

use std::future::Future;

use sqlx::error::BoxDynError;
use sqlx::{
    AssertSqlSafe, Database, Executor, PgConnection, Postgres, Row, SqlSafeStr, Sqlite, SqliteConnection,
};
use sqlx::{postgres::PgRow, sqlite::SqliteRow};
use time::OffsetDateTime;

use super::stamp::Stamp;
use crate::store::StoreError;

/// A value to bind. Nulls carry their type, which PostgreSQL wants to know.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'v> {
    Integer(Option<i64>),
    Fraction(Option<f64>),
    Flag(bool),
    Text(Option<&'v str>),
    Bytes(&'v [u8]),
    Time(Option<OffsetDateTime>),
}

pub(super) trait Cells: Row {
    fn integer(&self, index: usize) -> Result<i64, StoreError>;
    fn maybe_integer(&self, index: usize) -> Result<Option<i64>, StoreError>;
    fn maybe_fraction(&self, index: usize) -> Result<Option<f64>, StoreError>;
    fn flag(&self, index: usize) -> Result<bool, StoreError>;
    fn text(&self, index: usize) -> Result<String, StoreError>;
    fn maybe_text(&self, index: usize) -> Result<Option<String>, StoreError>;
    fn bytes(&self, index: usize) -> Result<Vec<u8>, StoreError>;
    fn time(&self, index: usize) -> Result<OffsetDateTime, StoreError>;
    fn maybe_time(&self, index: usize) -> Result<Option<OffsetDateTime>, StoreError>;
}

pub(super) struct Statement<'s> {
    text: StatementText,
    values: &'s [Value<'s>],
}

enum StatementText {
    /// Written in this source: prepared once for each connection.
    Fixed(&'static str),
    /// Put together from fixed parts and placeholders: not worth remembering.
    Built(String),
}

impl<'s> Statement<'s> {
    pub(super) fn fixed(text: &'static str, values: &'s [Value<'s>]) -> Self {
        Self {
            text: StatementText::Fixed(text),
            values,
        }
    }

    pub(super) fn built(text: String, values: &'s [Value<'s>]) -> Self {
        Self {
            text: StatementText::Built(text),
            values,
        }
    }
}

/// A database engine that the store runs on. What differs in words is in `dialect.rs`.
pub(super) trait Engine: Database<Row: Cells> + super::dialect::Dialect {
    fn bind(arguments: &mut Self::Arguments, value: Value<'_>) -> Result<(), BoxDynError>;

    fn fetch(
        connection: &mut Self::Connection,
        statement: Statement<'_>,
    ) -> impl Future<Output = Result<Vec<Self::Row>, sqlx::Error>> + Send;

    /// Runs fixed words without values, one statement or several.
    fn run_plain(
        connection: &mut Self::Connection,
        sql: &'static str,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    /// Runs a statement; the number of rows that it touched.
    fn execute(
        connection: &mut Self::Connection,
        statement: Statement<'_>,
    ) -> impl Future<Output = Result<u64, sqlx::Error>> + Send;
}

macro_rules! engine {
    ($engine:ty, $connection:ty, $row:ty) => {
        impl Engine for $engine {
            fn bind(arguments: &mut Self::Arguments, value: Value<'_>) -> Result<(), BoxDynError> {
                use sqlx::Arguments as _;
                match value {
                    Value::Integer(value) => arguments.add(value),
                    Value::Fraction(value) => arguments.add(value),
                    Value::Flag(value) => arguments.add(value),
                    Value::Text(value) => arguments.add(value),
                    Value::Bytes(value) => arguments.add(value),
                    Value::Time(value) => arguments.add(value.map(Stamp)),
                }
            }

            async fn fetch(
                connection: &mut $connection,
                statement: Statement<'_>,
            ) -> Result<Vec<$row>, sqlx::Error> {
                connection.fetch_all(prepare::<Self>(statement)?).await
            }

            async fn run_plain(connection: &mut $connection, sql: &'static str) -> Result<(), sqlx::Error> {
                connection.execute(sqlx::raw_sql(sql)).await?;
                Ok(())
            }

            async fn execute(
                connection: &mut $connection,
                statement: Statement<'_>,
            ) -> Result<u64, sqlx::Error> {
                Ok(connection
                    .execute(prepare::<Self>(statement)?)
                    .await?
                    .rows_affected())
            }
        }

        impl Cells for $row {
            fn integer(&self, index: usize) -> Result<i64, StoreError> {
                Ok(self.try_get(index)?)
            }
            fn maybe_integer(&self, index: usize) -> Result<Option<i64>, StoreError> {
                Ok(self.try_get(index)?)
            }
            fn maybe_fraction(&self, index: usize) -> Result<Option<f64>, StoreError> {
                Ok(self.try_get(index)?)
            }
            fn flag(&self, index: usize) -> Result<bool, StoreError> {
                Ok(self.try_get(index)?)
            }
            fn text(&self, index: usize) -> Result<String, StoreError> {
                Ok(self.try_get(index)?)
            }
            fn maybe_text(&self, index: usize) -> Result<Option<String>, StoreError> {
                Ok(self.try_get(index)?)
            }
            fn bytes(&self, index: usize) -> Result<Vec<u8>, StoreError> {
                Ok(self.try_get(index)?)
            }
            fn time(&self, index: usize) -> Result<OffsetDateTime, StoreError> {
                Ok(self.try_get::<Stamp, _>(index)?.0)
            }
            fn maybe_time(&self, index: usize) -> Result<Option<OffsetDateTime>, StoreError> {
                Ok(self
                    .try_get::<Option<Stamp>, _>(index)?
                    .map(|stamp| stamp.0))
            }
        }
    };
}

engine!(Sqlite, SqliteConnection, SqliteRow);
engine!(Postgres, PgConnection, PgRow);

type Query<DB> = sqlx::query::Query<'static, DB, <DB as Database>::Arguments>;

fn prepare<DB>(statement: Statement<'_>) -> Result<Query<DB>, sqlx::Error>
where
    DB: Engine + sqlx::database::HasStatementCache,
    DB::Arguments: sqlx::IntoArguments<DB>,
{
    let mut arguments = DB::Arguments::default();
    for value in statement.values {
        DB::bind(&mut arguments, *value).map_err(sqlx::Error::Encode)?;
    }
    let (text, remember) = match statement.text {
        StatementText::Fixed(text) => (text.into_sql_str(), true),
        StatementText::Built(text) => (AssertSqlSafe(text).into_sql_str(), false),
    };
    Ok(sqlx::query_with(text, arguments).persistent(remember))
}

macro_rules! value_from {
    ($($type:ty => $value:ident => $make:expr;)*) => {$(
        impl<'v> From<$type> for Value<'v> {
            fn from($value: $type) -> Self {
                $make
            }
        }
    )*};
}
value_from! {
    i64 => value => Value::Integer(Some(value));
    Option<i64> => value => Value::Integer(value);
    u32 => value => Value::Integer(Some(i64::from(value)));
    Option<f64> => value => Value::Fraction(value);
    bool => value => Value::Flag(value);
    &'v str => value => Value::Text(Some(value));
    &'v String => value => Value::Text(Some(value));
    Option<&'v str> => value => Value::Text(value);
    &'v [u8] => value => Value::Bytes(value);
    OffsetDateTime => value => Value::Time(Some(value));
    Option<OffsetDateTime> => value => Value::Time(value);
    &'v kb_core::ids::RecordId => id => Value::Text(Some(id.as_str()));
    &'v kb_core::ids::NodeId => id => Value::Text(Some(id.as_str()));
    &'v kb_core::ids::ReportId => id => Value::Text(Some(id.as_str()));
    kb_core::ids::Revision => revision => Value::Integer(Some(i64::from(revision.0)));
    kb_core::ids::Seq => seq => Value::Integer(Some(seq.0));
}

/// Values of a statement, in the order of its placeholders.
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::store::sql::engine::Value::from($value)),*] };
}
pub(super) use values;

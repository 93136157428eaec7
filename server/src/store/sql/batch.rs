//! Many rows in one statement: a statement for each row would make seeding ten times slower.

use std::fmt::Write as _;

use super::engine::{Engine, Value};
use super::session::Tx;
use crate::store::StoreError;

/// Rows in one statement. With nine columns 4,500 values: far below what SQLite (32,766) and PostgreSQL (65,535) take.
const ROWS: usize = 500;

/// Inserts rows: `INSERT INTO table (columns) VALUES …`, then `tail` (an `ON CONFLICT` clause or nothing).
pub(super) async fn insert<DB: Engine, const N: usize>(
    tx: &mut Tx<DB>,
    table_and_columns: &'static str,
    tail: &'static str,
    rows: &[[Value<'_>; N]],
) -> Result<(), StoreError> {
    for chunk in rows.chunks(ROWS) {
        let mut sql = format!("INSERT INTO {table_and_columns} VALUES ");
        for row in 0..chunk.len() {
            sql.push_str(if row == 0 { "(" } else { ", (" });
            placeholders(&mut sql, row * N, N);
            sql.push(')');
        }
        sql.push(' ');
        sql.push_str(tail);
        tx.run_built(sql, chunk.as_flattened()).await?;
    }
    Ok(())
}

/// Runs `head IN (…)` for all of `keys`; `head` ends where the list of keys begins.
pub(super) async fn run_for_keys<DB: Engine>(
    tx: &mut Tx<DB>,
    head: &'static str,
    keys: &[&str],
) -> Result<(), StoreError> {
    for chunk in keys.chunks(ROWS) {
        let values: Vec<Value<'_>> = chunk.iter().map(|key| Value::from(*key)).collect();
        tx.run_built(with_keys(head, values.len()), &values).await?;
    }
    Ok(())
}

/// The rows of `head IN (…)` for all of `keys`.
pub(super) async fn all_for_keys<DB: Engine>(
    tx: &mut Tx<DB>,
    head: &'static str,
    keys: &[&str],
) -> Result<Vec<DB::Row>, StoreError> {
    let mut rows = Vec::new();
    for chunk in keys.chunks(ROWS) {
        let values: Vec<Value<'_>> = chunk.iter().map(|key| Value::from(*key)).collect();
        rows.extend(tx.all_built(with_keys(head, values.len()), &values).await?);
    }
    Ok(rows)
}

fn with_keys(head: &str, count: usize) -> String {
    let mut sql = format!("{head} IN (");
    placeholders(&mut sql, 0, count);
    sql.push(')');
    sql
}

/// Appends `$first+1, $first+2, …`.
fn placeholders(sql: &mut String, first: usize, count: usize) {
    for position in 1..=count {
        let separator = if position == 1 { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = write!(sql, "{separator}${}", first + position);
    }
}

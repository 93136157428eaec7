//! Rows that readers find a published record by: its codes, aliases and edges, written anew whenever it is published.

use std::collections::HashMap;

use kb_core::ids::RecordId;

use super::batch;
use super::convert::id_from;
use super::derive::Derived;
use super::engine::{Cells as _, Engine, Value};
use super::session::Tx;
use crate::store::StoreError;

/// Replaces the rows of records. The caller holds the feed's lock, so no other publisher is in between.
pub(super) async fn replace<DB: Engine>(tx: &mut Tx<DB>, records: &[Derived]) -> Result<(), StoreError> {
    let ids: Vec<&str> = records.iter().map(|record| record.id.as_str()).collect();
    remove(tx, &ids).await?;
    batch::run_for_keys(tx, "DELETE FROM alias WHERE record_id", &ids).await?;
    insert_aliases(tx, records).await?;

    let mut code_rows = Vec::new();
    for record in records {
        for (folded, written) in &record.codes {
            code_rows.push([Value::from(&record.id), Value::from(folded), Value::from(written)]);
        }
    }
    batch::insert(tx, "code (record_id, folded, written)", "", &code_rows).await?;

    let mut edge_rows = Vec::new();
    for record in records {
        for (ordinal, edge) in (0_i64..).zip(&record.edges) {
            edge_rows.push([
                Value::from(&record.id),
                Value::from(ordinal),
                Value::from(edge.kind.as_str()),
                Value::from(&edge.to_text),
                Value::from(edge.probability),
                Value::from(edge.condition.as_deref()),
                Value::from(edge.distinction.as_deref()),
                Value::from(edge.typical_delay.as_deref()),
            ]);
        }
    }
    let edge_columns =
        "edge (from_id, ordinal, kind, to_id, probability, condition, distinction, typical_delay)";
    batch::insert(tx, edge_columns, "", &edge_rows).await
}

/// Takes records out of what readers search. Aliases stay: an old link still leads to the record.
pub(super) async fn remove<DB: Engine>(tx: &mut Tx<DB>, ids: &[&str]) -> Result<(), StoreError> {
    batch::run_for_keys(tx, "DELETE FROM code WHERE record_id", ids).await?;
    batch::run_for_keys(tx, "DELETE FROM edge WHERE from_id", ids).await
}

async fn insert_aliases<DB: Engine>(tx: &mut Tx<DB>, records: &[Derived]) -> Result<(), StoreError> {
    let mut holders: HashMap<&str, &RecordId> = HashMap::new();
    for record in records {
        for alias in &record.aliases {
            if let Some(holder) = holders.insert(alias.as_str(), &record.id) {
                return Err(StoreError::AliasTaken {
                    alias: alias.to_string(),
                    holder: holder.clone(),
                });
            }
        }
    }
    let aliases: Vec<&str> = holders.keys().copied().collect();
    let ids_in_use = "SELECT id, id FROM record WHERE id";
    let aliases_in_use = "SELECT alias, record_id FROM alias WHERE alias";
    for question in [ids_in_use, aliases_in_use] {
        if let Some(row) = batch::all_for_keys(tx, question, &aliases).await?.first() {
            return Err(StoreError::AliasTaken {
                alias: row.text(0)?,
                holder: id_from(row.text(1)?)?,
            });
        }
    }
    // A document that says so itself has the name, whatever it was led to before.
    batch::run_for_keys(tx, "DELETE FROM moved WHERE former", &aliases).await?;
    let rows: Vec<[Value<'_>; 2]> = holders
        .iter()
        .map(|(alias, id)| [Value::from(*alias), Value::from(*id)])
        .collect();
    batch::insert(tx, "alias (alias, record_id)", "", &rows).await
}

pub(super) async fn refuse_alias_as_id<DB: Engine>(tx: &mut Tx<DB>, ids: &[&str]) -> Result<(), StoreError> {
    let aliases = "SELECT alias, record_id FROM alias WHERE alias";
    let moved = "SELECT former, record_id FROM moved WHERE former";
    for question in [aliases, moved] {
        if let Some(row) = batch::all_for_keys(tx, question, ids).await?.first() {
            return Err(StoreError::AliasTaken {
                alias: row.text(0)?,
                holder: id_from(row.text(1)?)?,
            });
        }
    }
    Ok(())
}

//! What readers find a published record by: its codes, aliases and edges, rebuilt whenever it is published.

use std::collections::HashMap;

use kb_core::ids::{RecordId, Revision};
use kb_core::transition::EdgeKind;

use super::batch;
use super::derive::{Derived, derive};
use super::engine::{Cells as _, Engine, Value};
use super::session::Tx;
use crate::store::StoreError;

/// The derived side of one record.
pub(super) struct Face {
    pub(super) id: RecordId,
    pub(super) derived: Derived,
}

impl Face {
    /// The face of a revision.
    pub(super) fn of(
        id: &RecordId,
        revision: Revision,
        document: &str,
        annex: &str,
    ) -> Result<Self, StoreError> {
        let derived = derive(id, document, annex).map_err(|reason| StoreError::Damaged {
            id: id.clone(),
            revision,
            reason,
        })?;
        Ok(Self {
            id: id.clone(),
            derived,
        })
    }
}

/// Replaces the faces of records. The caller holds the feed's lock, so no other publisher is in between.
pub(super) async fn replace<DB: Engine>(tx: &mut Tx<DB>, faces: &[Face]) -> Result<(), StoreError> {
    let ids: Vec<&str> = faces.iter().map(|face| face.id.as_str()).collect();
    remove(tx, &ids).await?;
    batch::run_for_keys(tx, "DELETE FROM alias WHERE record_id", &ids).await?;
    insert_aliases(tx, faces).await?;

    let mut code_rows = Vec::new();
    for face in faces {
        for (folded, written) in &face.derived.codes {
            code_rows.push([Value::from(&face.id), Value::from(folded), Value::from(written)]);
        }
    }
    batch::insert(tx, "code (record_id, folded, written)", "", &code_rows).await?;

    let mut edge_rows = Vec::new();
    for face in faces {
        for (ordinal, edge) in (0_i64..).zip(&face.derived.edges) {
            edge_rows.push([
                Value::from(&face.id),
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

async fn insert_aliases<DB: Engine>(tx: &mut Tx<DB>, faces: &[Face]) -> Result<(), StoreError> {
    let mut holders: HashMap<&str, &RecordId> = HashMap::new();
    for face in faces {
        for alias in &face.derived.aliases {
            if let Some(holder) = holders.insert(alias.as_str(), &face.id) {
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
    let rows: Vec<[Value<'_>; 2]> = holders
        .iter()
        .map(|(alias, id)| [Value::from(*alias), Value::from(*id)])
        .collect();
    batch::insert(tx, "alias (alias, record_id)", "", &rows).await
}

/// Refuses ids that are former ids of other records.
pub(super) async fn refuse_alias_as_id<DB: Engine>(tx: &mut Tx<DB>, ids: &[&str]) -> Result<(), StoreError> {
    let rows = batch::all_for_keys(tx, "SELECT alias, record_id FROM alias WHERE alias", ids).await?;
    match rows.first() {
        Some(row) => Err(StoreError::AliasTaken {
            alias: row.text(0)?,
            holder: id_from(row.text(1)?)?,
        }),
        None => Ok(()),
    }
}

/// An id that the database holds.
pub(super) fn id_from<T>(text: String) -> Result<T, StoreError>
where
    T: TryFrom<String, Error = kb_core::ids::IdError>,
{
    T::try_from(text).map_err(|error| StoreError::Database(sqlx::Error::Decode(error.into())))
}

/// The kind that a word names.
pub(super) fn kind_from(word: &str) -> Result<EdgeKind, StoreError> {
    [
        EdgeKind::LeadsTo,
        EdgeKind::PrecededBy,
        EdgeKind::FrequentlyConfusedWith,
    ]
    .into_iter()
    .find(|kind| kind.as_str() == word)
    .ok_or_else(|| unreadable("edge kind", word))
}

/// A word in the database that this program does not know.
pub(super) fn unreadable(what: &str, word: &str) -> StoreError {
    StoreError::Database(sqlx::Error::Decode(format!("{what} {word:?} is unknown").into()))
}

//! What people do about a finding of a node, kept with it and noted in the audit.

use serde_json::json;

use super::audit;
use super::convert::{refuse_nul, unreadable};
use super::engine::{Cells, Engine, values};
use super::session::Tx;
use crate::store::{FindingChange, FindingStep, Handling, HandlingKind, NewAudit, StoreError};

/// Columns of [`handling_from`], in its order.
macro_rules! handling_columns {
    () => {
        "handling, silenced_until, note, handled_by, handled_at"
    };
}
pub(super) use handling_columns;

/// Reads what was done, from column `first` on.
pub(super) fn handling_from(row: &impl Cells, first: usize) -> Result<Option<Handling>, StoreError> {
    let word = row.text(first)?;
    let kind = match word.as_str() {
        "" => return Ok(None),
        "acknowledged" => HandlingKind::Acknowledged,
        "silenced" => HandlingKind::Silenced(row.time(first + 1)?),
        _ => return Err(unreadable("handling", &word)),
    };
    Ok(Some(Handling {
        kind,
        note: row.maybe_text(first + 2)?,
        by: row.maybe_text(first + 3)?.unwrap_or_default(),
        at: row.time(first + 4)?,
    }))
}

/// Changes a finding; false where the node has none of this name.
pub(super) async fn change<DB: Engine>(tx: &mut Tx<DB>, change: &FindingChange) -> Result<bool, StoreError> {
    let (node, name, by) = (&change.node, &change.name, &change.by.name);
    refuse_nul("a finding's name", name)?;
    let handling = "UPDATE node_finding SET handling = $3, silenced_until = $4, note = $5, handled_by = $6, handled_at = $7 \
        WHERE node_id = $1 AND name = $2";
    let at = change.at;
    let (touched, detail) = match &change.step {
        FindingStep::Acknowledge { note } => {
            refuse_nul("the note", note.as_deref().unwrap_or_default())?;
            let row = values![
                node,
                name,
                "acknowledged",
                None::<time::OffsetDateTime>,
                note.as_deref(),
                by,
                at
            ];
            (tx.run(handling, row).await?, json!({ "note": note }))
        }
        FindingStep::Silence { until, note } => {
            refuse_nul("the note", note.as_deref().unwrap_or_default())?;
            let row = values![node, name, "silenced", *until, note.as_deref(), by, at];
            let detail = json!({ "note": note, "until_unix_seconds": until.unix_timestamp() });
            (tx.run(handling, row).await?, detail)
        }
        FindingStep::Release => {
            let nobody = None::<&str>;
            let row = values![
                node,
                name,
                "",
                None::<time::OffsetDateTime>,
                nobody,
                nobody,
                None::<time::OffsetDateTime>
            ];
            (tx.run(handling, row).await?, json!({}))
        }
        FindingStep::Own(owner) => {
            refuse_nul("the owner", owner.as_deref().unwrap_or_default())?;
            let sql = "UPDATE node_finding SET owner = $3 WHERE node_id = $1 AND name = $2";
            let touched = tx.run(sql, values![node, name, owner.as_deref()]).await?;
            (touched, json!({ "owner": owner }))
        }
    };
    if touched == 0 {
        return Ok(false);
    }
    let subject = format!("{node} {name}");
    let entry = NewAudit::new(change.step.action(), subject, &change.by, at).detail(detail);
    audit::add(tx, &entry).await?;
    Ok(true)
}

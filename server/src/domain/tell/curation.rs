//! Events of curation: rows of the audit for which people wait.

use kb_core::ids::Revision;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::{OLDEST, delivery};
use crate::store::{AuditEntry, DeliveryState, DeliveryStore, NewDelivery, StoreError};

/// Rows of the audit that are read at once.
const ROWS: u32 = 500;

/// What was queued.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collected {
    /// Older events that were given up for lack of room.
    pub dropped: u64,
    /// There are more rows to read.
    pub is_behind: bool,
}

/// Queues what new rows of the audit tell. The first call of all queues nothing: it tells where the queue begins.
pub async fn collect(
    store: &dyn DeliveryStore,
    state: &DeliveryState,
    now: OffsetDateTime,
    public_url: Option<&str>,
) -> Result<Collected, StoreError> {
    let Some(after) = state.queued_to else {
        store.begin_deliveries().await?;
        return Ok(Collected::default());
    };
    if state.audit <= after {
        return Ok(Collected::default());
    }
    let rows = store.audit_after(after, ROWS).await?;
    let Some(last) = rows.last() else {
        return Ok(Collected::default());
    };
    // Nobody waits any more for what was done while there was no webhook.
    let fresh = rows.iter().filter(|row| now - row.at <= OLDEST);
    let made: Vec<NewDelivery> = fresh.filter_map(|row| event(row, public_url)).collect();
    let dropped = store.queue_audit((after, last.n), &made, now).await?;
    Ok(Collected {
        // Another server that was faster has counted them.
        dropped: dropped.unwrap_or_default(),
        is_behind: last.n < state.audit,
    })
}

/// The event that a row tells of; `None` of rows for which nobody waits.
fn event(row: &AuditEntry, public_url: Option<&str>) -> Option<NewDelivery> {
    let approves = row.detail.get("review").is_some();
    let kind = match row.action.as_str() {
        "review.ask" => "review.asked",
        "review.send_back" => "review.sent_back",
        "comment.add" => "comment.added",
        "record.publish" if approves => "review.approved",
        "record.publish" => "record.published",
        "record.withdraw" => "record.withdrawn",
        "record.merge" => "record.merged",
        _ => return None,
    };
    let given = |key: &str| {
        let text = row.detail.get(key).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
    };
    let revision = row.to_revision.or(row.from_revision);
    let data = json!({
        "record": row.subject,
        "revision": revision.map(|revision: Revision| revision.0),
        "actor": { "kind": row.by.kind.as_str(), "name": row.by.name },
        "reason": given("reason"),
        "field": given("pointer"),
        "replaced_by": given("replaced_by").or_else(|| given("into")),
        "url": public_url.map(|url| format!("{url}/r/{}", row.subject)),
    });
    Some(delivery(format!("audit-{}", row.n), kind, row.at, &data))
}

#[cfg(test)]
mod tests {
    use kb_core::ids::Revision;
    use serde_json::{Value, json};

    use super::event;
    use crate::store::{AuditEntry, By};

    fn row(action: &str, detail: Value) -> AuditEntry {
        AuditEntry {
            n: 7,
            at: time::OffsetDateTime::UNIX_EPOCH,
            by: By::system("ada"),
            action: action.to_owned(),
            subject: "cuda/a".to_owned(),
            from_revision: Some(Revision(1)),
            to_revision: Some(Revision(2)),
            detail,
        }
    }

    #[test]
    fn rows_for_which_somebody_waits_are_events() {
        for (action, detail, kind) in [
            ("record.publish", json!({ "seq": 3 }), "record.published"),
            (
                "record.publish",
                json!({ "seq": 3, "review": 1 }),
                "review.approved",
            ),
            ("review.ask", json!({}), "review.asked"),
            ("review.send_back", json!({ "reason": "no" }), "review.sent_back"),
            ("comment.add", json!({ "pointer": "/title" }), "comment.added"),
            ("record.withdraw", json!({}), "record.withdrawn"),
            ("record.merge", json!({ "into": "cuda/b" }), "record.merged"),
        ] {
            let made = event(&row(action, detail.clone()), Some("https://kb.example")).unwrap();
            assert_eq!((made.kind, made.id.as_str()), (kind, "audit-7"));
            let body: Value = serde_json::from_str(&made.body).unwrap();
            assert_eq!(
                (&body["type"], &body["timestamp"]),
                (&json!(kind), &json!("1970-01-01T00:00:00Z"))
            );
            let data = &body["data"];
            assert_eq!(
                (&data["record"], &data["revision"]),
                (&json!("cuda/a"), &json!(2))
            );
            assert_eq!(data["url"], "https://kb.example/r/cuda/a");
            for (of_row, of_event) in [
                ("reason", "reason"),
                ("pointer", "field"),
                ("into", "replaced_by"),
            ] {
                assert_eq!(data[of_event], detail[of_row], "{kind}");
            }
        }
        for action in [
            "record.save",
            "login",
            "token.create",
            "review.withdraw",
            "webhook.give_up",
        ] {
            assert_eq!(event(&row(action, json!({})), None), None, "{action}");
        }
    }
}

//! Lines that no record knows, by SQL.

use std::fmt::Write as _;

use async_trait::async_trait;
use kb_core::templates::widen;
use serde_json::json;
use time::{Date, Duration, OffsetDateTime};

use super::audit;
use super::convert::{count_from, id_from, refuse_nul, unreadable};
use super::engine::{Cells, Engine, Value, values};
use super::session::{SqlStore, Tx};
use crate::store::{
    MOST_UNMATCHED, MOST_UNMATCHED_EXAMPLES, NewAudit, StoreError, UNMATCHED_DAYS, Unmatched,
    UnmatchedChange, UnmatchedChanged, UnmatchedHistory, UnmatchedOrder, UnmatchedQuery, UnmatchedSeen,
    UnmatchedSince, UnmatchedState, UnmatchedStep, UnmatchedStore,
};

/// Nodes that are counted for a template and a day; the rest is counted without a name.
const MOST_NODES: i64 = 500;

macro_rules! columns {
    () => {
        "u.id, u.template, u.examples, u.count, \
         (SELECT COUNT(DISTINCT s.node) FROM unmatched_seen s WHERE s.unmatched_id = u.id AND s.node <> '') AS nodes, \
         u.first_seen, u.last_seen, u.state, u.assignee, u.reason, u.record_id, u.changed_by, u.changed_at"
    };
}

#[async_trait]
impl<DB: Engine> UnmatchedStore for SqlStore<DB> {
    async fn note_unmatched(&self, seen: &[UnmatchedSeen], at: OffsetDateTime) -> Result<u64, StoreError> {
        // In one order, so that two servers wait for each other and never in a circle.
        let mut seen: Vec<&UnmatchedSeen> = seen.iter().collect();
        seen.sort_by(|one, other| one.id.cmp(&other.id));
        let mut tx = self.begin_write().await?;
        forget(&mut tx, at).await?;
        let kept = tx.one("SELECT COUNT(*) FROM unmatched", &[]).await?.integer(0)?;
        let mut room = Room { kept, lost: 0 };
        let day = day(at.date());
        for lines in seen {
            note(&mut tx, lines, (at, &day), &mut room).await?;
        }
        tx.commit().await?;
        Ok(room.lost)
    }

    async fn unmatched_tokens(&self) -> Result<Vec<(String, Vec<String>)>, StoreError> {
        let sql = "SELECT id, tokens FROM unmatched ORDER BY first_seen, id";
        let rows = self.read_once().await?.all(sql, &[]).await?;
        let read = |row: &DB::Row| Ok((row.text(0)?, texts_from(&row.text(1)?)?));
        rows.iter().map(read).collect()
    }

    async fn unmatched(&self, query: &UnmatchedQuery) -> Result<Vec<Unmatched>, StoreError> {
        let mut sql = String::from(concat!(
            "SELECT ",
            columns!(),
            " FROM unmatched u WHERE u.count > $1"
        ));
        let text = query.text.as_ref().map(|text| format!("%{}%", like(text)));
        let mut values: Vec<Value<'_>> = vec![Value::from(0_i64)];
        // Writing to a String cannot fail, here and below.
        if let Some(state) = query.state {
            values.push(Value::from(state.as_str()));
            let _ = write!(sql, " AND u.state = ${}", values.len());
        }
        if let Some(assignee) = &query.assignee {
            values.push(Value::from(assignee));
            let _ = write!(sql, " AND u.assignee = ${}", values.len());
        }
        if let Some(node) = &query.node {
            values.push(Value::from(node));
            let _ = write!(
                sql,
                " AND EXISTS (SELECT 1 FROM unmatched_seen n WHERE n.unmatched_id = u.id AND n.node = ${})",
                values.len()
            );
        }
        if let Some(text) = &text {
            values.push(Value::from(text));
            let _ = write!(
                sql,
                " AND LOWER(u.template) LIKE LOWER(${}) ESCAPE '!'",
                values.len()
            );
        }
        sql.push_str(match query.order {
            UnmatchedOrder::Count => " ORDER BY u.count DESC, nodes DESC, u.id",
            UnmatchedOrder::Nodes => " ORDER BY nodes DESC, u.count DESC, u.id",
            UnmatchedOrder::LastSeen => " ORDER BY u.last_seen DESC, u.id",
        });
        values.push(Value::from(query.limit));
        let _ = write!(sql, " LIMIT ${}", values.len());
        values.push(Value::from(query.skip));
        let _ = write!(sql, " OFFSET ${}", values.len());
        let rows = self.read_once().await?.all_built(sql, &values).await?;
        rows.iter().map(unmatched_from).collect()
    }

    async fn unmatched_one(&self, id: &str) -> Result<Option<UnmatchedHistory>, StoreError> {
        let mut tx = self.begin_read().await?;
        let sql = concat!("SELECT ", columns!(), " FROM unmatched u WHERE u.id = $1");
        let Some(row) = tx.first(sql, values![id]).await? else {
            tx.end().await?;
            return Ok(None);
        };
        let sql = "SELECT day, CAST(SUM(count) AS BIGINT) FROM unmatched_seen WHERE unmatched_id = $1 \
            GROUP BY day ORDER BY day DESC";
        let by_day = tx.all(sql, values![id]).await?;
        let sql = "SELECT node, CAST(SUM(count) AS BIGINT) AS lines FROM unmatched_seen WHERE unmatched_id = $1 \
            GROUP BY node ORDER BY lines DESC, node LIMIT 100";
        let by_node = tx.all(sql, values![id]).await?;
        tx.end().await?;
        let counted = |row: &DB::Row| Ok((row.text(0)?, count_from(row.integer(1)?)?));
        Ok(Some(UnmatchedHistory {
            unmatched: unmatched_from(&row)?,
            by_day: by_day.iter().map(counted).collect::<Result<_, StoreError>>()?,
            by_node: by_node.iter().map(counted).collect::<Result<_, StoreError>>()?,
        }))
    }

    async fn change_unmatched(&self, change: UnmatchedChange) -> Result<UnmatchedChanged, StoreError> {
        let UnmatchedChange {
            id,
            step,
            by,
            at,
            since,
        } = change;
        let mut tx = self.begin_write().await?;
        if let UnmatchedSince::Nothing(shown) = since {
            // This locks the row, and changes nothing.
            let sql = "UPDATE unmatched SET count = count WHERE id = $1 RETURNING changed_at, changed_by";
            let Some(row) = tx.first(sql, values![&id]).await? else {
                tx.end().await?;
                return Ok(UnmatchedChanged::Nothing);
            };
            if row.maybe_time(0)? != shown {
                let by = row.maybe_text(1)?.unwrap_or_default();
                tx.end().await?;
                return Ok(UnmatchedChanged::Before(by));
            }
        }
        let (action, detail, changed) = match &step {
            UnmatchedStep::Assign(assignee) => {
                refuse_nul("the name", assignee.as_deref().unwrap_or_default())?;
                let sql =
                    "UPDATE unmatched SET assignee = $2, changed_by = $3, changed_at = $4 WHERE id = $1";
                let row = values![&id, assignee.as_deref(), &by.name, at];
                (
                    "unmatched.assign",
                    json!({ "to": assignee }),
                    tx.run(sql, row).await?,
                )
            }
            UnmatchedStep::Ignore(reason) => {
                refuse_nul("the reason", reason)?;
                let sql = "UPDATE unmatched SET state = 'ignored', reason = $2, record_id = NULL, changed_by = $3, \
                    changed_at = $4 WHERE id = $1";
                let row = values![&id, reason, &by.name, at];
                (
                    "unmatched.ignore",
                    json!({ "reason": reason }),
                    tx.run(sql, row).await?,
                )
            }
            UnmatchedStep::KnownAs(record) => {
                let sql = "SELECT 1 FROM record WHERE id = $1";
                if tx.first(sql, values![record]).await?.is_none() {
                    return Err(StoreError::NoRecord(record.clone()));
                }
                let sql = "UPDATE unmatched SET state = 'known', reason = NULL, record_id = $2, changed_by = $3, \
                    changed_at = $4 WHERE id = $1";
                let row = values![&id, record, &by.name, at];
                (
                    "unmatched.known_as",
                    json!({ "record": record }),
                    tx.run(sql, row).await?,
                )
            }
            UnmatchedStep::Reopen => {
                let sql = "UPDATE unmatched SET state = 'open', reason = NULL, record_id = NULL, changed_by = $2, \
                    changed_at = $3 WHERE id = $1";
                (
                    "unmatched.reopen",
                    json!({}),
                    tx.run(sql, values![&id, &by.name, at]).await?,
                )
            }
        };
        if changed == 0 {
            tx.end().await?;
            return Ok(UnmatchedChanged::Nothing);
        }
        audit::add(&mut tx, &NewAudit::new(action, &id, &by, at).detail(detail)).await?;
        tx.commit().await?;
        Ok(UnmatchedChanged::Done)
    }
}

/// How many templates are kept, and how many were lost because they had no room.
struct Room {
    kept: i64,
    lost: u64,
}

/// Drops old counts, and templates not seen since, with what was decided on them; not open ones that have an owner.
async fn forget<DB: Engine>(tx: &mut Tx<DB>, at: OffsetDateTime) -> Result<(), StoreError> {
    let Some(last) = at.checked_sub(Duration::days(UNMATCHED_DAYS)) else {
        return Ok(());
    };
    let day = day(last.date());
    tx.run("DELETE FROM unmatched_seen WHERE day < $1", values![&day])
        .await?;
    let sql = "DELETE FROM unmatched WHERE last_seen < $1 AND (state <> 'open' OR assignee IS NULL) \
        AND NOT EXISTS (SELECT 1 FROM unmatched_seen s WHERE s.unmatched_id = unmatched.id)";
    tx.run(sql, values![last]).await?;
    Ok(())
}

/// Drops a template that nobody took up: that of the fewest lines, then the one seen first. False where there is none.
async fn push_out<DB: Engine>(tx: &mut Tx<DB>) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM unmatched WHERE state = 'open' AND assignee IS NULL \
        ORDER BY count, last_seen, id LIMIT 1";
    let Some(row) = tx.first(sql, &[]).await? else {
        return Ok(false);
    };
    let id = row.text(0)?;
    let sql = "DELETE FROM unmatched_seen WHERE unmatched_id = $1";
    tx.run(sql, values![&id]).await?;
    tx.run("DELETE FROM unmatched WHERE id = $1", values![&id])
        .await?;
    Ok(true)
}

async fn note<DB: Engine>(
    tx: &mut Tx<DB>,
    lines: &UnmatchedSeen,
    (at, day): (OffsetDateTime, &str),
    room: &mut Room,
) -> Result<(), StoreError> {
    let count = i64::from(lines.count);
    let sql = "UPDATE unmatched SET count = count + $2, last_seen = $3 WHERE id = $1 AND last_seen <= $3";
    let mut is_known = tx.run(sql, values![&lines.id, count, at]).await? > 0;
    if !is_known {
        // A report that comes late.
        let sql = "UPDATE unmatched SET count = count + $2 WHERE id = $1";
        is_known = tx.run(sql, values![&lines.id, count]).await? > 0;
    }
    let tokens = json!(lines.tokens).to_string();
    let template = lines.tokens.concat().trim().to_owned();
    for text in lines.examples.iter().chain([&tokens, &template]) {
        refuse_nul("a line", text)?;
    }
    if is_known {
        let sql = "SELECT examples, tokens FROM unmatched WHERE id = $1";
        let row = tx.one(sql, values![&lines.id]).await?;
        // Another server may have widened it at other places: the row is locked, so both are kept.
        let mut stored = texts_from(&row.text(1)?)?;
        if lines.is_wider && widen(&mut stored, &lines.tokens) {
            let template = stored.concat().trim().to_owned();
            let stored = json!(stored).to_string();
            let sql = "UPDATE unmatched SET tokens = $2, template = $3 WHERE id = $1";
            tx.run(sql, values![&lines.id, &stored, &template]).await?;
        }
        let examples = row.text(0)?;
        let mut examples = texts_from(&examples)?;
        let before = examples.len();
        for example in &lines.examples {
            if examples.len() < MOST_UNMATCHED_EXAMPLES && !examples.contains(example) {
                examples.push(example.clone());
            }
        }
        if examples.len() > before {
            let examples = json!(examples).to_string();
            let sql = "UPDATE unmatched SET examples = $2 WHERE id = $1";
            tx.run(sql, values![&lines.id, &examples]).await?;
        }
    } else {
        if room.kept >= i64::from(MOST_UNMATCHED) {
            room.lost += 1;
            if !push_out(tx).await? {
                return Ok(());
            }
            room.kept -= 1;
        }
        room.kept += 1;
        let examples: Vec<&String> = lines.examples.iter().take(MOST_UNMATCHED_EXAMPLES).collect();
        let examples = json!(examples).to_string();
        let sql = "INSERT INTO unmatched (id, tokens, template, examples, count, first_seen, last_seen, state) \
            VALUES ($1, $2, $3, $4, $5, $6, $6, 'open') \
            ON CONFLICT (id) DO UPDATE SET count = unmatched.count + excluded.count";
        tx.run(sql, values![&lines.id, &tokens, &template, &examples, count, at])
            .await?;
    }
    let sql = "SELECT COUNT(*), COUNT(CASE WHEN node = $3 THEN 1 END) FROM unmatched_seen \
        WHERE unmatched_id = $1 AND day = $2";
    let counted = tx.one(sql, values![&lines.id, day, &lines.node]).await?;
    let has_room = counted.integer(0)? < MOST_NODES || counted.integer(1)? > 0;
    let node = if has_room { lines.node.as_str() } else { "" };
    let sql = "INSERT INTO unmatched_seen (unmatched_id, node, day, count) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (unmatched_id, node, day) DO UPDATE SET count = unmatched_seen.count + excluded.count";
    tx.run(sql, values![&lines.id, node, day, count]).await?;
    Ok(())
}

/// `2026-11-28`.
fn day(date: Date) -> String {
    format!(
        "{:04}-{:02}-{:02}",
        date.year(),
        u8::from(date.month()),
        date.day()
    )
}

/// A text within a pattern of LIKE. The database lowers it as it lowers what it is compared with: engines differ beyond ASCII.
fn like(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '!' | '%' | '_') {
            escaped.push('!');
        }
        escaped.push(letter);
    }
    escaped
}

fn texts_from(text: &str) -> Result<Vec<String>, StoreError> {
    serde_json::from_str(text).map_err(|_| unreadable("list of texts", text))
}

fn unmatched_from(row: &impl Cells) -> Result<Unmatched, StoreError> {
    let state = row.text(7)?;
    Ok(Unmatched {
        id: row.text(0)?,
        template: row.text(1)?,
        examples: texts_from(&row.text(2)?)?,
        count: count_from(row.integer(3)?)?,
        nodes: count_from(row.integer(4)?)?,
        first_seen: row.time(5)?,
        last_seen: row.time(6)?,
        state: UnmatchedState::from_word(&state).ok_or_else(|| unreadable("state", &state))?,
        assignee: row.maybe_text(8)?,
        reason: row.maybe_text(9)?,
        record: row.maybe_text(10)?.map(id_from).transpose()?,
        changed_by: row.maybe_text(11)?,
        changed_at: row.maybe_time(12)?,
    })
}

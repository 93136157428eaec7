//! Which nodes a filter takes, and in which order, as SQL over the summaries `s`.

use std::fmt::Write as _;

use kb_core::ids::NodeId;
use time::OffsetDateTime;

use super::convert::{count_from, id_from, unreadable, verdict_from};
use super::engine::{Cells, Engine, Value};
use super::session::Tx;
use crate::store::{
    Cause, Known, NodeFilter, NodeOrder, NodeQuery, NodeSummary, OrderKey, StoreError, of_word, word,
};

/// Conditions with what they are asked about, put together from fixed parts and placeholders.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    sql: String,
    bound: Vec<Bound>,
}

#[derive(Debug)]
enum Bound {
    Text(String),
    Number(i64),
    Flag(bool),
    Time(OffsetDateTime),
}

impl Conditions {
    /// A filter's conditions.
    pub(super) fn of(filter: &NodeFilter) -> Self {
        let mut all = Self {
            sql: "1 = 1".to_owned(),
            bound: Vec::new(),
        };
        if let Some(verdict) = filter.verdict {
            all.text("s.verdict = ", verdict.word().to_owned());
        }
        if let Some(action) = &filter.action {
            all.text("s.action = ", known(action, |action| word(action)));
        }
        if let Some(model) = &filter.model {
            all.text("s.model = ", known(model, String::clone));
        }
        if let Some(driver) = &filter.driver {
            all.text("s.driver = ", known(driver, String::clone));
        }
        if let Some(simulated) = filter.simulated {
            all.add("s.simulated = ", Bound::Flag(simulated), "");
        }
        if let Some(before) = filter.silent_before {
            all.add("s.heard_at < ", Bound::Time(before), "");
        }
        if let Some(record) = &filter.record {
            // A record that was merged into this one counts for it.
            let head = "s.node_id IN (SELECT f.node_id FROM node_finding f LEFT JOIN moved m ON m.former = f.record_id \
                WHERE f.is_open AND COALESCE(m.record_id, f.record_id) = ";
            all.add(head, Bound::Text(record.to_string()), ")");
        }
        for (name, value) in &filter.labels {
            let head = "s.node_id IN (SELECT node_id FROM node_label WHERE name = ";
            all.add(head, Bound::Text(name.clone()), "");
            all.add("value = ", Bound::Text(value.clone()), ")");
        }
        if let Some(text) = &filter.text {
            let pattern = format!("%{}%", escaped(&text.to_lowercase()));
            all.add("s.search LIKE ", Bound::Text(pattern), " ESCAPE '\\'");
        }
        all
    }

    fn text(&mut self, head: &str, text: String) {
        self.add(head, Bound::Text(text), "");
    }

    /// ` AND head $n tail`.
    fn add(&mut self, head: &str, value: Bound, tail: &str) {
        let place = self.bind(value);
        // Writing to a String cannot fail, here and below.
        let _ = write!(self.sql, " AND {head}{place}{tail}");
    }

    fn bind(&mut self, value: Bound) -> String {
        self.bound.push(value);
        format!("${}", self.bound.len())
    }

    pub(super) fn bind_number(&mut self, number: u32) -> String {
        self.bind(Bound::Number(i64::from(number)))
    }

    pub(super) fn bind_time(&mut self, time: OffsetDateTime) -> String {
        self.bind(Bound::Time(time))
    }

    pub(super) fn sql(&self) -> &str {
        &self.sql
    }

    pub(super) fn values(&self) -> Vec<Value<'_>> {
        let value = |bound| match bound {
            &Bound::Number(number) => Value::from(number),
            &Bound::Flag(flag) => Value::from(flag),
            &Bound::Time(time) => Value::from(time),
            Bound::Text(text) => Value::from(text),
        };
        self.bound.iter().map(value).collect()
    }
}

pub(super) fn known<T>(value: &Known<T>, text: impl Fn(&T) -> String) -> String {
    match value {
        Known::Is(value) => text(value),
        Known::Unknown => String::new(),
    }
}

/// A text as `LIKE` takes it literally.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// The column of an order, and whether its values come from the greatest down.
fn column(order: NodeOrder) -> (Option<&'static str>, bool) {
    match order {
        NodeOrder::Id => (None, false),
        NodeOrder::Verdict => (Some("s.verdict_order"), false),
        NodeOrder::Heard => (Some("s.heard_at"), true),
        NodeOrder::Since => (Some("s.since"), true),
        NodeOrder::Gpus => (Some("s.gpus"), true),
    }
}

/// Ids of the nodes of a page, in their order.
pub(super) async fn ids<DB: Engine>(tx: &mut Tx<DB>, query: &NodeQuery) -> Result<Vec<String>, StoreError> {
    let mut all = Conditions::of(&query.filter);
    let (column, falls) = column(query.order);
    let falls = falls != query.reversed;
    let (sign, direction) = if falls { ("<", " DESC") } else { (">", "") };
    if let Some((key, id)) = &query.after {
        let key = match key {
            OrderKey::Id => None,
            OrderKey::Number(number) => Some(Bound::Number(*number)),
            OrderKey::Time(time) => Some(Bound::Time(*time)),
        };
        match (column, key) {
            (Some(column), Some(key)) => {
                let (key, id) = (all.bind(key), all.bind(Bound::Text(id.to_string())));
                let _ = write!(all.sql, " AND ({column}, s.node_id) {sign} ({key}, {id})");
            }
            _ => all.add(&format!("s.node_id {sign} "), Bound::Text(id.to_string()), ""),
        }
    }
    let order = column
        .map(|column| format!("{column}{direction}, "))
        .unwrap_or_default();
    let limit = all.bind_number(query.limit);
    let sql = format!(
        "SELECT s.node_id FROM node_summary s WHERE {} ORDER BY {order}s.node_id{direction} LIMIT {limit}",
        all.sql()
    );
    let rows = tx.all_built(sql, &all.values()).await?;
    rows.iter().map(|row| row.text(0)).collect()
}

/// Columns of [`summary_from`], in its order, of table `s`.
macro_rules! summary_columns {
    () => {
        "s.verdict, s.since, s.heard_at, s.simulated, s.gpus, s.model, s.driver, s.cause_record, s.cause_rule, s.action, \
         s.rule_set, s.milder"
    };
}
pub(super) use summary_columns;

pub(super) const SUMMARY_WIDTH: usize = 12;

/// Reads a summary from column `first` on.
pub(super) fn summary_from(row: &impl Cells, first: usize) -> Result<NodeSummary, StoreError> {
    let text = |column: usize| -> Result<Option<String>, StoreError> {
        Ok(Some(row.text(first + column)?).filter(|text| !text.is_empty()))
    };
    let record = text(7)?.map(id_from).transpose()?;
    Ok(NodeSummary {
        verdict: verdict_from(&row.text(first)?)?,
        since: row.time(first + 1)?,
        heard_at: row.time(first + 2)?,
        simulated: row.flag(first + 3)?,
        gpus: count_from(row.integer(first + 4)?)?,
        model: text(5)?,
        driver: text(6)?,
        cause: text(8)?.map(|rule| Cause { record, rule }),
        action: vocabulary("action", &row.text(first + 9)?)?,
        rule_set: text(10)?,
        milder: count_from(row.integer(first + 11)?)?,
    })
}

/// A word of a vocabulary; none where it is empty.
pub(super) fn vocabulary<T: serde::de::DeserializeOwned>(
    what: &str,
    text: &str,
) -> Result<Option<T>, StoreError> {
    if text.is_empty() {
        return Ok(None);
    }
    of_word(text).map(Some).ok_or_else(|| unreadable(what, text))
}

/// Puts what came in any order into that of the ids.
pub(super) fn in_order<T>(ids: &[String], mut items: Vec<T>, id: impl Fn(&T) -> &NodeId) -> Vec<T> {
    let place = |item: &T| ids.iter().position(|known| known == id(item).as_str());
    items.sort_by_cached_key(place);
    items
}

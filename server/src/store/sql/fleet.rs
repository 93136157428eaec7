//! All nodes counted: by verdict, by what their summaries say, by what they suffer from, by when their latest runs ended.

use std::collections::BTreeMap;

use kb_core::severity::Action;

use super::convert::{id_from, verdict_from};
use super::engine::{Cells, Engine, values};
use super::fleet_list::{Conditions, known, vocabulary};
use super::session::Tx;
use crate::store::{
    Fleet, FleetFault, FleetQuery, HeardNode, LabelCount, NodeFilter, StoreError, VerdictCount, word,
};

/// Nodes that are alike in what they are counted by.
#[derive(Debug)]
struct Alike {
    verdict: String,
    action: String,
    model: String,
    driver: String,
    simulated: bool,
    nodes: u64,
    gpus: u64,
}

pub(super) async fn count<DB: Engine>(tx: &mut Tx<DB>, query: &FleetQuery) -> Result<Fleet, StoreError> {
    let filter = &query.filter;
    let alike = alike(tx, filter).await?;
    let verdict = filter.verdict.map(|verdict| verdict.word().to_owned());
    let action = filter
        .action
        .as_ref()
        .map(|action| known(action, |action| word(action)));
    let model = filter.model.as_ref().map(|model| known(model, String::clone));
    let driver = filter.driver.as_ref().map(|driver| known(driver, String::clone));
    let keeps = |nodes: &Alike, but: &str| {
        (but == "verdict" || is(verdict.as_ref(), &nodes.verdict))
            && (but == "action" || is(action.as_ref(), &nodes.action))
            && (but == "model" || is(model.as_ref(), &nodes.model))
            && (but == "driver" || is(driver.as_ref(), &nodes.driver))
    };
    let by = |but: &str, value: fn(&Alike) -> &String| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for nodes in alike.iter().filter(|nodes| keeps(nodes, but)) {
            *counts.entry(value(nodes).clone()).or_default() += nodes.nodes;
        }
        let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
        counts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        counts
    };
    let named = |counts: Vec<(String, u64)>| {
        let named = counts.into_iter();
        named
            .map(|(name, nodes)| (Some(name).filter(|name| !name.is_empty()), nodes))
            .collect()
    };
    let mut verdicts: BTreeMap<&str, VerdictCount> = BTreeMap::new();
    for nodes in alike.iter().filter(|nodes| keeps(nodes, "verdict")) {
        let verdict = verdict_from(&nodes.verdict)?;
        let none = VerdictCount {
            verdict,
            nodes: 0,
            gpus: 0,
            simulated: 0,
        };
        let count = verdicts.entry(&nodes.verdict).or_insert(none);
        count.nodes += nodes.nodes;
        count.gpus += if nodes.simulated { 0 } else { nodes.gpus };
        count.simulated += if nodes.simulated { nodes.nodes } else { 0 };
    }
    let actions = by("action", |nodes| &nodes.action).into_iter();
    let actions = actions.map(|(action, nodes)| Ok((vocabulary::<Action>("action", &action)?, nodes)));
    let meeting = || alike.iter().filter(|nodes| keeps(nodes, ""));
    Ok(Fleet {
        nodes: meeting().map(|nodes| nodes.nodes).sum(),
        gpus: meeting()
            .filter(|nodes| !nodes.simulated)
            .map(|nodes| nodes.gpus)
            .sum(),
        verdicts: verdicts.into_values().collect(),
        actions: actions.collect::<Result<_, StoreError>>()?,
        models: named(by("model", |nodes| &nodes.model)),
        drivers: named(by("driver", |nodes| &nodes.driver)),
        labels: labels(tx, filter, query.labels).await?,
        faults: faults(tx, filter, query.faults).await?,
        silent: silent(tx, query).await?,
        oldest: oldest(tx, query).await?,
    })
}

fn is(wanted: Option<&String>, value: &str) -> bool {
    wanted.is_none_or(|wanted| wanted == value)
}

/// Nodes by all that they are counted by, narrowed by what they are not counted by.
async fn alike<DB: Engine>(tx: &mut Tx<DB>, filter: &NodeFilter) -> Result<Vec<Alike>, StoreError> {
    let rest = NodeFilter {
        verdict: None,
        action: None,
        model: None,
        driver: None,
        ..filter.clone()
    };
    let all = Conditions::of(&rest);
    let sql = format!(
        "SELECT s.verdict, s.action, s.model, s.driver, s.simulated, COUNT(*), CAST(SUM(s.gpus) AS BIGINT) \
         FROM node_summary s WHERE {} GROUP BY s.verdict, s.action, s.model, s.driver, s.simulated",
        all.sql()
    );
    let rows = tx.all_built(sql, &all.values()).await?;
    let nodes = |row: &DB::Row| {
        Ok(Alike {
            verdict: row.text(0)?,
            action: row.text(1)?,
            model: row.text(2)?,
            driver: row.text(3)?,
            simulated: row.flag(4)?,
            nodes: number(row, 5)?,
            gpus: number(row, 6)?,
        })
    };
    rows.iter().map(nodes).collect()
}

async fn labels<DB: Engine>(
    tx: &mut Tx<DB>,
    filter: &NodeFilter,
    most: u32,
) -> Result<Vec<LabelCount>, StoreError> {
    if most == 0 {
        return Ok(Vec::new());
    }
    let mut all = Conditions::of(filter);
    let limit = all.bind_number(most);
    let sql = format!(
        "SELECT l.name, l.value, COUNT(*) AS nodes FROM node_label l JOIN node_summary s ON s.node_id = l.node_id \
         WHERE {} GROUP BY l.name, l.value ORDER BY nodes DESC, l.name, l.value LIMIT {limit}",
        all.sql()
    );
    let rows = tx.all_built(sql, &all.values()).await?;
    let label = |row: &DB::Row| {
        Ok(LabelCount {
            name: row.text(0)?,
            value: row.text(1)?,
            nodes: number(row, 2)?,
        })
    };
    rows.iter().map(label).collect()
}

/// What reports show, by the ids that records have now; what a stand-in showed is no fault of a node.
async fn faults<DB: Engine>(
    tx: &mut Tx<DB>,
    filter: &NodeFilter,
    most: u32,
) -> Result<Vec<FleetFault>, StoreError> {
    if most == 0 {
        return Ok(Vec::new());
    }
    let rest = NodeFilter {
        record: None,
        ..filter.clone()
    };
    let mut all = Conditions::of(&rest);
    let limit = all.bind_number(most);
    let narrowed = if rest.is_empty() {
        ""
    } else {
        "JOIN node_summary s ON s.node_id = f.node_id"
    };
    let sql = format!(
        "SELECT COALESCE(m.record_id, f.record_id), MIN(f.rule) AS first_rule, COUNT(DISTINCT f.node_id) AS nodes, \
         MIN(f.record_id) FROM node_finding f {narrowed} LEFT JOIN moved m ON m.former = f.record_id \
         WHERE f.is_open AND NOT f.simulated AND {} \
         GROUP BY COALESCE(m.record_id, f.record_id), CASE WHEN f.record_id IS NULL THEN f.rule END \
         ORDER BY nodes DESC, COALESCE(m.record_id, f.record_id) IS NULL, COALESCE(m.record_id, f.record_id), \
         first_rule LIMIT {limit}",
        all.sql()
    );
    let rows = tx.all_built(sql, &all.values()).await?;
    let mut faults = Vec::with_capacity(rows.len());
    for row in rows {
        let (record, rule, former) = (row.maybe_text(0)?, row.text(1)?, row.maybe_text(3)?);
        let title = if let Some(record) = &former {
            let sql = "SELECT title FROM node_finding WHERE is_open AND record_id = $1 ORDER BY rule, node_id LIMIT 1";
            tx.first(sql, values![record]).await?
        } else {
            let sql = "SELECT title FROM node_finding WHERE is_open AND record_id IS NULL AND rule = $1 \
                ORDER BY rule, node_id LIMIT 1";
            tx.first(sql, values![&rule]).await?
        };
        faults.push(FleetFault {
            record: record.map(id_from).transpose()?,
            title: title.map(|row| row.text(0)).transpose()?.unwrap_or_default(),
            nodes: number(&row, 2)?,
            rule,
        });
    }
    Ok(faults)
}

async fn silent<DB: Engine>(tx: &mut Tx<DB>, query: &FleetQuery) -> Result<u64, StoreError> {
    let rest = NodeFilter {
        silent_before: None,
        ..query.filter.clone()
    };
    let mut all = Conditions::of(&rest);
    let before = all.bind_time(query.silent_before);
    let sql = format!(
        "SELECT COUNT(*) FROM node_summary s WHERE s.heard_at < {before} AND {}",
        all.sql()
    );
    let rows = tx.all_built(sql, &all.values()).await?;
    rows.first().map_or(Ok(0), |row| number(row, 0))
}

async fn oldest<DB: Engine>(tx: &mut Tx<DB>, query: &FleetQuery) -> Result<Vec<HeardNode>, StoreError> {
    if query.oldest == 0 {
        return Ok(Vec::new());
    }
    let mut all = Conditions::of(&query.filter);
    let limit = all.bind_number(query.oldest);
    let sql = format!(
        "SELECT n.id, n.hostname, s.heard_at FROM node_summary s JOIN node n ON n.id = s.node_id WHERE {} \
         ORDER BY s.heard_at, s.node_id LIMIT {limit}",
        all.sql()
    );
    let rows = tx.all_built(sql, &all.values()).await?;
    rows.iter().map(heard).collect()
}

fn number(row: &impl Cells, column: usize) -> Result<u64, StoreError> {
    // A count or a sum of counts.
    Ok(u64::try_from(row.integer(column)?).unwrap_or_default())
}

fn heard(row: &impl Cells) -> Result<HeardNode, StoreError> {
    Ok(HeardNode {
        id: id_from(row.text(0)?)?,
        hostname: row.maybe_text(1)?,
        at: row.time(2)?,
    })
}

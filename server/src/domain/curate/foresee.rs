//! Which nodes would be judged otherwise after a change: the record's old and new rules are asked about the report that stands of
//! each node, and findings that the record has are told where they would get another weight.

use std::sync::Arc;
use std::time::Duration;

use kb_core::annex::Annex;
use kb_core::ids::{NodeId, RecordId, ReportId, Revision};
use kb_core::record::Record;
use serde::Serialize;
use utoipa::ToSchema;

use super::deciding::{decides, deciding};
use crate::clock::Clock;
use crate::domain::correlate::RecordRules;
use crate::domain::ingest::parse_stored;
use crate::store::{NewFinding, NodeQuery, Store, StoreError, StoredReport};

/// How far back a node's report may lie.
const DAYS: i64 = 30;
const MOST_NODES: usize = 500;
const PAGE: u32 = 100;
/// Time for all of them.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a change would do to nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Foreseen {
    /// Keys of the annex that decide and change; where there are none, no node was looked at.
    #[schema(value_type = Vec<String>)]
    pub deciding: Vec<&'static str>,
    /// Nodes whose standing report is of the last 30 days, and was asked.
    pub looked_at: usize,
    /// False where there were more nodes, the time was over, or a report could not be read.
    pub complete: bool,
    /// Those that would be judged otherwise.
    pub nodes: Vec<Otherwise>,
}

/// A node that would be judged otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Otherwise {
    /// The node.
    #[schema(value_type = String)]
    pub node: NodeId,
    /// Its report.
    #[schema(value_type = String)]
    pub report: ReportId,
    /// What the record finds now: rule and what it is about.
    pub before: Vec<String>,
    /// What it would find.
    pub after: Vec<String>,
}

/// Looks. `before` is what is published, `after` what would be.
pub(super) async fn foresee(
    store: &dyn Store,
    before: Option<Record>,
    after: Option<Record>,
    clock: &dyn Clock,
) -> Result<Foreseen, StoreError> {
    let deciding = match (&before, &after) {
        (before, Some(after)) => deciding(before.as_ref(), after),
        (Some(before), None) => decides(before),
        (None, None) => Vec::new(),
    };
    let mut foreseen = Foreseen {
        deciding,
        looked_at: 0,
        complete: true,
        nodes: Vec::new(),
    };
    if foreseen.deciding.is_empty() {
        return Ok(foreseen);
    }
    let change = Arc::new(Change::new(before.as_ref(), after.as_ref()));
    let since = clock.now() - time::Duration::days(DAYS);
    let started = tokio::time::Instant::now();
    let mut last: Option<NodeId> = None;
    loop {
        let page = store.nodes(&NodeQuery::first(PAGE).after(last.as_ref())).await?;
        let full = page.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
        for node in page {
            last = Some(node.id.clone());
            if node.latest.received_at < since {
                continue;
            }
            if foreseen.looked_at >= MOST_NODES || started.elapsed() > PATIENCE {
                foreseen.complete = false;
                return Ok(foreseen);
            }
            let (node, report) = (node.id, node.latest.id);
            let Some(stored) = store.report(Some(&node), &report).await? else {
                foreseen.complete = false;
                continue;
            };
            let known = store.findings(&node, &report).await?;
            let known: Vec<NewFinding> = known.into_iter().map(|stored| stored.finding).collect();
            let engine = Arc::clone(&change);
            let asked = tokio::task::spawn_blocking(move || engine.ask(&stored, &known)).await;
            let Ok(Some((before, after))) = asked else {
                // Of a report that cannot be read nothing is foreseen.
                foreseen.complete = false;
                continue;
            };
            foreseen.looked_at += 1;
            if before != after {
                foreseen.nodes.push(Otherwise {
                    node,
                    report,
                    before,
                    after,
                });
            }
        }
        if !full {
            return Ok(foreseen);
        }
    }
}

struct Change {
    record: Option<RecordId>,
    old: Option<RecordRules>,
    new: Option<RecordRules>,
    /// How a finding of the record weighs.
    weights: (String, String),
    /// Rules of the old record: what it finds otherwise, it finds in logs, as before.
    old_rules: Vec<String>,
}

impl Change {
    fn new(before: Option<&Record>, after: Option<&Record>) -> Self {
        let rules = before.map(|record| record.annex.probe.iter().map(|rule| rule.id.clone()).collect());
        Self {
            record: after.or(before).map(|record| record.id().clone()),
            old: before.map(|record| RecordRules::of(record, Revision(1))),
            new: after.map(|record| RecordRules::of(record, Revision(1))),
            weights: (
                before.map_or_else(String::new, |record| weight(&record.annex)),
                after.map_or_else(String::new, |record| weight(&record.annex)),
            ),
            old_rules: rules.unwrap_or_default(),
        }
    }

    /// What the record finds in a report before and after; `None` where the report cannot be read.
    fn ask(&self, stored: &StoredReport, known: &[NewFinding]) -> Option<(Vec<String>, Vec<String>)> {
        let parsed = parse_stored(stored).ok()?;
        let in_logs = known.iter().filter(|finding| {
            let own = finding.record.as_ref().map(|(id, _)| id) == self.record.as_ref();
            own && !self.old_rules.contains(&finding.rule)
        });
        let in_logs: Vec<NewFinding> = in_logs.cloned().collect();
        let told = |rules: &Option<RecordRules>, weight: &str| -> Vec<String> {
            let Some(rules) = rules else {
                return Vec::new();
            };
            let findings = rules.findings(&parsed.report, &parsed.body);
            let mut told: Vec<String> = findings
                .iter()
                .chain(&in_logs)
                .map(|finding| format!("{}, {}{weight}", finding.rule, finding.subject))
                .collect();
            told.sort();
            told.dedup();
            told
        };
        let before = told(&self.old, &self.weights.0);
        let after = told(&self.new, &self.weights.1);
        Some((before, after))
    }
}

fn weight(annex: &Annex) -> String {
    let word = |value: Option<serde_json::Value>| {
        let value = value.filter(serde_json::Value::is_string);
        value.and_then(|value| value.as_str().map(str::to_owned))
    };
    let parts = [
        word(
            annex
                .severity
                .and_then(|severity| serde_json::to_value(severity).ok()),
        ),
        word(annex.action.and_then(|action| serde_json::to_value(action).ok())),
        word(
            annex
                .at_fault
                .as_ref()
                .and_then(|fault| serde_json::to_value(fault.who).ok()),
        ),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!(": {}", parts.join(", "))
    }
}

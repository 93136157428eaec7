//! A CEL rule over kept reports: in which of them it would find something, with the evidence.

use std::time::{Duration, Instant};

use kb_core::annex::ProbeRule;
use kb_core::ids::{NodeId, ReportId};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::reports::listed;
use crate::domain::correlate::{Preview, RuleError};
use crate::domain::ingest::{Parsed, parse_stored};
use crate::domain::work_time::WorkTime;
use crate::store::{Store, StoreError, StoredReport};

const MOST_REPORTS: usize = 200;
/// Their bodies together, compressed, in bytes.
const MOST_BYTES: usize = 16 << 20;
const MOST_SHOWN: usize = 20;

/// What a rule finds in kept reports, newest first.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct RuleAnswer {
    /// What keeps it from being a rule, each with its place.
    pub faults: Vec<RuleFault>,
    /// Findings in the reports that were looked at.
    pub count: u64,
    /// The first of them.
    pub findings: Vec<RuleFinding>,
    /// Reports with a finding.
    pub reports: u64,
    /// Reports that it was asked about.
    pub asked: u64,
    /// Evaluations that ended in an error: the rule asks for what a report lacks.
    pub failed: u64,
    /// Reports that cannot be read.
    pub unreadable: u64,
    /// Whether these are all reports.
    pub is_complete: bool,
}

/// What is wrong with a rule.
#[derive(Debug, Serialize, ToSchema)]
pub struct RuleFault {
    /// `/rule/when`, `/rule/evidence/0`.
    pub pointer: String,
    /// Stable name of what it breaks.
    pub rule: &'static str,
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub fix: String,
}

/// Where a rule finds something.
#[derive(Debug, Serialize, ToSchema)]
pub struct RuleFinding {
    /// The node.
    #[schema(value_type = String)]
    pub node: NodeId,
    /// The report.
    #[schema(value_type = String)]
    pub report: ReportId,
    /// `report`, `pair 0-1`, `gpu 3`, `direction 0-1`.
    pub subject: String,
    /// What is wrong, in the report's own words where it has some.
    pub title: String,
    /// Values of the rule's evidence.
    #[schema(value_type = Vec<Object>)]
    pub evidence: Value,
}

pub async fn fetch(store: &dyn Store, patience: Duration) -> Result<(Vec<StoredReport>, bool), StoreError> {
    let began = Instant::now();
    let mut reports: Vec<StoredReport> = Vec::new();
    let mut bytes = 0;
    for listing in listed(store, None).await? {
        if reports.len() == MOST_REPORTS || bytes > MOST_BYTES || began.elapsed() > patience {
            return Ok((reports, false));
        }
        if let Some(report) = store.report(Some(&listing.node), &listing.id).await? {
            bytes += report.body_zstd.len();
            reports.push(report);
        }
    }
    let is_complete = reports.len() < MOST_REPORTS;
    Ok((reports, is_complete))
}

/// This computes; call it off the async threads.
pub fn preview_rule(
    rule: &ProbeRule,
    (reports, is_complete): &(Vec<StoredReport>, bool),
    limit: Duration,
) -> RuleAnswer {
    let mut answer = RuleAnswer::default();
    let Ok(record) = "workbench/rule".parse() else {
        return answer;
    };
    let preview = match Preview::of(rule, record) {
        Ok(preview) => preview,
        Err(errors) => {
            answer.faults = errors.into_iter().map(fault).collect();
            return answer;
        }
    };
    answer.is_complete = *is_complete;
    let time = WorkTime::start(limit);
    for stored in reports {
        if time.check().is_err() {
            answer.is_complete = false;
            break;
        }
        answer.asked += 1;
        let Ok(Parsed { report, body }) = parse_stored(stored) else {
            answer.unreadable += 1;
            continue;
        };
        let previewed = preview.ask(&report, &body);
        answer.failed += previewed.failed;
        answer.reports += u64::from(!previewed.findings.is_empty());
        for finding in previewed.findings {
            answer.count += 1;
            if answer.findings.len() < MOST_SHOWN {
                answer.findings.push(RuleFinding {
                    node: stored.listing.node.clone(),
                    report: stored.listing.id.clone(),
                    subject: finding.subject,
                    title: finding.title,
                    evidence: serde_json::from_str::<Value>(&finding.evidence).unwrap_or_default(),
                });
            }
        }
    }
    answer
}

fn fault((place, error): (String, RuleError)) -> RuleFault {
    RuleFault {
        pointer: format!("/rule{place}"),
        rule: error.rule,
        reason: error.reason,
        fix: error.fix.to_owned(),
    }
}

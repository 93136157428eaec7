//! A rule that is in no record yet, asked about reports that are kept.

use std::time::Duration;

use kb_core::annex::ProbeRule;
use kb_core::ids::RecordId;
use kb_core::report::Report;
use kb_core::text::Json;

use super::check::RuleError;
use super::facts::Facts;
use super::rules::RuleBook;
use super::stack;
use crate::store::NewFinding;

/// Processor time for one report.
const TIME: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct Preview(RuleBook);

#[derive(Debug, Default)]
pub struct Previewed {
    pub findings: Vec<NewFinding>,
    pub failed: u64,
}

impl Preview {
    /// Compiles a rule; else what is wrong, each with its place in the rule.
    pub fn of(rule: &ProbeRule, record: RecordId) -> Result<Self, Vec<(String, RuleError)>> {
        RuleBook::of_one(rule, record).map(Self)
    }

    /// This computes; call it off the async threads.
    pub fn ask(&self, report: &Report, body: &Json) -> Previewed {
        let facts = Facts::of(report, body, &self.0.reads);
        let outcome = stack::deep(|| self.0.apply(&facts, TIME));
        outcome.map_or_else(
            || Previewed {
                findings: Vec::new(),
                failed: 1,
            },
            |outcome| Previewed {
                findings: outcome.findings,
                failed: outcome.failed,
            },
        )
    }
}

//! A report meets the records: what was measured gets a name.
//!
//! Correlation is data. Rules (CEL) stand in the annexes of published records and are asked about the report, its
//! pairs, GPUs and directions; the matcher reads the log lines that came with it. A finding names record, revision,
//! rule and evidence. What nothing explains is said to be unexplained.
//!
//! ```text
//! check     rules at the door, by limits (steps) and volume (copies)      rules  compiled rules of one generation
//! facts     the report as rules see it                          evidence  what led to a finding, bounded
//! reads     which parts of a report rules read
//! gravity   what a finding means for its node, by its record    counted  how often the logs tell of each record
//! logs      the matcher over log lines and failures             unexplained  refusals that nothing explains
//! unrecorded  Xids in the logs that no record is about
//! judged    what the server's own look at the figures comes to, where the report says less
//! network   links that went down and came up again
//! states    what the agent's ledger has open, and GPUs that are not there
//! verdict   a verdict that no other finding bears out
//! apart     what is apart from other nodes, for the second time
//! stack     room for parser and evaluator, which recurse
//! preview   a rule that is in no record yet
//! again     judges what tells of nodes again when records or the policy changed
//! ```

mod again;
mod apart;
mod check;
mod counted;
mod evidence;
mod facts;
mod gravity;
mod judged;
mod limits;
mod logs;
mod network;
mod preview;
mod reads;
mod rules;
mod stack;
mod states;
mod unexplained;
mod unrecorded;
mod verdict;
mod volume;

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;

pub(in crate::domain) use again::judge_node_again;
pub use again::{CorrelateError, judge_again, recorrelate, recorrelate_while_it_changes};
pub use check::{RuleError, check_expression, check_rules};
pub(in crate::domain) use counted::Counted;
pub(in crate::domain) use gravity::ruled;
pub(in crate::domain) use logs::log_of;
pub use preview::{Preview, Previewed};
pub use rules::Correlator;
pub(in crate::domain) use unrecorded::number_of;
pub use verdict::of_verdict;

use std::time::Duration;

use kb_core::ids::Revision;
use kb_core::policy::Policy;
use kb_core::record::Record;
use kb_core::report::Report;
use kb_core::text::Json;
use kb_core::verdict::{Verdict, contradiction_by};

use crate::feed::Generation;
use crate::store::NewFinding;

/// Most findings kept of one report; beyond that the report is broken in one way many times.
const MAX_FINDINGS: usize = 1_000;

/// Processor time of all rules together for one report: each is bounded at the door, and a record may have many.
const RULES_TIME: Duration = Duration::from_secs(2);

impl Correlator {
    /// Applies the records of a generation to a report that was judged by `policy`. `body` is its JSON as sent, which rules see
    /// with all it holds. Never fails: a rule that cannot be evaluated does not apply, and is counted.
    ///
    /// This computes; call it off the async threads.
    pub fn correlate(
        &self,
        generation: &Generation,
        (report, body): (&Report, &Json),
        policy: &Policy,
    ) -> Vec<NewFinding> {
        let contradiction = contradiction_by(report, policy);
        self.correlate_judged(generation, (report, body), (policy, contradiction.as_ref()))
    }

    /// The same where it is known what in the report speaks against its verdict: that is what takes longest to find.
    pub(in crate::domain) fn correlate_judged(
        &self,
        generation: &Generation,
        (report, body): (&Report, &Json),
        (policy, contradiction): (&Policy, Option<&(Verdict, String)>),
    ) -> Vec<NewFinding> {
        let rules = self.rules_of(generation);
        let facts = facts::Facts::of(report, body, &rules.reads);
        let outcome = stack::deep(|| rules.apply(&facts, RULES_TIME));
        let outcome = outcome.unwrap_or_else(rules::Outcome::of_a_fault);
        self.count(&outcome);
        // First what the agent holds open: no number of rules may push that out.
        let mut found: Vec<NewFinding> = states::findings(generation, report).take(MAX_FINDINGS).collect();
        found.extend(outcome.findings);
        found.extend(judged::findings(
            generation,
            (report, body),
            (policy, contradiction),
        ));
        let unexplained = unexplained::refusals(report, &found);
        found.extend(unrecorded::findings(generation, report, policy));
        let room = MAX_FINDINGS.saturating_sub(found.len() + unexplained.len());
        found.extend(logs::findings(generation, report).take(room));
        found.extend(unexplained);
        found.truncate(MAX_FINDINGS);
        weigh(generation, report, policy, &mut found);
        network::settle((generation, report), &mut found);
        found
    }
}

/// Notes with findings what their records and the policy make of them.
pub(in crate::domain) fn weigh(
    generation: &Generation,
    report: &Report,
    policy: &Policy,
    found: &mut [NewFinding],
) {
    let models: Vec<Option<&str>> = report.gpus.iter().map(|gpu| gpu.name.value.as_deref()).collect();
    let counted = Counted::of(generation, report);
    for finding in found {
        gravity::of_record(generation, finding, (report, &counted), (policy, &models));
    }
}

/// The rules of one record, whatever is published: to tell what a change of them would do.
#[derive(Debug)]
pub struct RecordRules(rules::RuleBook);

impl RecordRules {
    pub fn of(record: &Record, revision: Revision) -> Self {
        Self(rules::RuleBook::compile(
            0,
            std::iter::once((record, revision)),
            None,
        ))
    }

    /// What the rules find in a report.
    ///
    /// This computes; call it off the async threads.
    pub fn findings(&self, report: &Report, body: &Json) -> Vec<NewFinding> {
        let facts = facts::Facts::of(report, body, &self.0.reads);
        stack::deep(|| self.0.apply(&facts, RULES_TIME))
            .map(|outcome| outcome.findings)
            .unwrap_or_default()
    }
}

//! What one node is judged by.

use kb_core::health::{made_milder, milder_sentence, report_by};
use kb_core::ids::NodeId;
use kb_core::policy::{Given, Policy, Stage};
use kb_core::report::Report;
use time::OffsetDateTime;

use super::{Stages, version};
use crate::store::{Labels, ReportStore, StoreError};

/// A node's policy, and the version of all that decides about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Site {
    pub stage: Stage,
    /// The rules that are for the node.
    pub policy: Policy,
    pub rule_set: String,
}

impl Site {
    pub fn of(stages: &Stages, records: &str, node: &NodeId, labels: &Labels) -> Self {
        let (stage, policy) = stages.of(node);
        Self {
            stage,
            rule_set: version::of(records, policy),
            policy: policy.for_node(labels),
        }
    }

    /// As an agent gets it.
    pub fn given(self) -> Given {
        Given {
            stage: self.stage,
            rule_set: self.rule_set,
            policy: self.policy,
        }
    }

    /// Judges a report as an agent with this policy would have.
    pub fn judge(&self, report: &mut Report, now: OffsetDateTime) {
        report_by(&self.policy, report, now);
    }
}

/// What a run says of things that the policy makes milder; a look's own reason has it.
pub fn said_of_run(report: &Report) -> Option<String> {
    milder_sentence(&made_milder(report)).filter(|_| report.was_tried())
}

/// The site of a node. Its labels are read where a rule asks for some.
pub async fn site_of(
    store: &dyn ReportStore,
    stages: &Stages,
    records: &str,
    node: &NodeId,
) -> Result<Site, StoreError> {
    let labels = if stages.asks_for_labels() {
        store.labels_of(node).await?
    } else {
        Labels::new()
    };
    Ok(Site::of(stages, records, node, &labels))
}

//! What is apart from its like, as findings of the records that are published here.

use kb_core::policy::Policy;
use kb_core::report::Report;
use time::OffsetDateTime;

use super::{Correlator, weigh};
use crate::domain::baseline;
use crate::feed::Generation;
use crate::store::{BaselineStore, Gravity, NewFinding, StoreError};

/// Rules of what was held against other nodes.
const RULES: [&str; 2] = ["outlier/", "peers/"];

pub(super) fn is_apart(rule: &str) -> bool {
    RULES.iter().any(|start| rule.starts_with(start))
}

impl Correlator {
    /// Findings of a run beside the runs of other nodes, and beside the node's run before; `times`: when it came and when it ended.
    pub async fn apart(
        &self,
        (store, generation): (&dyn BaselineStore, &Generation),
        report: &Report,
        policy: &Policy,
        times: (OffsetDateTime, OffsetDateTime),
    ) -> Result<Vec<NewFinding>, StoreError> {
        let found = baseline::apart(store, &self.like, report, times).await?;
        let mut findings = Vec::with_capacity(found.len());
        for apart in found {
            let published = apart.record.and_then(|id| generation.record(&id));
            findings.push(NewFinding {
                gravity: match published {
                    // What its record says.
                    Some(_) => Gravity::default(),
                    None => apart.finding.gravity,
                },
                record: published.map(|published| (published.id().clone(), published.revision)),
                ..apart.finding
            });
        }
        weigh(generation, report, policy, &mut findings);
        Ok(findings)
    }
}

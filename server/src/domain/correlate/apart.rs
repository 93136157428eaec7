//! What is apart from its like, as findings of the records that are published here.

use std::sync::Arc;

use kb_core::policy::Policy;
use kb_core::report::{Bearing, Report};
use time::OffsetDateTime;

use super::states::published;
use super::{Correlator, weigh};
use crate::domain::baseline;
use crate::feed::Generation;
use crate::store::{BaselineStore, Gravity, NewFinding, StoreError};

/// Rules of what was held against other nodes.
const RULES: [&str; 2] = [baseline::OUTLIER, "peers/"];

pub(super) fn is_apart(rule: &str) -> bool {
    RULES.iter().any(|start| rule.starts_with(start))
}

impl Correlator {
    /// Findings of a run beside the runs of other nodes, and beside the node's run before; `times`: when it came and when it ended.
    /// `may_end`: it would end an outlier that it does not name.
    pub async fn apart(
        &self,
        (store, generation): (&dyn BaselineStore, &Generation),
        (report, may_end): (&Arc<Report>, bool),
        policy: &Policy,
        times: (OffsetDateTime, OffsetDateTime),
    ) -> Result<Vec<NewFinding>, StoreError> {
        let mut found = baseline::apart(store, &self.like, report, times).await?;
        if may_end {
            for carried in baseline::carried(store, report, times.1).await? {
                let is_told = |one: &NewFinding| one.rule == carried.rule && one.subject == carried.subject;
                if !found.iter().any(is_told) {
                    found.push(carried);
                }
            }
        }
        as_published(generation, (report, policy), &mut found);
        Ok(found)
    }
}

/// Gives findings of what is apart the records that explain them, as far as these are published, and what records and policy make of
/// them; each without a record is a warning.
pub(super) fn as_published(
    generation: &Generation,
    (report, policy): (&Report, &Policy),
    found: &mut [NewFinding],
) {
    for finding in found.iter_mut() {
        let record = baseline::explained_by(&finding.rule, report);
        finding.record = published(generation, record.as_ref());
        finding.by_policy = None;
        finding.gravity = match finding.record {
            // What its record says.
            Some(_) => Gravity::default(),
            None => Gravity {
                bearing: Bearing::Warning,
                ..Gravity::default()
            },
        };
    }
    weigh(generation, report, policy, found);
}

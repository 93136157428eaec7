//! The reports of a node's past, judged by the policy of today.

use kb_core::ids::{NodeId, ReportId};
use kb_core::report::Report;
use kb_core::verdict::Verdict;

use super::{IngestError, claim, parse_stored};
use crate::domain::policy::Site;
use crate::store::{ReportListing, ReportStore};

pub(super) struct Past<'s> {
    pub(super) reports: &'s dyn ReportStore,
    pub(super) site: &'s Site,
}

impl Past<'_> {
    pub(super) async fn body(&self, listing: &ReportListing) -> Result<Report, IngestError> {
        self.report(&listing.node, &listing.id).await
    }

    pub(super) async fn report(&self, node: &NodeId, id: &ReportId) -> Result<Report, IngestError> {
        let stored = self.reports.report(Some(node), id).await?;
        let stored = stored.ok_or_else(|| IngestError::Damaged(format!("report {id} is gone")))?;
        let site = self.site.clone();
        let work = tokio::task::spawn_blocking(move || {
            let mut report = parse_stored(&stored)?.report;
            site.judge(&mut report, stored.listing.received_at);
            Ok::<_, IngestError>(report)
        });
        work.await.map_err(|_| IngestError::Panicked)?
    }

    /// The verdict of an earlier report by today's policy, and never worse than what was kept: what is only known beside other
    /// reports is in that.
    pub(super) fn verdict_of(&self, body: &Report, kept: Verdict) -> Verdict {
        if self.site.policy.rules.is_empty() {
            return kept;
        }
        claim::told(body, &self.site.policy).verdict.min(kept)
    }
}

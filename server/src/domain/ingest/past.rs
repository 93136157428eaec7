//! The reports of a node's past, judged by the policy of today.

use std::borrow::Cow;
use std::sync::Arc;

use kb_core::health::report_by;
use kb_core::ids::{NodeId, ReportId};
use kb_core::policy::Policy;
use kb_core::report::Report;
use kb_core::verdict::Verdict;

use super::{IngestError, claim, stored_report};
use crate::domain::policy::Site;
use crate::store::{ReportListing, ReportStore};

pub(super) struct Past<'s> {
    pub(super) reports: &'s dyn ReportStore,
    pub(super) site: &'s Site,
    /// The report that is judged is kept already.
    pub(super) is_again: bool,
}

impl Past<'_> {
    pub(super) async fn body(&self, listing: &ReportListing) -> Result<Arc<Report>, IngestError> {
        self.report(&listing.node, &listing.id).await
    }

    /// A report that told of a fault. One without a ledger is judged by the records: where a policy ends it, nothing brings it back when
    /// the rule is withdrawn.
    pub(super) async fn fault(&self, listing: &ReportListing) -> Result<Arc<Report>, IngestError> {
        let by_policy = |report: &Report| report.health.is_some();
        self.read(&listing.node, &listing.id, by_policy).await
    }

    pub(super) async fn report(&self, node: &NodeId, id: &ReportId) -> Result<Arc<Report>, IngestError> {
        self.read(node, id, |_| true).await
    }

    /// The run that the ledger of a look names as its last proof; `None` where it names none, or none is kept that can be read.
    pub(super) async fn last_proof(
        &self,
        node: &NodeId,
        look: &Report,
    ) -> Result<Option<Arc<Report>>, IngestError> {
        let health = look.health.as_ref();
        let Some(named) = health.and_then(|health| health.last_proof.as_ref()) else {
            return Ok(None);
        };
        match self.report(node, &named.report).await {
            Ok(proof) => Ok(Some(proof).filter(|proof| proof.simulated == look.simulated)),
            Err(IngestError::Store(error)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }

    async fn read(
        &self,
        node: &NodeId,
        id: &ReportId,
        by_policy: fn(&Report) -> bool,
    ) -> Result<Arc<Report>, IngestError> {
        let stored = self.reports.report(Some(node), id).await?;
        let stored = stored.ok_or_else(|| IngestError::Damaged(format!("report {id} is gone")))?;
        let work = move |site: &Site| {
            let mut report = stored_report(&stored)?;
            let now = stored.listing.received_at;
            if by_policy(&report) {
                site.judge(&mut report, now);
            } else {
                report_by(&Policy::default(), &mut report, now);
            }
            Ok::<_, IngestError>(Arc::new(report))
        };
        self.on_blocking_thread(work).await?
    }

    /// Judges on a thread that serves nobody meanwhile: reports are large, and two of them are held against each other in all their parts.
    pub(super) async fn on_blocking_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Site) -> T + Send + 'static,
    ) -> Result<T, IngestError> {
        let site = self.site.clone();
        let work = tokio::task::spawn_blocking(move || work(&site));
        work.await.map_err(|_| IngestError::Panicked)
    }
}

/// What decides about the warnings of a report that told of them, as in [`Past::fault`].
pub(super) fn policy_for<'s>(site: &'s Site, body: &Report) -> Cow<'s, Policy> {
    match &body.health {
        Some(_) => Cow::Borrowed(&site.policy),
        None => Cow::Owned(Policy::default()),
    }
}

/// The verdict of a report that told of a fault: the one that was kept, or a milder one by today's policy. A stricter policy of
/// today does not ask for more to end a fault than was known when it was told. Without a ledger it is the one that was kept.
pub(super) fn verdict_of(site: &Site, body: &Report, kept: Verdict) -> Verdict {
    if site.policy.rules.is_empty() || body.health.is_none() {
        return kept;
    }
    claim::told(body, &site.policy).verdict.min(kept)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::correlate::samples::{proven, report};
    use crate::domain::policy::file;

    #[test]
    fn a_policy_ends_no_fault_of_a_report_without_a_ledger() {
        let text = "[[rule]]\ncode = \"xid 48\"\nis = \"ignore\"\nreason = \"a mistake\"\n";
        let site = Site {
            policy: file::read(text, &[]).unwrap(),
            ..Site::default()
        };
        let mut body = report(2, &[proven(0, 1)]);
        body["conclusion"]["verdict"] = json!("no_fault_seen");
        let read = |body: &serde_json::Value| serde_json::from_value::<Report>(body.clone()).unwrap();
        assert_eq!(verdict_of(&site, &read(&body), Verdict::Broken), Verdict::Broken);
        body["health"] = json!({ "verdict": "no_fault_seen", "open": [] });
        let milder = verdict_of(&site, &read(&body), Verdict::Broken);
        assert_eq!(milder, Verdict::NoFaultSeen, "the ledger brings it back");
    }
}

//! [`Store`] by SQL: each call goes to its table family.

use async_trait::async_trait;
use kb_core::ids::{NodeId, RecordId, ReportId, Revision, Seq};
use time::OffsetDateTime;

use super::engine::Engine;
use super::session::SqlStore;
#[allow(clippy::wildcard_imports, reason = "all words of the trait are spoken here")]
use crate::store::*;

#[async_trait]
impl<DB: Engine> Store for SqlStore<DB> {
    async fn save_head(&self, change: NewRevision) -> Result<Saved, StoreError> {
        self.save_head(change).await
    }

    async fn publish(&self, publish: Publish) -> Result<Published, StoreError> {
        self.publish(publish).await
    }

    async fn withdraw(
        &self,
        id: &RecordId,
        actor: &str,
        at: OffsetDateTime,
    ) -> Result<Published, StoreError> {
        self.withdraw(id, actor, at).await
    }

    async fn status(&self, id: &RecordId) -> Result<Option<RecordStatus>, StoreError> {
        self.status(id).await
    }

    async fn resolve_alias(&self, alias: &str) -> Result<Option<RecordId>, StoreError> {
        self.resolve_alias(alias).await
    }

    async fn revision(&self, id: &RecordId, revision: Revision) -> Result<Option<RevisionTexts>, StoreError> {
        self.revision(id, revision).await
    }

    async fn revisions(&self, id: &RecordId) -> Result<Vec<RevisionMeta>, StoreError> {
        self.revisions(id).await
    }

    async fn list(&self, query: ListQuery) -> Result<Vec<RecordListing>, StoreError> {
        self.list(query).await
    }

    async fn records_by_code(&self, code: &str) -> Result<Vec<RecordId>, StoreError> {
        self.records_by_code(code).await
    }

    async fn edges_around(&self, id: &RecordId) -> Result<Vec<StoredEdge>, StoreError> {
        self.edges_around(id).await
    }

    async fn head_seq(&self) -> Result<Seq, StoreError> {
        self.head_seq().await
    }

    async fn feed(&self, after: Seq, limit: u32) -> Result<FeedPage, StoreError> {
        self.feed(after, limit).await
    }

    async fn seed(
        &self,
        source: SeedSource,
        seeds: Vec<SeedRecord>,
        at: OffsetDateTime,
    ) -> Result<SeedOutcome, StoreError> {
        self.seed(source, seeds, at).await
    }

    async fn seed_conflicts(&self) -> Result<Vec<SeedConflict>, StoreError> {
        self.seed_conflicts().await
    }

    async fn save_report(&self, report: NewReport) -> Result<ReportSaved, StoreError> {
        self.save_report(report).await
    }

    async fn report(&self, node: Option<&NodeId>, id: &ReportId) -> Result<Option<StoredReport>, StoreError> {
        self.report(node, id).await
    }

    async fn reports(&self, query: ReportQuery) -> Result<Vec<ReportListing>, StoreError> {
        self.reports(query).await
    }

    async fn nodes(
        &self,
        after: Option<&NodeId>,
        label: Option<(&str, &str)>,
        limit: u32,
    ) -> Result<Vec<NodeListing>, StoreError> {
        self.nodes(after, label, limit).await
    }

    async fn node(&self, id: &NodeId) -> Result<Option<NodeListing>, StoreError> {
        self.node(id).await
    }

    async fn node_events(&self, id: &NodeId, limit: u32) -> Result<Vec<NodeEvent>, StoreError> {
        self.node_events(id, limit).await
    }

    async fn fleet(&self, query: FleetQuery) -> Result<Fleet, StoreError> {
        self.fleet(query).await
    }

    async fn replace_findings(
        &self,
        node: &NodeId,
        report: &ReportId,
        seq: Seq,
        findings: Vec<NewFinding>,
    ) -> Result<(), StoreError> {
        self.replace_findings(node, report, seq, findings).await
    }

    async fn findings(&self, node: &NodeId, report: &ReportId) -> Result<Vec<StoredFinding>, StoreError> {
        self.findings(node, report).await
    }

    async fn reports_to_correlate(&self, seq: Seq, limit: u32) -> Result<Vec<StoredReport>, StoreError> {
        self.reports_to_correlate(seq, limit).await
    }

    async fn save_outcome(&self, outcome: NewOutcome) -> Result<OutcomeSaved, StoreError> {
        self.save_outcome(outcome).await
    }

    async fn outcomes(&self, id: &RecordId) -> Result<Vec<OutcomeCount>, StoreError> {
        self.outcomes(id).await
    }

    async fn create_tokens(&self, tokens: Vec<NewToken>) -> Result<(), StoreError> {
        self.create_tokens(tokens).await
    }

    async fn enrol_node(&self, by: &str, token: NewToken) -> Result<Enrolled, StoreError> {
        self.enrol_node(by, token).await
    }

    async fn token(&self, id: &str) -> Result<Option<StoredToken>, StoreError> {
        self.token(id).await
    }

    async fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        self.tokens().await
    }

    async fn revoke_token(&self, id: &str, at: OffsetDateTime) -> Result<bool, StoreError> {
        self.revoke_token(id, at).await
    }

    async fn check_write(&self) -> Result<(), StoreError> {
        self.check_write().await
    }
}

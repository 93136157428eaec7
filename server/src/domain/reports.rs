//! Reading kept reports with what was found in them.

use kb_core::ids::{NodeId, ReportId};
use kb_core::report::Report;

use super::ingest::{IngestError, parse_stored};
use crate::store::{ReportListing, ReportStore, StoredFinding};

#[derive(Debug)]
pub struct ReportView {
    pub listing: ReportListing,
    pub report: Report,
    /// Everything that was sent, unknown fields included.
    pub body: serde_json::Value,
    pub findings: Vec<StoredFinding>,
}

/// Reads one report; `None` when there is none. Without `node`, an id that several nodes used is an error.
pub async fn read(
    store: &dyn ReportStore,
    node: Option<&NodeId>,
    id: &ReportId,
) -> Result<Option<ReportView>, IngestError> {
    let Some(stored) = store.report(node, id).await? else {
        return Ok(None);
    };
    let findings = store.findings(&stored.listing.node, id).await?;
    let work = tokio::task::spawn_blocking(move || {
        let parsed = parse_stored(&stored)?;
        Ok::<_, IngestError>((stored.listing, parsed))
    });
    let (listing, parsed) = work.await.map_err(|_| IngestError::Panicked)??;
    Ok(Some(ReportView {
        listing,
        report: parsed.report,
        body: parsed.body.to_value(),
        findings,
    }))
}

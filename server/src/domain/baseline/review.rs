//! A report's figures with all that they are held against.

use kb_core::baseline::{self, Cohort, Compared, Outlier, Reviewed, Unplaced, figures, outliers};
use kb_core::ids::NodeId;
use kb_core::report::Report;

use super::own::Own;
use super::peers::Peers;
use super::reference;
use crate::domain::ingest::IngestError;
use crate::domain::reports::{self, ReportView};
use crate::store::{BaselineStore, ReportListing, StoreError};

#[derive(Debug)]
pub struct Review {
    /// Whom the report is held against, or why there is nobody.
    pub cohort: Result<Cohort, Unplaced>,
    /// Other nodes of the cohort that measured something.
    pub peers: u32,
    /// Every figure, in the report's order.
    pub figures: Vec<Reviewed>,
    pub outliers: Vec<Outlier>,
}

#[cfg(test)]
impl Review {
    /// Of a report of which nothing else is known.
    pub fn alone(report: &Report) -> Self {
        let nothing = |_: &_| (Compared::None, Compared::None, Compared::None);
        let figures = baseline::review(report, figures(report), nothing);
        Self {
            cohort: Cohort::of(report),
            peers: 0,
            outliers: outliers(&figures),
            figures,
        }
    }
}

/// Holds a report's figures against the node's own, its peers, its last good run and the reference table.
pub async fn review(
    store: &dyn BaselineStore,
    listing: &ReportListing,
    report: &Report,
) -> Result<Review, StoreError> {
    let figures = figures(report);
    let cohort = Cohort::of(report);
    if figures.is_empty() {
        return Ok(Review {
            cohort,
            peers: 0,
            figures: Vec::new(),
            outliers: Vec::new(),
        });
    }
    let peers = match &cohort {
        Ok(cohort) => Peers::of(store, cohort, &listing.node, &figures).await?,
        Err(_) => Peers::default(),
    };
    let own = Own::of(store, listing, report).await?;
    let figures = baseline::review(report, figures, |figure| {
        let reference = cohort
            .as_ref()
            .ok()
            .and_then(|cohort| reference::of(cohort, figure));
        let reference = reference.map_or(Compared::None, |reference| {
            Compared::with_reference(figure, reference.group())
        });
        let peers = Compared::with_peers(figure, peers.group(figure));
        (peers, own.compared(figure), reference)
    });
    Ok(Review {
        cohort,
        peers: peers.nodes,
        outliers: outliers(&figures),
        figures,
    })
}

/// A node's newest report that measured something, with its figures held against others; `None` without one.
pub async fn latest(
    store: &dyn BaselineStore,
    node: &NodeId,
) -> Result<Option<(ReportView, Review)>, IngestError> {
    let Some(listing) = store.latest_measured(node).await? else {
        return Ok(None);
    };
    let Some(view) = reports::read(store, Some(node), &listing.id).await? else {
        return Ok(None);
    };
    let review = review(store, &view.listing, &view.report).await?;
    Ok(Some((view, review)))
}

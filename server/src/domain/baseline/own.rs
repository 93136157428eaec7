//! The same figures of a node's last good run.

use std::collections::BTreeMap;

use kb_core::baseline::{Compared, Figure, earlier};
use kb_core::report::Report;
use time::OffsetDateTime;

use crate::store::{BaselineStore, EarlierFigures, ReportListing, StoreError};

/// Good runs that are looked through for a figure: the daemon's short ones lie between the long ones.
const RUNS: u32 = 32;

/// Figures of the node's last good runs, by test and size.
#[derive(Debug, Default)]
pub(super) struct Own {
    known: BTreeMap<(String, u64), EarlierFigures>,
    gpus: usize,
}

impl Own {
    pub(super) async fn of(
        store: &dyn BaselineStore,
        listing: &ReportListing,
        report: &Report,
    ) -> Result<Self, StoreError> {
        Self::before(store, (listing.received_at, listing.ended()), report).await
    }

    /// Of the runs before one that came and ended then.
    pub(super) async fn before(
        store: &dyn BaselineStore,
        (received_at, ended): (OffsetDateTime, OffsetDateTime),
        report: &Report,
    ) -> Result<Self, StoreError> {
        let mut found = store
            .earlier_figures(&report.node.id, received_at, report.simulated, RUNS)
            .await?;
        // Sent again, a run is not the one before itself.
        found.retain(|figures| figures.ended_at < ended && figures.report != report.report_id);
        found.sort_by_key(|other| std::cmp::Reverse(other.ended_at));
        let mut known = BTreeMap::new();
        for figures in found {
            // The newest come first. With more or fewer GPUs an index is another GPU.
            if figures.n as usize == report.gpus.len() {
                known
                    .entry((figures.metric.clone(), figures.bytes))
                    .or_insert(figures);
            }
        }
        Ok(Self {
            known,
            gpus: report.gpus.len(),
        })
    }

    /// The figure beside that of the newest earlier run that has it.
    pub(super) fn compared(&self, figure: &Figure) -> Compared {
        match self.value(figure) {
            Some(before) => earlier(figure, before),
            None => Compared::None,
        }
    }

    /// What the newest earlier run that has the figure measured.
    pub(super) fn value(&self, figure: &Figure) -> Option<f64> {
        let key = (figure.series.test.clone(), figure.series.bytes);
        self.cell(self.known.get(&key)?, figure)
    }

    fn cell(&self, figures: &EarlierFigures, figure: &Figure) -> Option<f64> {
        let row = usize::try_from(figure.source.or(figure.destination)?).ok()?;
        let column = usize::try_from(figure.destination.or(figure.source)?).ok()?;
        let place = 8 * (row * self.gpus + column);
        let bytes = figures.matrix.get(place..place + 8)?;
        let value = f64::from_le_bytes(bytes.try_into().ok()?);
        (value.is_finite() && value > 0.0).then_some(value)
    }
}

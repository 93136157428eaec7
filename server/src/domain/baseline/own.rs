//! The same figures of a node's last good run.

use std::collections::BTreeMap;

use kb_core::baseline::{Compared, Figure, earlier};
use kb_core::report::Report;

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
        let mut found = store
            .earlier_figures(&listing.node, listing.received_at, listing.simulated, RUNS)
            .await?;
        found.retain(|figures| figures.ended_at < listing.ended());
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
        let key = (figure.series.test.clone(), figure.series.bytes);
        let before = self
            .known
            .get(&key)
            .and_then(|figures| self.cell(figures, figure));
        match before {
            Some(before) => earlier(figure, before),
            None => Compared::None,
        }
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

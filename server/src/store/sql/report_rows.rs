//! From the columns of a report to a listing.

use super::convert::{count_from, id_from, verdict_from, weight_from};
use super::engine::Cells;
use crate::store::{ReportListing, StoreError, StoredReport};

/// Columns of [`listing_from`], in its order, of table `p`.
macro_rules! listing_columns {
    () => {
        "p.node_id, p.id, p.hostname, p.finished_at, p.received_at, p.simulated, p.verdict, p.reason, p.gpus, \
         p.findings, p.weight, p.ended_at"
    };
}
pub(super) use listing_columns;

pub(super) const LISTING_WIDTH: usize = 12;

pub(super) fn listing_from(row: &impl Cells, first: usize) -> Result<ReportListing, StoreError> {
    Ok(ReportListing {
        node: id_from(row.text(first)?)?,
        id: id_from(row.text(first + 1)?)?,
        hostname: row.maybe_text(first + 2)?,
        finished_at: row.time(first + 3)?,
        received_at: row.time(first + 4)?,
        ended_at: row.maybe_time(first + 11)?,
        simulated: row.flag(first + 5)?,
        verdict: verdict_from(&row.text(first + 6)?)?,
        reason: row.text(first + 7)?,
        gpus: count_from(row.integer(first + 8)?)?,
        findings: count_from(row.integer(first + 9)?)?,
        weight: weight_from(&row.text(first + 10)?)?,
    })
}

pub(super) fn stored_from(row: &impl Cells) -> Result<StoredReport, StoreError> {
    Ok(StoredReport {
        listing: listing_from(row, 0)?,
        body_zstd: row.bytes(LISTING_WIDTH)?,
        body_bytes: count_from(row.integer(LISTING_WIDTH + 1)?)?,
    })
}

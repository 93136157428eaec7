//! The boots of a node beside the clock of a report that comes late.

use kb_core::report::Report;

use super::IngestError;
use super::past::Past;
use crate::store::{NewReport, Proofs, ReportListing};

/// Reports after a time, of which the first to end is asked: the report itself may be kept already.
const MOST: u32 = 2;

/// Whether the boot of a late report speaks against its clock: the report after it is of another boot, and so is the one before it, or there
/// is none. A node whose clock has lost its battery tells a time before all that is known of it.
pub(super) async fn contradict_clock(
    past: &Past<'_>,
    new: &NewReport,
    sent: &Report,
    known: &Proofs,
) -> Result<bool, IngestError> {
    let at = new.ended();
    let is_late = |report: &ReportListing| report.simulated == new.simulated && report.ended() > at;
    let Some(boot) = &sent.node.boot_id else {
        return Ok(false);
    };
    if !known.latest.iter().chain(&known.proofs).any(is_late) {
        return Ok(false);
    }
    let later = past
        .reports
        .reports_after(&new.node, new.simulated, at, MOST)
        .await?;
    let later = later.iter().filter(|report| report.id != new.id);
    let Some(next) = later.min_by_key(|report| report.ended()) else {
        return Ok(false);
    };
    let Some(next) = past
        .body(next)
        .await?
        .node
        .boot_id
        .clone()
        .filter(|next| next != boot)
    else {
        return Ok(false);
    };
    match past.reports.report_before(&new.node, new.simulated, at).await? {
        None => Ok(true),
        Some(before) => Ok(past.body(&before).await?.node.boot_id == Some(next)),
    }
}

//! A proof beside the node's other proofs, in whatever order they come: health does not end a fault that it does not
//! cover.

use kb_core::ids::ReportId;
use kb_core::report::Report;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::ends::leaves_open;
use super::{IngestError, parse_stored};
use crate::store::{Judged, NewReport, ReportListing, ReportStore, Weight};

/// Most proofs of a node that one is held against, the latest first. Faults in a row before these count as ended with them:
/// a probe every ten minutes says the same fault so often in a day, and each is read and parsed.
const MOST: u32 = 144;

/// Holds a report against the node's other proofs. `new` is about to be kept: its weight, verdict and reason become what
/// it is worth beside them.
pub(super) async fn judge(
    store: &dyn ReportStore,
    new: &mut NewReport,
    sent: &Report,
) -> Result<(), IngestError> {
    if new.weight != Weight::Proof {
        return Ok(());
    }
    let known = store.proofs(&new.node, new.simulated, MOST).await?;
    let at = new.finished_at.min(new.received_at);
    let mut refuted = Vec::new();
    let others = known.proofs.iter().filter(|proof| proof.id != new.id);
    if is_clean(new.verdict) {
        let earlier = others.filter(|proof| ended(proof) <= at);
        for fault in earlier.take_while(|proof| !is_clean(proof.verdict)) {
            let body = body(store, fault).await?;
            if let Some(why) = leaves_open(&body, sent) {
                new.weight = if new.verdict == Verdict::Healthy {
                    Weight::Look
                } else {
                    Weight::Alarm
                };
                if new.verdict == Verdict::Healthy {
                    new.verdict = Verdict::Unknown;
                    new.reason = sentence(&fault.id, &why, &new.reason);
                }
                break;
            }
        }
    } else {
        let later = others.filter(|proof| ended(proof) > at && is_clean(proof.verdict));
        for proof in later.collect::<Vec<_>>().into_iter().rev() {
            let Some(why) = leaves_open(sent, &body(store, proof).await?) else {
                break;
            };
            refuted.push((proof.id.clone(), sentence(&new.id, &why, &proof.reason)));
        }
    }
    new.judged = Some(Judged {
        reports: known.reports,
        refuted,
    });
    Ok(())
}

/// Tells of nothing that makes the node unfit.
fn is_clean(verdict: Verdict) -> bool {
    verdict <= Verdict::Degraded
}

fn ended(proof: &ReportListing) -> OffsetDateTime {
    proof.finished_at.min(proof.received_at)
}

fn sentence(fault: &ReportId, why: &str, reason: &str) -> String {
    format!("the fault of report {fault} is not shown to be over: {why}; of what was tried: {reason}")
}

async fn body(store: &dyn ReportStore, listing: &ReportListing) -> Result<Report, IngestError> {
    let stored = store.report(Some(&listing.node), &listing.id).await?;
    let stored = stored.ok_or_else(|| IngestError::Damaged(format!("report {} is gone", listing.id)))?;
    let work = tokio::task::spawn_blocking(move || parse_stored(&stored));
    Ok(work.await.map_err(|_| IngestError::Panicked)??.report)
}

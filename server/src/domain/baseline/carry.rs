//! Outliers that a run did not measure again: a short run between two long ones tells nothing of them, and ends none.

use std::collections::BTreeSet;

use kb_core::report::Report;
use serde_json::{Map, Value};
use time::OffsetDateTime;

use super::apart::{OUTLIER, of_devices};
use crate::store::{BaselineStore, NewFinding, ReportListing, StoreError};

/// The outliers of the node's proof of health that stands, else of its latest report, of whose tests this run, which ended then, measured
/// none. Each comes with the report that told of it.
pub async fn carried(
    store: &dyn BaselineStore,
    report: &Report,
    ended: OffsetDateTime,
) -> Result<Vec<NewFinding>, StoreError> {
    let node = &report.node.id;
    let known = store.proofs(node, report.simulated, 1).await?;
    let of_kind = |latest: &ReportListing| latest.simulated == report.simulated;
    let latest = known.latest.filter(of_kind);
    // The run itself stands where it is sent again.
    let stands = |proof: &ReportListing| proof.ended() <= ended || proof.id == report.report_id;
    let Some(proof) = known.proofs.into_iter().next().or(latest).filter(stands) else {
        return Ok(Vec::new());
    };
    let mut kept = store.findings(node, &proof.id).await?;
    kept.retain(|stored| stored.finding.rule.starts_with(OUTLIER));
    if kept.is_empty() {
        return Ok(Vec::new());
    }
    let measured = of_devices(report).into_iter().filter(|figure| !figure.disturbed);
    let measured: BTreeSet<_> = measured
        .map(|figure| (figure.series.test, figure.series.bytes))
        .collect();
    let kept = kept.into_iter().map(|stored| stored.finding);
    Ok(kept
        .filter_map(|finding| unmeasured(finding, &measured, proof.id.as_str()))
        .collect())
}

/// The finding as one that was carried on; nothing where a test of it was measured, or where it names none.
fn unmeasured(finding: NewFinding, measured: &BTreeSet<(String, u64)>, told_by: &str) -> Option<NewFinding> {
    let mut evidence: Vec<Map<String, Value>> = serde_json::from_str(&finding.evidence).ok()?;
    let tests = evidence.iter().map(test_of).collect::<Option<Vec<_>>>()?;
    if tests.is_empty() || tests.iter().any(|test| measured.contains(test)) {
        return None;
    }
    for entry in &mut evidence {
        // It points into the report that told of it.
        entry.remove("pointer");
        entry
            .entry("carried_from")
            .or_insert_with(|| Value::from(told_by));
    }
    Some(NewFinding {
        evidence: serde_json::to_string(&evidence).ok()?,
        ..finding
    })
}

fn test_of(entry: &Map<String, Value>) -> Option<(String, u64)> {
    let test = entry.get("test")?.as_str()?.to_owned();
    Some((test, entry.get("bytes")?.as_u64()?))
}

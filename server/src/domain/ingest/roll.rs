//! A report beside those that show more GPUs of the node: GPUs that are gone are told, whatever the report says of the rest.

use kb_core::ids::ReportId;
use kb_core::report::Report;
use kb_core::verdict::Verdict;

use super::gone::{gone_since_alarm, gone_within_boot, is_as_many_as_expected};
use super::open::{before as open_before, leaves_gone};
use super::past::Past;
use super::{IngestError, machine};
use crate::store::{NewReport, OpenFault, Proofs, ReportListing, Weight};

/// Health of fewer GPUs than the node had earlier in the same boot, or before what is open of it, is no health of the node. A report
/// of which that holds becomes an alarm.
pub(super) async fn hold_against_roll(
    past: &Past<'_>,
    new: &mut NewReport,
    sent: &Report,
    known: &Proofs,
) -> Result<(), IngestError> {
    if is_as_many_as_expected(sent) {
        return Ok(());
    }
    let at = new.ended();
    let earlier = |report: &&ReportListing| report.ended() <= at && report.id != new.id;
    let proof = known.proofs.iter().find(earlier);
    // A run over some GPUs is held against runs alone, and GPUs that are made up are held against no real ones.
    let is_of_all = machine::is_of_working(sent);
    let before = match &known.latest {
        // It comes late: what was seen since says nothing of what the node had then.
        Some(latest) if latest.ended() > at && is_of_all => {
            past.reports.report_before(&new.node, new.simulated, at).await?
        }
        latest => latest.clone(),
    };
    let latest = before
        .as_ref()
        .filter(|latest| is_of_all && latest.simulated == new.simulated && earlier(latest));
    // A proof that warns is a proof of health: between boots GPUs may be taken out.
    let is_alarm = |fault: &&OpenFault| {
        fault.report.weight != Weight::Proof || fault.report.verdict != Verdict::Degraded
    };
    let most = open_before(new, known)
        .filter(is_alarm)
        .map(|fault| &fault.report)
        .max_by_key(|report| report.gpus);
    for report in proof.into_iter().chain(most).chain(latest) {
        if report.gpus <= new.gpus {
            continue;
        }
        let had = past.body(report).await?;
        let since_alarm = || gone_since_alarm(&had, sent).filter(|_| most.is_some());
        if let Some(gone) = gone_within_boot(&had, sent).or_else(since_alarm) {
            let from = report.id.clone();
            alarm(new, sent, (gone, from));
            return Ok(());
        }
    }
    let faults: Vec<&OpenFault> = open_before(new, known).collect();
    for fault in faults {
        if let (Some(gone), Some(from)) = (
            leaves_gone(past, (&fault.report.node, &fault.causes), sent).await?,
            &fault.causes.gone_from,
        ) {
            alarm(new, sent, (gone, from.clone()));
            return Ok(());
        }
    }
    Ok(())
}

fn alarm(new: &mut NewReport, sent: &Report, (gone, from): (String, ReportId)) {
    new.weight = Weight::Alarm;
    new.verdict = Verdict::Unknown;
    new.causes.gone_from = Some(from);
    let seen = if sent.was_tried() { "tried" } else { "seen" };
    new.reason = format!("{gone}; of what was {seen}: {}", new.reason);
}

//! A kept report is judged by other rules than before: its verdict and its findings change together.

use std::sync::Arc;

use kb_core::ids::Seq;
use kb_core::report::Report;
use kb_core::verdict::Verdict;

use super::alone::Alone;
use super::clock::is_unsure;
use super::open::{names_with_logs, settle};
use super::past::Past;
use super::{IngestError, MOST_ATTEMPTS, machine, proofs, weight};
use crate::domain::correlate::of_verdict;
use crate::domain::policy::Site;
use crate::store::{
    Causes, Ended, Found, Judged, JudgedBy, NewReport, Proofs, ReportListing, ReportSaved, ReportStore,
    Weight,
};

/// Keeps what a report tells by the rules of `site`: its findings, and its verdict where it tells of its node and tells something else now.
/// Then it is held against the node's other reports as if it came now. The version of the rules does not decide: what their records match
/// is not in it.
pub(in crate::domain) async fn keep_anew(
    store: &dyn ReportStore,
    (seq, site): (Seq, &Site),
    listing: &ReportListing,
    (sent, alone): (&Arc<Report>, Alone),
) -> Result<(), IngestError> {
    let (node, id) = (&listing.node, &listing.id);
    let past = Past {
        reports: store,
        site,
        is_again: true,
    };
    for _ in 0..MOST_ATTEMPTS {
        let known = store.proofs(node, listing.simulated, 1).await?;
        // Read after that: another report may have refuted it since it was listed.
        let Some(before) = store.judged_by(node, id).await? else {
            return Ok(());
        };
        if !before.tells {
            // The verdict of a report that tells of no node stays as it was.
            return keep_findings(store, (seq, None), &before.report, alone).await;
        }
        let mut new = of_stored(&before, sent, &alone);
        if is_as_kept(&past, &before, (&new, sent, &alone)).await? {
            return keep_findings(store, (seq, Some(site.rule_set.as_str())), &before.report, alone).await;
        }
        let found = Found {
            seq,
            rule_set: Some(site.rule_set.clone()),
            findings: alone.findings.clone(),
        };
        new.found = Some(found.clone());
        match proofs::judge(&past, &mut new, (sent, !is_unsure(&before.report))).await {
            Ok(()) => {}
            Err(IngestError::Store(error)) => return Err(error.into()),
            Err(error) if alone.verdict <= before.report.verdict => {
                tracing::error!(%node, report = %id, %error, "its verdict stays: another report of the node cannot be read");
                return keep_findings(store, (seq, None), &before.report, alone).await;
            }
            Err(error) => {
                tracing::error!(%node, report = %id, %error, "it is judged alone: another report of the node cannot be read");
                new = of_stored(&before, sent, &alone);
                new.found = Some(found);
                settle(
                    &past,
                    &mut new,
                    sent,
                    (&Proofs::default(), &mut Judged::default()),
                )
                .await?;
                new.judged = None;
            }
        }
        // What was ended of it since need not be ended again, unless it tells of more than then.
        if new.tells_of_fault() && new.causes.only_warns.is_none() {
            let of_open = before.open.clone().map(|causes| Ended {
                verdict: before.report.verdict,
                causes,
            });
            let only_warns = [of_open.as_ref(), before.ended.as_ref()]
                .into_iter()
                .flatten()
                .filter(|ended| ended.covers(alone.verdict, &new.causes))
                .find_map(|ended| ended.causes.only_warns.clone());
            // Health beside a warning is health.
            if let Some(judged) = new.judged.as_mut().filter(|_| only_warns.is_some()) {
                judged.refuted.retain(|refuted| refuted.weight != Weight::Look);
            }
            new.causes.only_warns = only_warns;
        }
        let judged = new.judged.get_or_insert_default();
        judged.reports = known.reports;
        judged.judged_anew = known.judged_anew;
        if store.judge_report_anew(new).await? != ReportSaved::Overtaken {
            return Ok(());
        }
    }
    // Others came meanwhile each time: it is judged at the next look.
    Ok(())
}

/// Keeps the findings alone, beside the verdict that there is. Without a rule set: that which is noted.
async fn keep_findings(
    store: &dyn ReportStore,
    (seq, rule_set): (Seq, Option<&str>),
    kept: &ReportListing,
    alone: Alone,
) -> Result<(), IngestError> {
    let mut findings = alone.findings;
    findings.extend(of_verdict((kept.weight, kept.verdict), &kept.reason, &findings));
    let found = Found {
        seq,
        rule_set: rule_set.map(str::to_owned),
        findings,
    };
    store.replace_found(&kept.node, &kept.id, found).await?;
    Ok(())
}

/// Whether the report tells by itself what is kept of it: then there is nothing to end and nothing to open.
async fn is_as_kept(
    past: &Past<'_>,
    before: &JudgedBy,
    (new, sent, alone): (&NewReport, &Arc<Report>, &Alone),
) -> Result<bool, IngestError> {
    let kept = &before.report;
    if (kept.verdict, kept.weight) != (new.verdict, new.weight) {
        return Ok(false);
    }
    let Some(open) = &before.open else {
        return Ok(!new.tells_of_fault());
    };
    let told = (new.weight, new.verdict);
    let mut findings = alone.findings.clone();
    findings.extend(of_verdict(told, &new.reason, &findings));
    Ok(names_with_logs(past, sent, told, (findings, alone.names.clone())).await? == open.names)
}

/// The report as it would come now, with what is asked to hold it against others. Its body and its measurements are kept already.
fn of_stored(before: &JudgedBy, sent: &Arc<Report>, alone: &Alone) -> NewReport {
    let listing = &before.report;
    let mut new = NewReport {
        node: listing.node.clone(),
        id: listing.id.clone(),
        hostname: listing.hostname.clone(),
        body_zstd: Vec::new(),
        body_sha256: String::new(),
        body_bytes: 0,
        finished_at: listing.finished_at,
        received_at: listing.received_at,
        ended_at: listing.ended_at,
        schema: (sent.schema.major, sent.schema.minor),
        simulated: listing.simulated,
        verdict: alone.verdict,
        weight: alone.weight,
        origin: weight::origin(sent),
        reason: alone.reason.clone(),
        gpus: listing.gpus,
        measurements: Vec::new(),
        machine: None,
        causes: Causes {
            names: alone.names.clone(),
            gone_from: before.open.as_ref().and_then(|open| open.gone_from.clone()),
            only_warns: None,
        },
        judged: None,
        hardware: machine::hardware(sent),
        facets: None,
        baseline: None,
        found: None,
    };
    // GPUs that are gone are gone by whatever rules.
    if new.causes.gone_from.is_some() && new.verdict < Verdict::Unknown {
        new.verdict = Verdict::Unknown;
        new.weight = Weight::Alarm;
        new.reason.clone_from(&listing.reason);
    }
    new
}

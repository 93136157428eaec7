//! What is open of a node beside a report that comes: which faults the report ends, and what it opens itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use kb_core::ids::{NodeId, ReportId};
use kb_core::report::{Bearing, Report};
use kb_core::verdict::Verdict;

use super::causes::{is_of_before, is_told_later, names, tells_again};
use super::gone::{gone_since_alarm, is_as_many_as_expected};
use super::left::{self, Left, Told};
use super::of_ledger::{events, is_of_ledger};
use super::past::{Past, policy_for};
use super::{IngestError, machine};
use crate::domain::correlate::of_verdict;
use crate::store::{Causes, Judged, NewFinding, NewReport, OpenFault, Origin, Proofs, Weight};

/// Faults of before causes were kept that one report has read and named.
const MOST_NAMED: usize = 144;

/// The faults that were open when the run of a report ended.
pub(super) fn before<'k>(new: &NewReport, known: &'k Proofs) -> impl Iterator<Item = &'k OpenFault> {
    let (at, id) = (new.ended(), new.id.clone());
    let open = known.open.iter();
    open.filter(move |fault| fault.report.id != id && fault.report.ended() <= at)
}

/// What a proof of health ends of the faults before it.
pub(super) struct Ended<'k> {
    pub(super) faults: Vec<&'k OpenFault>,
    /// Those of which it leaves what they warned of, with the reason.
    pub(super) but_warnings: Vec<(&'k OpenFault, String)>,
    /// The first that it leaves open, with the reason.
    pub(super) left: Option<(&'k OpenFault, String)>,
    /// The first warning that it leaves open, with the reason: it carries that on, and is a proof of health for all that.
    pub(super) carried: Option<(&'k OpenFault, String)>,
}

/// Holds a proof of health against each fault before it. GPUs that were gone then are the roll's.
pub(super) async fn by_proof<'k>(
    past: &Past<'_>,
    new: &NewReport,
    sent: &Arc<Report>,
    known: &'k Proofs,
) -> Result<Ended<'k>, IngestError> {
    let mut ended = Ended {
        faults: Vec::new(),
        but_warnings: Vec::new(),
        left: None,
        carried: None,
    };
    for fault in before(new, known) {
        let body = past.fault(&fault.report).await?;
        let told = Told::of(&body, fault.report.verdict, &fault.causes);
        let proof = Arc::clone(sent);
        let left = past.on_blocking_thread(move |site| left::by_proof(site, &told, &proof));
        match left.await? {
            Left::Nothing => ended.faults.push(fault),
            Left::Warning(why) => {
                ended.carried.get_or_insert((fault, why.clone()));
                ended.but_warnings.push((fault, why));
            }
            // What its own ledger tells again is not carried on.
            Left::All(_) if fault.report.verdict == Verdict::Degraded && is_open_in(sent, &body) => {}
            Left::All(why) if fault.report.verdict == Verdict::Degraded => {
                ended.carried.get_or_insert((fault, why));
            }
            Left::All(why) => {
                ended.left.get_or_insert((fault, why));
            }
        }
    }
    Ok(ended)
}

/// Whether the ledger of a report still has a warning open that the earlier one told.
fn is_open_in(report: &Report, earlier: &Report) -> bool {
    let open = events(report, Bearing::Warning).map(|event| event.id.as_str());
    let open: BTreeSet<&str> = open.collect();
    events(earlier, Bearing::Warning).any(|event| open.contains(event.id.as_str()))
}

/// Notes what a look ends of the faults before it: each that it has read again as good. What a run found stays, and what the ledger held
/// open in a run ends as in a look.
pub(super) async fn by_look(
    past: &Past<'_>,
    new: &NewReport,
    sent: &Arc<Report>,
    (known, judged): (&Proofs, &mut Judged),
) -> Result<(), IngestError> {
    if !may_end(new.origin, new.verdict) || !machine::is_of_working(sent) {
        return Ok(());
    }
    for fault in before(new, known) {
        let body = past.fault(&fault.report).await?;
        let told = Told::of(&body, fault.report.verdict, &fault.causes);
        let told = told.beside_look(past, (&new.node, sent.as_ref())).await?;
        let (weight, look) = (fault.report.weight, Arc::clone(sent));
        let left = past.on_blocking_thread(move |site| {
            let may_end = weight != Weight::Proof
                || is_of_ledger(&told.body, &told.causes, &policy_for(site, &told.body));
            may_end.then(|| left::by_look(site, &told, &look))
        });
        let Some(left) = left.await? else {
            continue;
        };
        let place = (&fault.report.node, &fault.causes);
        if matches!(left, Left::All(_)) || leaves_gone(past, place, sent).await?.is_some() {
            continue;
        }
        let id = fault.report.id.clone();
        match left {
            Left::Warning(why) => judged.warns.push((id, why)),
            Left::Nothing | Left::All(_) => judged.ends.push(id),
        }
    }
    Ok(())
}

/// Why GPUs are still gone that were gone when a fault with these causes was told.
pub(super) async fn leaves_gone(
    past: &Past<'_>,
    (node, causes): (&NodeId, &Causes),
    sent: &Report,
) -> Result<Option<String>, IngestError> {
    match &causes.gone_from {
        Some(had) if !is_as_many_as_expected(sent) => {
            let had = past.report(node, had).await?;
            Ok(gone_since_alarm(&had, sent))
        }
        _ => Ok(None),
    }
}

/// A look that could not tell ends nothing. One with a warning does: the warning is an alarm of its own. Runs with a warning are judged
/// as proofs.
fn may_end(origin: Origin, verdict: Verdict) -> bool {
    let mildest = match origin {
        Origin::Look => Verdict::Degraded,
        Origin::Run | Origin::Converted => Verdict::NoFaultSeen,
    };
    verdict <= mildest
}

/// Notes what the report tells, where it tells of a fault, and which reports before it tell no more than that.
pub(super) async fn settle(
    past: &Past<'_>,
    new: &mut NewReport,
    sent: &Arc<Report>,
    (known, judged): (&Proofs, &mut Judged),
) -> Result<(), IngestError> {
    if !new.tells_of_fault() {
        return Ok(());
    }
    let told = (new.weight, new.verdict);
    let found = new.found.get_or_insert_default();
    let by_verdict = of_verdict(told, &new.reason, &found.findings);
    found.findings.extend(by_verdict);
    let findings = found.findings.clone();
    let of_logs = std::mem::take(&mut new.causes.names);
    new.causes.names = names_with_logs(past, sent, told, (findings, of_logs)).await?;
    if judged.is_over {
        return Ok(());
    }
    let open = known.open.iter().chain(&known.newest_open);
    let others = open.filter(|fault| fault.report.id != new.id && !judged.ends.contains(&fault.report.id));
    let mut others: Vec<OpenFault> = others.cloned().collect();
    let named = name_those_of_before(past, &mut others).await?;
    judged.is_over = others.iter().any(|fault| is_told_later(new, fault));
    if !judged.is_over {
        let again = others.iter().filter(|fault| tells_again(new, fault));
        judged.ends.extend(again.map(|fault| fault.report.id.clone()));
    }
    let is_left = |(id, _): &(ReportId, Causes)| !judged.ends.contains(id);
    judged.named = named.into_iter().filter(is_left).collect();
    Ok(())
}

/// The names of all that a report tells, as they are kept. What its logs told was named with its findings.
pub(super) async fn names_with_logs(
    past: &Past<'_>,
    sent: &Arc<Report>,
    told: (Weight, Verdict),
    (findings, mut of_logs): (Vec<NewFinding>, Vec<String>),
) -> Result<Vec<String>, IngestError> {
    let report = Arc::clone(sent);
    let named = past.on_blocking_thread(move |site| names(&report, told, &findings, &site.policy));
    let mut named = named.await?;
    named.append(&mut of_logs);
    named.sort_unstable();
    named.dedup();
    Ok(named)
}

/// Names what faults tell that were open before causes were kept: the migration could not read the reports.
async fn name_those_of_before(
    past: &Past<'_>,
    faults: &mut [OpenFault],
) -> Result<Vec<(ReportId, Causes)>, IngestError> {
    let mut named = Vec::new();
    let of_before = faults.iter_mut().filter(|fault| is_of_before(fault));
    for fault in of_before.take(MOST_NAMED) {
        let listing = &fault.report;
        let body = match past.fault(listing).await {
            Ok(body) => body,
            Err(IngestError::Store(error)) => return Err(error.into()),
            // It stays one of its own.
            Err(_) => continue,
        };
        let stored = past.reports.findings(&listing.node, &listing.id).await?;
        let found: Vec<_> = stored.into_iter().map(|stored| stored.finding).collect();
        let told = (listing.weight, listing.verdict);
        let told = past.on_blocking_thread(move |site| names(&body, told, &found, &policy_for(site, &body)));
        let told = told.await?;
        // Without a name any later fault would tell it again.
        if told.is_empty() {
            continue;
        }
        fault.causes.names = told;
        named.push((listing.id.clone(), fault.causes.clone()));
    }
    Ok(named)
}

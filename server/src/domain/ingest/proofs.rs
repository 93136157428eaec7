//! A report beside the node's other proofs, in whatever order they come: health does not end a fault that it does not
//! cover, and a wrong clock does not hide a fault.

use kb_core::ids::ReportId;
use kb_core::report::Report;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::clock::{by_its_own_clock, is_unsure};
use super::ends::leaves_open;
use super::gone::{gone_since_alarm, gone_within_boot, is_as_many_as_expected};
use super::over::leaves_alarm_open;
use super::{IngestError, claim, machine, parse_stored};
use crate::domain::policy::Site;
use crate::store::{Judged, NewReport, Origin, Proofs, Refuted, ReportListing, ReportStore, Weight};

/// Most proofs of a node that one is held against, the latest first. Faults in a row before these count as ended with them:
/// a probe every ten minutes says the same fault so often in a day, and each is read and parsed.
const MOST: u32 = 144;

/// Holds a report against the node's other reports. `new` is about to be kept: its weight, verdict, reason and time become
/// what they are worth beside them. `is_sure`: it is known when the run ended.
pub(super) async fn judge(
    store: &dyn ReportStore,
    new: &mut NewReport,
    (sent, is_sure): (&Report, bool),
    site: &Site,
) -> Result<(), IngestError> {
    let store = &Stored { store, site };
    if new.weight == Weight::Look {
        return judge_look(store, new, sent).await;
    }
    let known = store.store.proofs(&new.node, new.simulated, MOST).await?;
    let (mut is_over, mut ends_alarm) = (false, false);
    let refuted = if new.weight == Weight::Alarm {
        let own = new.ended();
        count_from_arrival(new, is_sure, known.latest.iter());
        if new.origin == Origin::Look && new.verdict == Verdict::Degraded && machine::is_of_working(sent) {
            hold_against_roll(store, new, sent, &known).await?;
        }
        is_over = is_over_already(store, new, sent, &known).await?;
        // A look with a warning of its own may read the causes of earlier alarms as good. A time that was moved may be too late: it
        // ends nothing.
        let may_come_later = new.origin == Origin::Look && new.ended() == own;
        ends_alarm = may_come_later && ends_alarms(store, new, sent, &known).await?;
        Vec::new()
    } else if is_clean(new.verdict) {
        count_from_own_clock(new, &known);
        hold_against_faults(store, new, sent, &known).await?;
        hold_against_later(store, new, sent, &known).await?
    } else {
        hold_against_health(store, new, (sent, is_sure), &known).await?
    };
    new.judged = Some(Judged {
        reports: known.reports,
        refuted,
        is_over,
        ends_alarm,
    });
    Ok(())
}

/// A look of all GPUs proves nothing. It tells where a GPU is gone, and that alarms are over whose causes it reads as good.
async fn judge_look(store: &Stored<'_>, new: &mut NewReport, sent: &Report) -> Result<(), IngestError> {
    if !machine::is_of_working(sent) {
        return Ok(());
    }
    let known = store.store.proofs(&new.node, new.simulated, 1).await?;
    hold_against_roll(store, new, sent, &known).await?;
    let is_alarm = new.weight == Weight::Alarm;
    let ends_alarm = !is_alarm && ends_alarms(store, new, sent, &known).await?;
    if is_alarm || ends_alarm {
        new.judged = Some(Judged {
            reports: known.reports,
            refuted: Vec::new(),
            is_over: false,
            ends_alarm,
        });
    }
    Ok(())
}

/// Whether a look ends the alarm that stands: it has to leave none open of those since the last proof.
async fn ends_alarms(
    store: &Stored<'_>,
    new: &NewReport,
    sent: &Report,
    known: &Proofs,
) -> Result<bool, IngestError> {
    let Some(standing) = known
        .alarm
        .as_ref()
        .filter(|_| may_end(new.origin, new.verdict) && machine::is_of_working(sent))
    else {
        return Ok(false);
    };
    // The one that stands goes first: where it stays open, no other is read.
    let alarms = alarms(store, new, known).await?;
    let others = alarms.iter().filter(|alarm| alarm.id != standing.id);
    for alarm in std::iter::once(standing).chain(others) {
        let body = body(store, alarm).await?;
        let verdict = verdict_today(&body, alarm.verdict, store.site);
        if alarm.ended() > new.ended() || leaves_alarm_open(&body, verdict, sent).is_some() {
            return Ok(false);
        }
    }
    Ok(true)
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

/// Whether an alarm that came late was over by what the node's latest look read.
async fn is_over_already(
    store: &Stored<'_>,
    new: &NewReport,
    sent: &Report,
    known: &Proofs,
) -> Result<bool, IngestError> {
    let at = new.ended();
    let is_good = |latest: &&ReportListing| {
        latest.simulated == new.simulated
            && latest.weight == Weight::Look
            && latest.verdict <= Verdict::NoFaultSeen
            && latest.ended() > at
    };
    let Some(look) = known.latest.as_ref().filter(is_good) else {
        return Ok(false);
    };
    let look = body(store, look).await?;
    Ok(machine::is_of_working(&look) && leaves_alarm_open(sent, new.verdict, &look).is_none())
}

/// The node's alarms since its last proof, the latest first.
async fn alarms(
    store: &Stored<'_>,
    new: &NewReport,
    known: &Proofs,
) -> Result<Vec<ReportListing>, IngestError> {
    let since = known.proofs.first().map(ReportListing::ended);
    Ok(store.store.alarms(&new.node, new.simulated, since, MOST).await?)
}

async fn hold_against_faults(
    store: &Stored<'_>,
    new: &mut NewReport,
    sent: &Report,
    known: &Proofs,
) -> Result<(), IngestError> {
    let alarms = match &known.alarm {
        Some(_) => alarms(store, new, known).await?,
        None => Vec::new(),
    };
    let at = new.ended();
    let earlier = others(known, new.id.clone()).filter(|proof| proof.ended() <= at);
    let alarms = alarms.iter().filter(|alarm| alarm.ended() <= at);
    for fault in alarms.chain(earlier.take_while(|proof| !is_clean(proof.verdict))) {
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
            return Ok(());
        }
    }
    hold_against_roll(store, new, sent, known).await
}

/// Health of fewer GPUs than the node had earlier in the same boot is no health of the node, whatever was told meanwhile.
async fn hold_against_roll(
    store: &Stored<'_>,
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
    let latest = known
        .latest
        .as_ref()
        .filter(|latest| is_of_all && latest.simulated == new.simulated && earlier(latest));
    // An alarm is over when a proof has followed it.
    let since = known.proofs.first().map(ReportListing::ended);
    let alarm = store.store.alarm_since(&new.node, new.simulated, since).await?;
    let alarm = alarm.as_ref().filter(earlier);
    let alarm = alarm.filter(|alarm| proof.is_none_or(|proof| alarm.ended() > proof.ended()));
    for before in proof.into_iter().chain(alarm).chain(latest) {
        if before.gpus <= new.gpus {
            continue;
        }
        let had = body(store, before).await?;
        let since_alarm = || gone_since_alarm(&had, sent).filter(|_| alarm.is_some());
        if let Some(gone) = gone_within_boot(&had, sent).or_else(since_alarm) {
            new.weight = Weight::Alarm;
            new.verdict = Verdict::Unknown;
            let seen = if sent.was_tried() { "tried" } else { "seen" };
            new.reason = format!("{gone}; of what was {seen}: {}", new.reason);
            return Ok(());
        }
    }
    Ok(())
}

/// Later proofs of health that show fewer GPUs than this one of the same boot, which came late: they are no health of the
/// node, as if the reports had come in the order of their runs.
async fn hold_against_later(
    store: &Stored<'_>,
    new: &NewReport,
    sent: &Report,
    known: &Proofs,
) -> Result<Vec<Refuted>, IngestError> {
    let mut refuted = Vec::new();
    if new.weight != Weight::Proof {
        return Ok(refuted);
    }
    let at = new.ended();
    let later = known.proofs.iter().rev();
    let later = later.filter(|proof| proof.ended() > at && proof.id != new.id);
    for proof in later.take_while(|proof| is_clean(proof.verdict) && proof.gpus < new.gpus) {
        let later = body(store, proof).await?;
        if is_as_many_as_expected(&later) {
            break;
        }
        let Some(gone) = gone_within_boot(sent, &later) else {
            break;
        };
        refuted.push(Refuted {
            id: proof.id.clone(),
            weight: Weight::Alarm,
            reason: format!("{gone}; of what was tried: {}", proof.reason),
        });
    }
    Ok(refuted)
}

/// Puts health where its node's own clock says, where that may be before a fault: in doubt the fault stands until the next proof.
fn count_from_own_clock(new: &mut NewReport, known: &Proofs) {
    let Some(own) = by_its_own_clock(new) else {
        return;
    };
    let alarm = known
        .latest
        .iter()
        .filter(|latest| latest.weight == Weight::Alarm);
    let faults = known.proofs.iter().filter(|proof| !is_clean(proof.verdict));
    let is_doubtful = |fault: &ReportListing| {
        let is_between = fault.ended() > own && fault.ended() <= new.ended();
        // By one clock, right or wrong, it ended later.
        is_between && fault.finished_at >= new.finished_at
    };
    if faults.chain(alarm).any(is_doubtful) {
        new.ended_at = None;
    }
}

/// Later proofs of health that do not end the new report's fault, each with the reason.
async fn hold_against_health(
    store: &Stored<'_>,
    new: &mut NewReport,
    (sent, is_sure): (&Report, bool),
    known: &Proofs,
) -> Result<Vec<Refuted>, IngestError> {
    let at = new.ended();
    let later = others(known, new.id.clone());
    let later = later.filter(|proof| proof.ended() > at && is_clean(proof.verdict));
    let mut later: Vec<&ReportListing> = later.collect();
    let mut refuted = Vec::new();
    while let Some(proof) = later.last() {
        let Some(why) = leaves_open(sent, &body(store, proof).await?) else {
            break;
        };
        refuted.push(Refuted {
            id: proof.id.clone(),
            weight: Weight::Look,
            reason: sentence(&new.id, &why, &proof.reason),
        });
        later.pop();
    }
    count_from_arrival(new, is_sure, later.into_iter());
    Ok(refuted)
}

/// Puts a fault behind what came before it and seems later, where a clock is in doubt: a fault that a wrong clock hides is
/// worse than one that is told until the next proof.
fn count_from_arrival<'a>(
    new: &mut NewReport,
    is_sure: bool,
    came_before: impl Iterator<Item = &'a ReportListing>,
) {
    let doubtful = came_before.filter(|other| !is_sure || is_unsure(other));
    let last: Option<OffsetDateTime> = doubtful.map(ReportListing::ended).max();
    if let Some(last) = last.filter(|last| *last > new.ended()) {
        new.ended_at = Some(last);
    }
}

fn others(known: &Proofs, id: ReportId) -> impl Iterator<Item = &ReportListing> {
    known.proofs.iter().filter(move |proof| proof.id != id)
}

fn is_clean(verdict: Verdict) -> bool {
    verdict <= Verdict::Degraded
}

fn sentence(fault: &ReportId, why: &str, reason: &str) -> String {
    format!("the fault of report {fault} is not shown to be over: {why}; of what was tried: {reason}")
}

/// The reports of the node's past, as they would be judged today.
struct Stored<'s> {
    store: &'s dyn ReportStore,
    site: &'s Site,
}

async fn body(store: &Stored<'_>, listing: &ReportListing) -> Result<Report, IngestError> {
    let stored = store.store.report(Some(&listing.node), &listing.id).await?;
    let stored = stored.ok_or_else(|| IngestError::Damaged(format!("report {} is gone", listing.id)))?;
    let site = store.site.clone();
    let work = tokio::task::spawn_blocking(move || {
        let mut report = parse_stored(&stored)?.report;
        site.judge(&mut report, stored.listing.received_at);
        Ok::<_, IngestError>(report)
    });
    work.await.map_err(|_| IngestError::Panicked)?
}

/// The verdict of an earlier report by today's policy, and never worse than what was kept: what is only known beside other reports is
/// in that.
fn verdict_today(body: &Report, kept: Verdict, site: &Site) -> Verdict {
    if site.policy.rules.is_empty() {
        return kept;
    }
    claim::told(body, &site.policy).verdict.min(kept)
}

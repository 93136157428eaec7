//! A report beside the node's other reports, in whatever order they come: health does not end a fault that it does not
//! cover, and a wrong clock does not hide a fault.

use std::sync::Arc;

use kb_core::report::Report;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::boots::contradict_clock;
use super::clock::{by_its_own_clock, is_unsure};
use super::later::hold_against_later;
use super::left::{self, Left, Told};
use super::of_ledger::is_of_ledger;
use super::open::{by_look, by_proof, leaves_gone, settle};
use super::past::{Past, policy_for};
use super::roll::hold_against_roll;
use super::warned::Warned;
use super::{IngestError, machine};
use crate::store::{Causes, Judged, NewReport, OPEN_FAULTS, Origin, Proofs, Refuted, ReportListing, Weight};

/// Most proofs of health that a fault is held against which came late, the latest first: a probe every ten minutes proves so much in
/// a day, and each is read and parsed.
const MOST: u32 = 144;

/// Holds a report against the node's other reports. `new` is about to be kept: its weight, verdict, reason and time become
/// what they are worth beside them. `is_sure`: it is known when the run ended.
pub(super) async fn judge(
    past: &Past<'_>,
    new: &mut NewReport,
    (sent, is_sure): (&Arc<Report>, bool),
) -> Result<(), IngestError> {
    new.causes.only_warns = warns_beside_doubt(past, new, sent).await?;
    if new.weight == Weight::Look && new.causes.only_warns.is_none() {
        return judge_look(past, new, (sent, is_sure)).await;
    }
    if new.weight == Weight::Look {
        return judge_doubtful(past, new, (sent, is_sure)).await;
    }
    let known = past.reports.proofs(&new.node, new.simulated, MOST).await?;
    let mut judged = Judged::beside(&known);
    if is_clean(new.verdict) && new.weight == Weight::Proof {
        count_from_own_clock(new, &known);
        hold_against_faults(past, new, sent, (&known, &mut judged)).await?;
        if new.tells_of_fault() {
            let is_sure = is_sure && !contradict_clock(past, new, sent, &known).await?;
            hold_against_health(past, new, (sent, is_sure), (&known, &mut judged)).await?;
            if of_ledger(past, new, sent).await? {
                hold_against_latest(past, new, sent, (&known, &mut judged)).await?;
            }
        }
        add_later(past, new, sent, (&known, &mut judged.refuted)).await?;
    } else {
        let own = new.ended();
        let is_sure = is_sure && !contradict_clock(past, new, sent, &known).await?;
        if new.weight == Weight::Alarm {
            count_from_arrival(past, new, is_sure, known.latest.iter());
            if new.origin == Origin::Look && new.verdict == Verdict::Degraded && machine::is_of_working(sent)
            {
                hold_against_roll(past, new, sent, &known).await?;
            }
        }
        hold_against_health(past, new, (sent, is_sure), (&known, &mut judged)).await?;
        add_later(past, new, sent, (&known, &mut judged.refuted)).await?;
        let is_alarm = new.weight == Weight::Alarm;
        if is_alarm || of_ledger(past, new, sent).await? {
            hold_against_latest(past, new, sent, (&known, &mut judged)).await?;
        }
        // A look with a warning of its own may read the causes of earlier alarms as good. A time that was moved may be too late: it
        // ends nothing.
        if is_alarm && new.origin == Origin::Look && new.ended() == own {
            by_look(past, new, sent, (&known, &mut judged)).await?;
        }
    }
    settle(past, new, sent, (&known, &mut judged)).await?;
    new.judged = Some(judged);
    Ok(())
}

/// A look of all GPUs proves nothing. It tells where a GPU is gone, and that alarms are over whose causes it reads as good.
async fn judge_look(
    past: &Past<'_>,
    new: &mut NewReport,
    (sent, is_sure): (&Arc<Report>, bool),
) -> Result<(), IngestError> {
    if !machine::is_of_working(sent) {
        return Ok(());
    }
    let known = past.reports.proofs(&new.node, new.simulated, 1).await?;
    hold_against_roll(past, new, sent, &known).await?;
    if new.weight == Weight::Alarm {
        return judge_alarm(past, new, (sent, is_sure)).await;
    }
    let mut judged = Judged::beside(&known);
    by_look(past, new, sent, (&known, &mut judged)).await?;
    judged.refuted = hold_against_later(past, new, sent, &known).await?;
    if !judged.ends.is_empty() || !judged.warns.is_empty() || !judged.refuted.is_empty() {
        new.judged = Some(judged);
    }
    Ok(())
}

/// Why a report that could not tell how the node is opens what it warns of all the same; `None` where it warns of nothing.
async fn warns_beside_doubt(
    past: &Past<'_>,
    new: &NewReport,
    sent: &Arc<Report>,
) -> Result<Option<String>, IngestError> {
    let is_doubtful = new.weight == Weight::Look
        && new.verdict == Verdict::Unknown
        && new.origin != Origin::Converted
        && !sent.gpus.is_empty();
    if !is_doubtful {
        return Ok(None);
    }
    let report = Arc::clone(sent);
    let warns =
        past.on_blocking_thread(move |site| !Warned::of(&report, &policy_for(site, &report)).is_empty());
    let told = || "it warns of what was seen beside a cause that could not be told".to_owned();
    Ok(warns.await?.then(told))
}

async fn of_ledger(past: &Past<'_>, new: &NewReport, sent: &Arc<Report>) -> Result<bool, IngestError> {
    let (report, causes) = (Arc::clone(sent), new.causes.names.clone());
    past.on_blocking_thread(move |site| is_of_ledger(&report, &causes, &policy_for(site, &report)))
        .await
}

/// A report that could not tell, and warns of something beside that. GPUs that are gone weigh more.
async fn judge_doubtful(
    past: &Past<'_>,
    new: &mut NewReport,
    (sent, is_sure): (&Arc<Report>, bool),
) -> Result<(), IngestError> {
    let known = past.reports.proofs(&new.node, new.simulated, MOST).await?;
    if machine::is_of_working(sent) {
        hold_against_roll(past, new, sent, &known).await?;
        if new.weight == Weight::Alarm {
            new.causes.only_warns = None;
            return judge_alarm(past, new, (sent, is_sure)).await;
        }
    }
    let mut judged = Judged::beside(&known);
    let is_sure = is_sure && !contradict_clock(past, new, sent, &known).await?;
    hold_against_health(past, new, (sent, is_sure), (&known, &mut judged)).await?;
    hold_against_latest(past, new, sent, (&known, &mut judged)).await?;
    add_later(past, new, sent, (&known, &mut judged.refuted)).await?;
    settle(past, new, sent, (&known, &mut judged)).await?;
    new.judged = Some(judged);
    Ok(())
}

/// A look that shows a GPU gone, beside health that came before it and is of a later run.
async fn judge_alarm(
    past: &Past<'_>,
    new: &mut NewReport,
    (sent, is_sure): (&Arc<Report>, bool),
) -> Result<(), IngestError> {
    let known = past.reports.proofs(&new.node, new.simulated, MOST).await?;
    let mut judged = Judged::beside(&known);
    let is_sure = is_sure && !contradict_clock(past, new, sent, &known).await?;
    hold_against_health(past, new, (sent, is_sure), (&known, &mut judged)).await?;
    add_later(past, new, sent, (&known, &mut judged.refuted)).await?;
    hold_against_latest(past, new, sent, (&known, &mut judged)).await?;
    settle(past, new, sent, (&known, &mut judged)).await?;
    new.judged = Some(judged);
    Ok(())
}

/// Adds the later reports that this one refutes by the GPUs that it shows, apart from those that are refuted already.
async fn add_later(
    past: &Past<'_>,
    new: &NewReport,
    sent: &Arc<Report>,
    (known, refuted): (&Proofs, &mut Vec<Refuted>),
) -> Result<(), IngestError> {
    for later in hold_against_later(past, new, sent, known).await? {
        if refuted.iter().all(|other| other.id != later.id) {
            refuted.push(later);
        }
    }
    Ok(())
}

/// Holds what came late against the node's latest look, which may have read it as good.
async fn hold_against_latest(
    past: &Past<'_>,
    new: &mut NewReport,
    sent: &Arc<Report>,
    (known, judged): (&Proofs, &mut Judged),
) -> Result<(), IngestError> {
    let at = new.ended();
    let is_good = |latest: &&ReportListing| {
        latest.simulated == new.simulated
            && latest.weight == Weight::Look
            && latest.verdict <= Verdict::NoFaultSeen
            && latest.ended() > at
    };
    let Some(look) = known.latest.as_ref().filter(is_good).filter(|_| !judged.is_over) else {
        return Ok(());
    };
    let look = past.body(look).await?;
    let told = Told::of(sent, new.opens(), &new.causes);
    let told = told.beside_look(past, (&new.node, look.as_ref())).await?;
    let seen = Arc::clone(&look);
    let left = past.on_blocking_thread(move |site| {
        let is_working = machine::is_of_working(&seen);
        is_working.then(|| left::by_look(site, &told, &seen))
    });
    let Some(left) = left.await? else {
        return Ok(());
    };
    if matches!(left, Left::All(_))
        || leaves_gone(past, (&new.node, &new.causes), &look)
            .await?
            .is_some()
    {
        return Ok(());
    }
    match left {
        Left::Warning(why) => new.causes.only_warns = Some(why),
        Left::Nothing | Left::All(_) => judged.is_over = true,
    }
    Ok(())
}

/// Holds a proof of health against what was open before it, and notes what it ends. One that leaves a fault open is no proof of health, and
/// ends the others all the same.
async fn hold_against_faults(
    past: &Past<'_>,
    new: &mut NewReport,
    sent: &Arc<Report>,
    (known, judged): (&Proofs, &mut Judged),
) -> Result<(), IngestError> {
    let ended = by_proof(past, new, sent, known).await?;
    let left = ended.left.map(|(fault, why)| {
        format!(
            "the fault of report {} is not shown to be over: {why}",
            fault.report.id
        )
    });
    let more = known.has_more_open.then(|| {
        format!("more than {OPEN_FAULTS} faults are open, and each run is held against so many: run it again")
    });
    if let Some((fault, why)) = &ended.carried {
        let id = &fault.report.id;
        new.reason = format!(
            "{}; what report {id} warned of is carried on, since it was not seen again: {why}",
            new.reason
        );
    }
    if let Some(why) = left.or(more) {
        new.weight = if new.verdict == Verdict::Healthy {
            new.reason = format!("{why}; of what was tried: {}", new.reason);
            new.verdict = Verdict::Unknown;
            Weight::Look
        } else {
            Weight::Alarm
        };
    } else {
        hold_against_roll(past, new, sent, known).await?;
    }
    for fault in ended.faults {
        let place = (&fault.report.node, &fault.causes);
        if leaves_gone(past, place, sent).await?.is_none() {
            judged.ends.push(fault.report.id.clone());
        }
    }
    for (fault, why) in ended.but_warnings {
        let place = (&fault.report.node, &fault.causes);
        if leaves_gone(past, place, sent).await?.is_none() {
            judged.warns.push((fault.report.id.clone(), why));
        }
    }
    Ok(())
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
    let faults = known.open.iter().map(|fault| &fault.report);
    let is_doubtful = |fault: &ReportListing| {
        let is_between = fault.ended() > own && fault.ended() <= new.ended();
        // By one clock, right or wrong, it ended later.
        is_between && fault.finished_at >= new.finished_at
    };
    if faults.chain(alarm).any(is_doubtful) {
        new.ended_at = None;
    }
}

/// Holds what a report tells against later proofs of health: which of them do not end its fault, each with the reason, and whether one ends
/// it, or all but what it warned of.
async fn hold_against_health(
    past: &Past<'_>,
    new: &mut NewReport,
    (sent, is_sure): (&Arc<Report>, bool),
    (known, judged): (&Proofs, &mut Judged),
) -> Result<(), IngestError> {
    let at = new.ended();
    let later = known.proofs.iter().filter(|proof| proof.id != new.id);
    let mut later: Vec<&ReportListing> = later.filter(|proof| proof.ended() > at).collect();
    // Those that end the fault and leave the warning, the first first.
    let mut milder: Vec<(&ReportListing, String)> = Vec::new();
    while let Some(proof) = later.last().copied() {
        let health = past.body(proof).await?;
        let left = if let Some(gone) = leaves_gone(past, (&new.node, &new.causes), &health).await? {
            Left::All(gone)
        } else {
            // What one proof has ended, no other need show again.
            let verdict = if milder.is_empty() {
                new.opens()
            } else {
                Verdict::Degraded
            };
            let told = Told::of(sent, verdict, &new.causes);
            past.on_blocking_thread(move |site| left::by_proof(site, &told, &health))
                .await?
        };
        let why = match left {
            Left::Nothing => break,
            Left::Warning(why) => {
                later.pop();
                milder.push((proof, why));
                continue;
            }
            Left::All(why) => why,
        };
        later.pop();
        if new.opens() == Verdict::Degraded || !milder.is_empty() {
            // Health beside a warning that it did not see again is health.
            continue;
        }
        judged.refuted.push(Refuted {
            id: proof.id.clone(),
            weight: Weight::Look,
            reason: format!(
                "the fault of report {} is not shown to be over: {why}; of what was tried: {}",
                new.id, proof.reason
            ),
            causes: Causes::default(),
            finding: None,
            is_over: false,
        });
    }
    let ending = milder
        .iter()
        .map(|(proof, _)| *proof)
        .chain(later.iter().copied());
    count_from_arrival(past, new, is_sure, ending);
    let at = new.ended();
    judged.is_over = later.iter().any(|proof| proof.ended() > at);
    if let Some((_, why)) = milder.into_iter().rfind(|(proof, _)| proof.ended() > at) {
        new.causes.only_warns = Some(why);
    }
    Ok(())
}

/// Puts a fault behind what came before it and seems later, where a clock is in doubt: a fault that a wrong clock hides is
/// worse than one that is told until the next proof.
fn count_from_arrival<'a>(
    past: &Past<'_>,
    new: &mut NewReport,
    is_sure: bool,
    came_before: impl Iterator<Item = &'a ReportListing>,
) {
    // A report that is judged again stays before those that came after it.
    let came_before = came_before.filter(|other| !past.is_again || other.received_at <= new.received_at);
    let doubtful = came_before.filter(|other| !is_sure || is_unsure(other));
    let last: Option<OffsetDateTime> = doubtful.map(ReportListing::ended).max();
    if let Some(last) = last.filter(|last| *last > new.ended()) {
        new.ended_at = Some(last);
    }
}

fn is_clean(verdict: Verdict) -> bool {
    verdict <= Verdict::Degraded
}

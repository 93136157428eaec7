//! Accepting an agent's report: once, strictly, and explained at once.
//!
//! ```text
//! parse     bytes -> strict JSON -> schema version -> report      validate  indices, times and sizes that fit together
//! pack      measurements -> one n x n matrix each                 weight    proof, alarm or a mere look
//! claim     the verdict that the checks bear out             ends      whether a proof of health ends a fault
//! proofs    a report beside the node's other proofs         clock     when a run ended by the server's clock
//! gone      which GPUs of an earlier report a later has       machine   GPUs, for what happened to the node
//! open      which open faults a report ends, and its own    over      whether a look ends an alarm
//! causes    what a report tells of a fault, by names         roll      GPUs that earlier reports show and this one not
//! warned    what a report warns of                           seen_again  whether a later one measured and read that again
//! later     later reports that show fewer GPUs               boots     whether the node's boots speak against a clock
//! collective  whether a collective that failed has passed again
//! left      what a later report leaves of an earlier one     of_ledger what the ledger of a report holds open
//! ledgers   the ledgers of two reports                        devices   where the devices of an earlier report are in a later one
//! both      two reports, GPU by GPU and pair by pair       number    how many GPUs the node of a report has, each counted once
//! logged    what the logs of a report say against it       log_read  whether a later one has read these logs again
//! unread    states that only a ledger or a run told, and a proof did not read
//! alone     what a report tells by itself: verdict and findings by one policy
//! anew      a kept report is judged by other rules     mod       keep, correlate, answer
//! ```

mod alone;
mod anew;
mod boots;
mod both;
mod causes;
mod claim;
mod clock;
mod collective;
mod devices;
mod ends;
mod error;
mod gone;
mod later;
mod ledgers;
mod left;
mod load;
mod log_read;
mod logged;
mod machine;
mod number;
mod of_ledger;
mod open;
mod over;
mod pack;
mod parse;
mod past;
mod proofs;
mod roll;
mod seen_again;
mod unread;
mod validate;
mod warned;
mod weight;

#[cfg(test)]
mod tests;

pub(in crate::domain) use alone::{Alone, judge_alone};
pub(in crate::domain) use anew::keep_anew;
pub use clock::Arrival;
pub use error::{IngestError, Problem};
pub use machine::hardware;
pub use parse::{MAX_BODY_BYTES, Parsed, body_of, parse, parse_stored, stored_report};
use past::Past;

use std::sync::Arc;

use kb_core::ids::{NodeId, ReportId, Seq};
use kb_core::policy::Policy;
use kb_core::report::Report;
use kb_core::text::Sha256;
use kb_core::verdict::Verdict;

use super::baseline;
use super::correlate::{Correlator, judge_node_again};
use super::enrol::Writer;
use super::facets;
use super::policy::Site;
use crate::feed::Generation;
use crate::store::{
    BaselineStore, Causes, Found, NewReport, ReportSaved, ReportStore, StoreError, StoredFinding,
    ToldBaseline, Weight,
};

/// Compression level of kept bodies. A report of eight GPUs (456 kB) becomes 10.2 kB in 0.15 ms; level 6 makes 9.1 kB of it in 3.5 ms.
const ZSTD_LEVEL: i32 = 3;
/// How often a report is held against the node's other proofs while more of them come.
const MOST_ATTEMPTS: u32 = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    pub node: NodeId,
    pub id: ReportId,
    /// True when the same body had come before.
    pub is_duplicate: bool,
    pub verdict: Verdict,
    pub findings: Vec<StoredFinding>,
    pub seq: Seq,
    /// Host name, unless redacted.
    pub hostname: Option<String>,
    pub logs: Vec<String>,
}

struct Prepared {
    report: NewReport,
    sent: Arc<Report>,
    /// Whether it is known when the run ended.
    is_sure: bool,
}

/// Accepts one report. `body` is the JSON as sent, decompressed, at most [`MAX_BODY_BYTES`].
///
/// Sending the same body again is fine: the report stays as it is, and is judged by the rules of today where it tells of its node.
pub async fn accept(
    store: &dyn BaselineStore,
    generation: &Arc<Generation>,
    correlator: &Arc<Correlator>,
    (body, writer): (Vec<u8>, Writer),
    arrival: Arrival,
) -> Result<Accepted, IngestError> {
    let reading = tokio::task::spawn_blocking(move || {
        let parsed = parse(&body)?;
        writer.may_write(&parsed.report.node.id)?;
        Ok::<_, IngestError>((parsed, body))
    });
    let (parsed, body) = reading.await.map_err(|_| IngestError::Panicked)??;
    let site = correlator.site(store, generation, &parsed.report.node.id).await?;
    let of_today = (&parsed.report.node.id, site.rule_set.as_str());
    judge_node_again(store, generation, correlator, of_today).await?;
    let (knowledge, engine) = (Arc::clone(generation), Arc::clone(correlator));
    let of_node = site.clone();
    let work =
        tokio::task::spawn_blocking(move || prepare(&knowledge, &engine, (parsed, &body), &of_node, arrival));
    let mut prepared = work.await.map_err(|_| IngestError::Panicked)??;
    let times = (arrival.received_at, prepared.report.ended());
    let may_end = match prepared.report.weight {
        Weight::Proof => true,
        Weight::Look => !prepared.report.measurements.is_empty(),
        Weight::Alarm => false,
    };
    let apart = correlator
        .apart(
            (store, generation),
            (&prepared.sent, may_end),
            &site.policy,
            times,
        )
        .await?;
    if let Some(found) = &mut prepared.report.found {
        found.findings.extend(apart);
    }
    let (node, id) = (prepared.report.node.clone(), prepared.report.id.clone());
    let (saved, verdict) = save(store, &prepared, &site).await?;
    let is_duplicate = match saved {
        ReportSaved::Stored => false,
        ReportSaved::Duplicate => true,
        ReportSaved::Conflict => return Err(IngestError::Conflict { node, id }),
        ReportSaved::Overtaken => {
            let why = "too many reports of the node came at once".to_owned();
            return Err(StoreError::Unavailable(why).into());
        }
    };
    if is_duplicate && let Some(kept) = store.report(Some(&node), &id).await? {
        let alone = Alone {
            verdict: prepared.report.verdict,
            reason: prepared.report.reason.clone(),
            weight: prepared.report.weight,
            findings: prepared.report.found.take().unwrap_or_default().findings,
            names: prepared.report.causes.names.clone(),
        };
        let by = (generation.seq, &site);
        keep_anew(store, by, &kept.listing, (&prepared.sent, alone)).await?;
    }
    // Rules of today may call good what came before; of a new one it is kept with the report.
    let told = prepared
        .report
        .baseline
        .filter(|_| is_duplicate && verdict == Verdict::Healthy);
    if let Some(ToldBaseline { cohort, series }) = told {
        store.note_baseline(&node, &cohort, series).await?;
    }
    let findings = store.findings(&node, &id).await?;
    Ok(Accepted {
        hostname: prepared.report.hostname,
        logs: if is_duplicate {
            Vec::new()
        } else {
            let sent = Arc::unwrap_or_clone(prepared.sent);
            sent.logs.into_iter().map(|log| log.text).collect()
        },
        node,
        id,
        is_duplicate,
        verdict,
        findings,
        seq: generation.seq,
    })
}

/// What a report may be taken to say by a policy that it was judged by.
pub fn verdict_by(report: &Report, policy: &Policy) -> Verdict {
    claim::told(report, policy).verdict
}

/// Keeps a report as what it is worth beside the node's other proofs; where others overtake it, it is held against them again.
async fn save(
    store: &dyn ReportStore,
    prepared: &Prepared,
    site: &Site,
) -> Result<(ReportSaved, Verdict), IngestError> {
    let past = Past {
        reports: store,
        site,
        is_again: false,
    };
    let mut attempts = 0;
    loop {
        attempts += 1;
        let mut report = prepared.report.clone();
        proofs::judge(&past, &mut report, (&prepared.sent, prepared.is_sure)).await?;
        let verdict = report.verdict;
        report.baseline = report.baseline.filter(|_| verdict == Verdict::Healthy);
        let saved = store.save_report(report).await?;
        if saved != ReportSaved::Overtaken || attempts == MOST_ATTEMPTS {
            return Ok((saved, verdict));
        }
    }
}

fn prepare(
    generation: &Generation,
    correlator: &Correlator,
    (parsed, body): (Parsed, &[u8]),
    site: &Site,
    arrival: Arrival,
) -> Result<Prepared, IngestError> {
    let Parsed {
        mut report,
        body: value,
    } = parsed;
    let times = validate::check(&report)?;
    let by = (&site.policy, arrival.received_at);
    let Alone {
        verdict,
        reason,
        weight,
        findings,
        names,
    } = judge_alone(generation, correlator, (&mut report, &value), by);
    let measurements = pack::matrices(&report)?;
    let clock = clock::told(times.finished_at, arrival);
    let machine = machine::of(&report, clock.clock);
    let mut kept = NewReport {
        node: report.node.id.clone(),
        id: report.report_id.clone(),
        hostname: report.node.hostname.clone(),
        body_zstd: zstd::encode_all(body, ZSTD_LEVEL).map_err(IngestError::Compress)?,
        // White space around it is no part of a report: alone or in a batch, it is the same one.
        body_sha256: Sha256::of(body.trim_ascii()).to_string(),
        body_bytes: u64::try_from(body.len()).unwrap_or(u64::MAX),
        finished_at: times.finished_at,
        received_at: arrival.received_at,
        ended_at: clock.ended_at,
        schema: (report.schema.major, report.schema.minor),
        simulated: report.simulated,
        verdict,
        weight,
        origin: weight::origin(&report),
        reason,
        gpus: u32::try_from(report.gpus.len()).unwrap_or(u32::MAX),
        measurements,
        machine,
        causes: Causes {
            names,
            ..Causes::default()
        },
        judged: None,
        hardware: machine::hardware(&report),
        facets: None,
        baseline: None,
        found: Some(Found {
            seq: generation.seq,
            rule_set: Some(site.rule_set.clone()),
            findings,
        }),
    };
    kept.facets = facets::told(&report, kept.ended());
    if verdict == Verdict::Healthy {
        kept.baseline = baseline::kept(&report, kept.ended());
    }
    Ok(Prepared {
        report: kept,
        sent: Arc::new(report),
        is_sure: clock.is_sure,
    })
}

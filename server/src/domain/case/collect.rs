//! Puts a case together from what the store keeps. It reads a bounded number of reports: the one whose verdict stands, the latest, the latest
//! that measured something, and the latest that told of something, also of what is over.

use kb_core::baseline::{Reviewed, Standing};
use kb_core::ids::NodeId;
use kb_core::render::baseline as words;
use kb_core::report::{Report, Verdict};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{
    Case, CaseError, CaseEvent, CaseFinding, CaseGpu, CaseMeasurements, CaseNode, CaseRun, Tried, form,
    timeline,
};
use crate::domain::baseline::{self, Review};
use crate::domain::node_events;
use crate::domain::reports::{self, ReportView};
use crate::store::{ReportListing, ReportQuery, Store, StoredFinding, Weight};

/// Reports that are looked through for proofs.
const REPORTS: u32 = 200;
const PROOFS: usize = 20;
/// Reports about faults that are read beside the others; one of eight GPUs is half a megabyte.
const FAULTS: usize = 8;
const EVENTS: u32 = 50;
/// Figures that are told in words.
const LINES: usize = 20;

/// The case of a node; `None` when no report of it came.
pub async fn collect(
    store: &dyn Store,
    node: &NodeId,
    now: OffsetDateTime,
) -> Result<Option<Case>, CaseError> {
    let Some(listing) = store.node(node).await? else {
        return Ok(None);
    };
    let Some(standing) = reports::read(store, Some(node), &listing.latest.id).await? else {
        return Ok(None);
    };
    let latest = if listing.last_seen.id == listing.latest.id {
        None
    } else {
        reports::read(store, Some(node), &listing.last_seen.id).await?
    };
    let measured = baseline::latest(store, node).await?;
    let events = store.node_events(node, EVENTS).await?;
    let query = ReportQuery {
        node: Some(node.clone()),
        before: None,
        limit: REPORTS,
    };
    let listed = store.reports(query).await?;

    let newest = latest.as_ref().unwrap_or(&standing);
    let mut read: Vec<&ReportView> = [
        latest.as_ref(),
        Some(&standing),
        measured.as_ref().map(|(view, _)| view),
    ]
    .into_iter()
    .flatten()
    .collect();
    let faults = faults(store, node, (&listed, &read)).await?;
    read.extend(&faults);
    read.sort_by(|one, other| {
        let newest_first = other.listing.ended().cmp(&one.listing.ended());
        newest_first.then_with(|| one.listing.id.as_str().cmp(other.listing.id.as_str()))
    });
    read.dedup_by(|one, other| one.listing.id == other.listing.id);
    let timeline = timeline::of(read.iter().map(|view| &view.report));
    let proofs = listed
        .iter()
        .filter(|report| report.weight == Weight::Proof || report.verdict == Verdict::Healthy);
    let clears = newest.report.health.as_ref().map(|health| health.clears.clone());
    let described = described(newest, &standing);
    Ok(Some(Case {
        made_at: rfc3339(now),
        simulated: standing.listing.simulated,
        node: CaseNode {
            id: node.to_string(),
            hostname: listing.hostname.clone(),
            labels: listing.labels.clone(),
            first_seen: rfc3339(listing.first_seen),
            reports: listing.reports,
        },
        standing: run(&standing.listing),
        form: form::answers(
            described,
            timeline::numbers(&timeline),
            (read.len(), listing.reports),
        ),
        findings: standing.findings.iter().map(finding).collect(),
        timeline,
        proofs: proofs.take(PROOFS).map(run).collect(),
        measurements: measured.map(|(view, review)| measurements(&view, review)),
        tried: Tried {
            clears: clears.unwrap_or_default(),
            events: events
                .iter()
                .map(|event| CaseEvent {
                    at: rfc3339(event.at),
                    text: node_events::sentence(&event.change),
                })
                .collect(),
        },
        host: described.host.clone(),
        gpus: gpus(described),
    }))
}

/// The latest reports that told of a fault and are not read yet, and where few did, the latest with a finding.
async fn faults(
    store: &dyn Store,
    node: &NodeId,
    (listed, read): (&[ReportListing], &[&ReportView]),
) -> Result<Vec<ReportView>, CaseError> {
    let unread = listed
        .iter()
        .filter(|report| read.iter().all(|view| view.listing.id != report.id));
    let (told, others): (Vec<_>, Vec<_>) = unread.partition(|report| report.tells_of_fault());
    let found = others.into_iter().filter(|report| report.findings > 0);
    let mut views = Vec::new();
    for report in told.into_iter().chain(found).take(FAULTS) {
        views.extend(reports::read(store, Some(node), &report.id).await?);
    }
    Ok(views)
}

/// The report that tells most of the machine: the newest that lists as many GPUs as the one whose verdict stands.
fn described<'v>(newest: &'v ReportView, standing: &'v ReportView) -> &'v Report {
    if newest.report.gpus.len() >= standing.report.gpus.len() {
        &newest.report
    } else {
        &standing.report
    }
}

fn gpus(report: &Report) -> Vec<CaseGpu> {
    let gpus = report.gpus.iter().enumerate();
    gpus.map(|(index, gpu)| CaseGpu {
        index,
        name: gpu.name.clone(),
        uuid: gpu.uuid.clone(),
        pci_address: gpu.pci_address.clone(),
        facts: gpu.facts.clone(),
    })
    .collect()
}

fn run(listing: &ReportListing) -> CaseRun {
    CaseRun {
        report_id: listing.id.to_string(),
        at: rfc3339(listing.ended()),
        verdict: listing.verdict.word().to_owned(),
        reason: listing.reason.clone(),
        gpus: listing.gpus,
    }
}

fn finding(stored: &StoredFinding) -> CaseFinding {
    CaseFinding {
        subject: stored.finding.subject.clone(),
        title: stored.finding.title.clone(),
        record: stored.finding.record.as_ref().map(|(id, _)| id.to_string()),
    }
}

fn measurements(view: &ReportView, review: Review) -> CaseMeasurements {
    let cohort = match &review.cohort {
        Ok(cohort) => format!(
            "{} other nodes with {} and driver {}",
            review.peers, cohort.model, cohort.driver_branch
        ),
        Err(why) => format!("no other node: {}", words::unplaced(*why)),
    };
    CaseMeasurements {
        report_id: view.listing.id.to_string(),
        at: rfc3339(view.listing.ended()),
        cohort,
        lines: lines(&review.figures),
        outliers: review.outliers,
    }
}

/// The figures that stand worst, in words.
fn lines(figures: &[Reviewed]) -> Vec<String> {
    let mut worse: Vec<&Reviewed> = figures
        .iter()
        .filter(|item| item.standing() >= Standing::Watch)
        .collect();
    if worse.is_empty() {
        let compared = figures.iter().filter(|item| item.standing() == Standing::Normal);
        return vec![format!(
            "{} figures, {} of them compared: none stands out",
            figures.len(),
            compared.count()
        )];
    }
    worse.sort_by_key(|item| std::cmp::Reverse(item.standing()));
    worse.into_iter().take(LINES).map(line).collect()
}

fn line(item: &Reviewed) -> String {
    let (figure, series) = (&item.figure, &item.figure.series);
    let end = |gpu: Option<u32>| gpu.map_or_else(|| "others".to_owned(), |gpu| format!("GPU {gpu}"));
    format!(
        "{}, {} bytes, {} to {}, {}: {:.2} {}; {}; {}; {}; {}",
        series.test,
        series.bytes,
        end(figure.source),
        end(figure.destination),
        words::link(&series.link),
        figure.value,
        series.unit,
        words::with_peers(&item.peers),
        words::in_node(&item.in_node),
        words::own(&item.own),
        words::reference(&item.reference)
    )
}

fn rfc3339(time: OffsetDateTime) -> String {
    time.format(&Rfc3339).unwrap_or_default()
}

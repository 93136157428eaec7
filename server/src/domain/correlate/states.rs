//! What the agent itself holds against a node: faults and warnings that its ledger has open, and GPUs that are not there.
//! Each becomes a finding of the record that the agent names, as far as that is published here.

use kb_core::health::{Bearing, Entry};
use kb_core::ids::{RecordId, Revision};
use kb_core::observation::{Recovery, canonical, cause};
use kb_core::report::{AbsentGpu, Report, fact_name};
use kb_core::severity::{Action, Severity};
use serde_json::json;

use super::evidence::Evidence;
use crate::feed::Generation;
use crate::store::{Gravity, NewFinding};

pub(super) fn findings<'a>(
    generation: &'a Generation,
    report: &'a Report,
) -> impl Iterator<Item = NewFinding> + 'a {
    let open = report.health.iter().flat_map(|health| &health.open);
    let open = open.enumerate();
    let open = open
        .filter(|(_, entry)| entry.bearing != Bearing::Event || entry.by_policy.is_some())
        .map(|(index, entry)| of_entry((generation, report), index, entry));
    let absent = report.absent.iter().enumerate();
    let absent = absent.filter_map(|(index, gpu)| of_absent(generation, index, gpu));
    open.chain(absent)
}

fn of_entry((generation, report): (&Generation, &Report), index: usize, entry: &Entry) -> NewFinding {
    let mut evidence = Evidence::new();
    evidence.pointer(
        &format!("/health/open/{index}"),
        &json!({
            "bearing": entry.bearing.word(),
            "nature": entry.nature.word(),
            "count": entry.count,
            "first_at": entry.first_at,
            "last_at": entry.last_at,
        }),
    );
    let record = published(generation, entry.record.as_ref());
    let annex = record.as_ref().and_then(|(id, _)| generation.record(id));
    let annex = annex.map(|published| &published.record.annex);
    // A state has neither in the ledger; what its record says holds for it, as far as nothing closer was read.
    let severity = annex
        .and_then(|annex| annex.severity)
        .map(|severity| match entry.bearing {
            Bearing::Warning => severity.min(Severity::Warning),
            _ => severity,
        });
    let action = match entry.cause.as_str() {
        cause::RECOVERY_ACTION => asked_for(report, entry),
        // A driver that is loaded again makes this state, too.
        cause::GPU_WITHOUT_DRIVER => entry.action,
        _ => entry.action.or_else(|| annex?.action),
    };
    NewFinding {
        record,
        rule: format!("health/{}", entry.cause),
        subject: format!("device {}", entry.device),
        title: entry.text.clone(),
        evidence: evidence.into_json(),
        gravity: Gravity {
            bearing: entry.bearing,
            severity: entry.severity.or(severity),
            action,
        },
        by_policy: entry.by_policy.clone(),
    }
}

/// What the driver asks for, where the report has read it.
fn asked_for(report: &Report, entry: &Entry) -> Option<Action> {
    let mut gpus = report.gpus.iter();
    let gpu = gpus.find(|gpu| {
        let address = gpu.pci_address.value.as_deref();
        address.is_some_and(|address| canonical(address) == canonical(&entry.device))
    });
    let word = gpu?.facts.get(fact_name::RECOVERY_ACTION)?.value.as_ref()?;
    Recovery::of_fact(word.as_str()?).action()
}

/// Nothing where the absence is information.
fn of_absent(generation: &Generation, index: usize, gpu: &AbsentGpu) -> Option<NewFinding> {
    let cause = gpu.cause.as_deref()?;
    let mut evidence = Evidence::new();
    evidence.pointer(&format!("/absent/{index}"), &json!(gpu.reason));
    Some(NewFinding {
        record: published(generation, gpu.record.as_ref()),
        rule: format!("absent/{cause}"),
        subject: gpu.name(),
        title: gpu.reason.clone(),
        evidence: evidence.into_json(),
        gravity: Gravity::default(),
        by_policy: None,
    })
}

pub(super) fn published(generation: &Generation, record: Option<&RecordId>) -> Option<(RecordId, Revision)> {
    let id = record?;
    // A report may name a record by an id that it had before.
    let now = || generation.record(generation.alias(id.as_str())?);
    let published = generation.record(id).or_else(now)?;
    Some((published.id().clone(), published.revision))
}

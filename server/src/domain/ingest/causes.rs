//! What a report tells of a fault, by names: all that its end asks for. Of two reports, the one that tells all that the other tells
//! ends no sooner.

use std::collections::BTreeSet;

use kb_core::health::needs_admission;
use kb_core::observation::Look;
use kb_core::policy::Policy;
use kb_core::report::{Bearing, Nature, Report};
use kb_core::text::Sha256;
use kb_core::verdict::{Verdict, cause, remapped_during};

use super::ends::failed;
use super::gone::{expected_gpus, name};
use super::number::gone;
use super::over::{is_named, needs_run, refused};
use super::warned::Warned;
use crate::store::{Causes, NewFinding, NewReport, OpenFault, Weight};

/// Most causes of one report that are kept by name; of more the whole is one.
const MOST: usize = 512;

/// The names of what a report tells.
pub(super) fn names(
    report: &Report,
    (weight, verdict): (Weight, Verdict),
    findings: &[NewFinding],
    policy: &Policy,
) -> Vec<String> {
    let look = Look::of(report);
    let nothing = Look::default();
    let states = look.not_read_again(&nothing, str::to_owned);
    let open = report.health.iter().flat_map(|health| &health.open);
    let open = open.filter(|entry| {
        needs_admission(entry) || (entry.nature == Nature::Event && entry.bearing >= Bearing::Warning)
    });
    let loads = report.load.iter().flat_map(|load| &load.findings);
    let loads = loads.filter(|found| found.verdict == Verdict::Broken);
    let counted = findings
        .iter()
        .filter(|finding| finding.gravity.bearing >= Bearing::Unknown);
    let asks_for_service = report
        .pairs
        .iter()
        .any(|pair| pair.verdict.cause.as_deref() == Some(cause::GPU_NEEDS_SERVICE));
    let by_run = weight == Weight::Proof || needs_run(report, verdict);
    let warned = Warned::of(report, policy);
    let unnamed = match verdict {
        Verdict::Degraded => warned.is_unnamed(),
        _ => verdict > Verdict::Unknown && !is_named(report),
    };
    let mut names: BTreeSet<String> = states
        .map(|(cause, device)| format!("state:{cause}@{device}"))
        .collect();
    let remapped = remapped_during(report).into_iter();
    names.extend(remapped.map(|state| format!("state:{}@{}", state.cause, state.device)));
    names.extend(report.gpus.iter().map(|gpu| format!("gpu:{}", name(gpu))));
    names.extend(open.map(|entry| format!("event:{}", entry.id)));
    // Of two that have no name the second is one more.
    names.extend(
        (0..)
            .zip(gone(report))
            .map(|(number, gpu)| match &gpu.pci_address {
                Some(address) => format!("gone:{address}"),
                None => format!("gone:{number}"),
            }),
    );
    names.extend(refused(report).map(|pair| format!("refused:{}-{}", pair.a, pair.b)));
    // Whoever moved less may not have reached what was wrong, so that more of the same check is another name.
    names.extend(failed(report).map(|(_, check)| {
        let (rung, bytes, windows) = (check.rung, check.bytes, check.windows);
        format!("check:{rung}:{}:{bytes}:{windows}", check.name)
    }));
    names.extend(failed(report).map(|(pair, _)| format!("pair:{}-{}", pair.a, pair.b)));
    names.extend(
        report
            .failures
            .iter()
            .map(|failure| format!("step:{}", failure.step)),
    );
    names.extend(loads.map(|found| format!("load:{}", found.cause)));
    names.extend(warned.names());
    names.extend(counted.map(found_name));
    names.extend(expected_gpus(report).map(|gpus| format!("expected:{gpus}")));
    let others = [
        (asks_for_service, "service"),
        (by_run, "run"),
        (unnamed, "unnamed"),
    ];
    names.extend(
        others
            .iter()
            .filter(|(is_so, _)| *is_so)
            .map(|(_, name)| (*name).to_owned()),
    );
    if names.len() > MOST {
        let all: Vec<String> = names.into_iter().collect();
        return vec![format!("many:{}", Sha256::of(all.join("\n").as_bytes()))];
    }
    names.into_iter().collect()
}

fn found_name(finding: &NewFinding) -> String {
    match &finding.record {
        Some((record, _)) => format!("finding:{record}"),
        None => format!("finding:rule:{}", finding.rule),
    }
}

/// A warning is told again by a warning alone: that a worse fault is over says nothing of what was only slow.
fn is_as_bad(told: Verdict, again: Verdict) -> bool {
    told <= again && (told != Verdict::Degraded || again == Verdict::Degraded)
}

/// Whether the new report tells all that an earlier one tells, as badly: the earlier one need not be kept open beside it.
pub(super) fn tells_again(new: &NewReport, earlier: &OpenFault) -> bool {
    let report = &earlier.report;
    report.ended() <= new.ended()
        && is_as_bad(report.verdict, new.opens())
        && (report.weight != Weight::Proof || new.weight == Weight::Proof)
        && is_part(&earlier.causes, &new.causes)
}

/// Whether a later report tells all that the new one tells, which came late.
pub(super) fn is_told_later(new: &NewReport, later: &OpenFault) -> bool {
    let report = &later.report;
    report.ended() > new.ended()
        && is_as_bad(new.opens(), report.verdict)
        && (report.weight == Weight::Proof || new.weight != Weight::Proof)
        && is_part(&new.causes, &later.causes)
}

/// Whether the fault was open before causes were kept: the migration gave it the name of its report.
pub(super) fn is_of_before(fault: &OpenFault) -> bool {
    let name = format!("report:{}", fault.report.id);
    fault.causes.names == [name]
}

pub(super) fn is_part(part: &Causes, whole: &Causes) -> bool {
    let is_of_roll = part.gone_from.is_none() || part.gone_from == whole.gone_from;
    let names: BTreeSet<&String> = whole.names.iter().collect();
    is_of_roll && part.names.iter().all(|name| names.contains(name))
}

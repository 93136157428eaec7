//! How many GPUs the node of a report has. One may stand there twice: where CUDA lists it and NVML calls it lost.

use std::collections::BTreeSet;

use kb_core::observation::canonical;
use kb_core::report::{Absence, AbsentGpu, Fact, Gpu, ReasonCode, Report};

/// GPUs that should be there.
pub(super) fn gone(report: &Report) -> impl Iterator<Item = &AbsentGpu> {
    let absent = report.absent.iter();
    absent.filter(|gpu| matches!(gpu.absence, Absence::Missing | Absence::Lost))
}

/// The GPUs that a report lists and those that it calls lost or missing, each counted once.
pub(super) fn gpus_of_node(report: &Report) -> usize {
    let listed: BTreeSet<String> = report.gpus.iter().filter_map(address).collect();
    let (placed, nameless): (Vec<&AbsentGpu>, Vec<&AbsentGpu>) = gone(report)
        .filter(|gpu| !is_listed_by_name(gpu, &report.gpus))
        .partition(|gpu| gpu.pci_address.is_some());
    let placed: BTreeSet<String> = placed
        .into_iter()
        .filter_map(|gpu| gpu.pci_address.as_deref().map(canonical))
        .filter(|address| !listed.contains(address))
        .collect();
    // NVML does not say where a GPU is that it calls lost: it may be one of those that CUDA lists and NVML does not answer for.
    let silent = report.gpus.iter().filter(|gpu| is_silent(gpu)).count();
    report.gpus.len() + placed.len() + nameless.len().saturating_sub(silent)
}

fn address(gpu: &Gpu) -> Option<String> {
    gpu.pci_address.value.as_deref().map(canonical)
}

/// Whether it was asked for by the UUID or the NVML index of a GPU that is listed.
fn is_listed_by_name(absent: &AbsentGpu, listed: &[Gpu]) -> bool {
    let Some(asked) = absent.asked_as.as_deref().filter(|asked| !asked.is_empty()) else {
        return false;
    };
    let index: Option<u32> = asked.parse().ok();
    listed.iter().any(|gpu| {
        let is_index = index.is_some() && gpu.nvml_index.value == index;
        let uuid = gpu.uuid.value.as_deref();
        is_index || uuid.is_some_and(|uuid| asked.starts_with("GPU-") && uuid.starts_with(asked))
    })
}

/// Whether NVML has no answer for a GPU that is listed.
fn is_silent(gpu: &Gpu) -> bool {
    let is_lost = |fact: &Fact| {
        let code = fact.gap.as_ref().and_then(|gap| gap.reason_code);
        code == Some(ReasonCode::GpuLost)
    };
    gpu.nvml_index.value.is_none() || gpu.facts.values().any(is_lost)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::report;

    fn count(report: &Value) -> usize {
        gpus_of_node(&serde_json::from_value(report.clone()).unwrap())
    }

    fn with(mut report: Value, absent: &Value) -> Value {
        report["absent"] = absent.clone();
        report
    }

    /// The last GPU is one that NVML calls lost and CUDA lists.
    fn silent(mut report: Value) -> Value {
        let last = report["gpus"].as_array_mut().unwrap().last_mut().unwrap();
        last["nvml_index"] =
            json!({ "source": "test", "gap": { "kind": "failed", "reason": "GPU is lost" } });
        report
    }

    #[test]
    fn a_gpu_is_counted_once() {
        let lost = |address: Value| json!({ "absence": "lost", "pci_address": address, "reason": "gone" });
        let nameless = || lost(json!(null));
        for (report, gpus) in [
            (report(2, &[]), 2),
            (with(report(2, &[]), &json!([nameless()])), 3),
            (with(silent(report(2, &[])), &json!([nameless()])), 2),
            (with(silent(report(2, &[])), &json!([nameless(), nameless()])), 3),
            (with(report(2, &[]), &json!([lost(json!("00000000:00:06.0"))])), 2),
            (with(report(2, &[]), &json!([lost(json!("0000:99:00.0"))])), 3),
            (
                with(
                    report(2, &[]),
                    &json!([lost(json!("0000:99:00.0")), lost(json!("0000:99:00.0"))]),
                ),
                3,
            ),
        ] {
            assert_eq!(count(&report), gpus, "{report}");
        }
    }

    #[test]
    fn one_that_was_asked_for_by_name_is_counted_once() {
        let missing = |name: &str| json!([{ "absence": "missing", "asked_as": name, "reason": "not there" }]);
        for (name, gpus) in [("1", 2), ("7", 3), ("GPU-1", 2), ("GPU-9", 3)] {
            assert_eq!(count(&with(report(2, &[]), &missing(name))), gpus, "{name}");
        }
    }
}

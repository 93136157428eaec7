//! Whether what a report says of one GPU or check fits together.

use std::collections::BTreeMap;

use super::Verdict;
use crate::report::{Gap, Gpu, Outcome, ReasonCode, Report};

/// NVML's own words for the code, which stand alone in reports of older agents.
const LOST: [&str; 2] = ["GPU is lost", "GPU_IS_LOST"];

/// A GPU that NVML calls lost where any fact of it was read.
pub(super) fn lost_gpu(report: &Report) -> Option<(Verdict, String)> {
    report.gpus.iter().enumerate().find_map(|(index, gpu)| {
        let gap = gaps(gpu).find(|gap| {
            let says_so = LOST.iter().any(|words| gap.reason.contains(words));
            gap.reason_code == Some(ReasonCode::GpuLost) || says_so
        })?;
        Some((Verdict::Broken, format!("GPU {index}: {}", gap.reason)))
    })
}

fn gaps(gpu: &Gpu) -> impl Iterator<Item = &Gap> {
    let own = [&gpu.name.gap, &gpu.uuid.gap, &gpu.pci_address.gap];
    let numbers = [&gpu.nvml_index.gap, &gpu.memory_bytes.gap];
    let facts = gpu.facts.values().map(|fact| &fact.gap);
    own.into_iter()
        .chain(numbers)
        .chain(facts)
        .filter_map(Option::as_ref)
}

/// Two GPUs with one UUID: one of them hides another.
pub(super) fn one_gpu_twice(report: &Report) -> Option<(Verdict, String)> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    report.gpus.iter().enumerate().find_map(|(index, gpu)| {
        let uuid = gpu.uuid.value.as_deref()?;
        let other = known.insert(uuid, index)?;
        let told = format!("GPU {other} and GPU {index} have the same UUID, {uuid}");
        Some((Verdict::Unknown, told))
    })
}

pub(super) fn passed_with_error(report: &Report) -> Option<(Verdict, String)> {
    report.pairs.iter().find_map(|pair| {
        let mut checks = pair.directions.iter().flat_map(|direction| &direction.checks);
        let check = checks
            .find(|check| check.outcome == Outcome::Pass && check.code.is_some_and(|code| code != 0))?;
        let told = format!(
            "GPU {} and GPU {}: {} passed, and has the code {} of an error",
            pair.a,
            pair.b,
            check.name,
            check.code.unwrap_or_default()
        );
        Some((Verdict::Unknown, told))
    })
}

//! Broken, although data may arrive: the driver or NVML asks for a reset, a reboot, a drain or an exchange of a GPU.

use serde_json::Value;

use super::super::cause;
use super::super::evidence::{Finding, Seen};
use super::{Named, Row};
use crate::observation::{Recovery, cause as state};
use crate::report::fact_name;
use crate::verdict::Verdict;

pub(super) const ROWS: &[Row] = &[Row {
    named: Named {
        cause: cause::GPU_NEEDS_SERVICE,
        verdict: Verdict::Broken,
        record: None,
        means: "NVML says that a GPU needs a reset, a reboot, a drain or an exchange (recovery action, row remapping, SRAM errors).",
        fix: "Let jobs end and reset the GPU (`nvidia-smi --gpu-reset -i INDEX`); what comes back is for service.",
    },
    beside: true,
    applies: gpu_needs_service,
}];

fn gpu_needs_service(pair: &Seen<'_>) -> Option<Finding> {
    let facts: [(&str, &str, Judge); 4] = [
        (fact_name::RECOVERY_ACTION, state::RECOVERY_ACTION, recovery),
        (fact_name::REMAPPED_ROWS_FAILURE, state::REMAP_FAILED, |value| {
            let text = "a row of its memory could not be remapped: let jobs end and have the GPU exchanged";
            is_true(value).then(|| text.to_owned())
        }),
        (
            fact_name::ECC_SRAM_THRESHOLD_EXCEEDED,
            state::SRAM_ERRORS,
            |value| {
                let text = "its SRAM had more uncorrectable errors than allowed: let jobs end and have the GPU exchanged";
                is_true(value).then(|| text.to_owned())
            },
        ),
        (fact_name::REMAPPED_ROWS_PENDING, state::REMAP_PENDING, |value| {
            let text = "rows of its memory wait to be remapped: let jobs end and reset the GPU";
            is_true(value).then(|| text.to_owned())
        }),
    ];
    let mut found = facts.into_iter().flat_map(|(name, state, judge)| {
        // What the site does not call a fault, the ledger shows.
        let of_gpus = pair
            .gpu_facts(name)
            .filter(move |(gpu, ..)| pair.scene.is_fault(state, *gpu));
        of_gpus.filter_map(move |(gpu, value, at)| Some((format!("GPU {gpu}: {}", judge(value)?), at)))
    });
    let (first, at) = found.next()?;
    let (reason, evidence) = found.fold((first, vec![at]), |(reason, mut evidence), (more, at)| {
        evidence.push(at);
        (format!("{reason}; {more}"), evidence)
    });
    Some(Finding::new(reason, evidence))
}

/// What a fact says of the GPU, if it says something bad, and what to do.
type Judge = fn(&Value) -> Option<String>;

fn is_true(value: &Value) -> bool {
    value.as_bool() == Some(true)
}

/// What the driver itself wants done (`NVML_FI_DEV_GET_GPU_RECOVERY_ACTION`).
fn recovery(action: &Value) -> Option<String> {
    let action = Recovery::of_fact(action.as_str()?);
    (action != Recovery::None).then(|| action.sentence())
}

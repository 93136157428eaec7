//! The states of a GPU: from which fact each is read, and what of it is bad.

use serde_json::Value;

use super::{Recovery, cause};
use crate::report::{Bearing, Gap, GapKind, Gpu, ReasonCode, fact_name};

/// Reasons for lower clocks that come from heat or the power supply.
pub(crate) const THROTTLING: [&str; 4] = [
    "hw_slowdown",
    "sw_thermal_slowdown",
    "hw_thermal_slowdown",
    "hw_power_brake_slowdown",
];

/// What an idle GPU names in place of what held it down while it worked.
const IDLE: &str = "gpu_idle";

/// True where the GPU does nothing, so that its clocks tell neither that heat holds them down nor that it does not.
pub(super) fn tells_nothing(name: &str, value: &Value) -> bool {
    name == fact_name::THROTTLE_REASONS
        && words(value).is_some_and(|reasons| {
            reasons.contains(&IDLE) && !reasons.iter().any(|reason| THROTTLING.contains(reason))
        })
}

/// Whether NVML is there and does not work. Of one that is not installed, or of another version than the driver, a report has a note.
pub(super) fn nvml_fails(gap: &Gap) -> bool {
    let is_noted = matches!(
        gap.reason_code,
        Some(ReasonCode::VersionMismatch | ReasonCode::LibraryNotFound | ReasonCode::LibraryNotLoaded)
    );
    matches!(gap.kind, GapKind::Failed | GapKind::NoPermission) && !is_noted
}

/// What a fact's value says: the state that it is about, and what is bad about that. `None` where the value, or that of the
/// fact which it is held against, cannot be read.
type Judge = fn(&Gpu, &Value) -> Option<(&'static str, Option<String>)>;

pub(super) const JUDGED: &[(&str, Option<&str>, Judge)] = &[
    (fact_name::RECOVERY_ACTION, None, |_, value| {
        let action = Recovery::of_fact(value.as_str()?);
        let bad = (action != Recovery::None).then(|| action.sentence());
        Some((cause::RECOVERY_ACTION, bad))
    }),
    (fact_name::REMAPPED_ROWS_FAILURE, None, |_, value| {
        let text = "a row of its memory could not be remapped: let jobs end and have the GPU exchanged";
        Some((cause::REMAP_FAILED, value.as_bool()?.then(|| text.to_owned())))
    }),
    (fact_name::REMAPPED_ROWS_PENDING, None, |_, value| {
        let text = "rows of its memory wait to be remapped: let jobs end and reset the GPU";
        Some((cause::REMAP_PENDING, value.as_bool()?.then(|| text.to_owned())))
    }),
    (fact_name::ECC_SRAM_THRESHOLD_EXCEEDED, None, |_, value| {
        let text =
            "its SRAM had more uncorrectable errors than allowed: let jobs end and have the GPU exchanged";
        Some((cause::SRAM_ERRORS, value.as_bool()?.then(|| text.to_owned())))
    }),
    (fact_name::FABRIC_STATE, None, |gpu, value| {
        let state = value.as_str()?;
        let status = gpu
            .facts
            .get(fact_name::FABRIC_STATUS)
            .and_then(|fact| fact.value.as_ref()?.as_str());
        let bad = match (state, status) {
            ("not_supported", _) | ("completed", None | Some("success" | "not_supported")) => None,
            ("completed", Some(status)) => {
                Some(format!("its registration with the fabric ended with {status}"))
            }
            (state, _) => Some(format!("its registration with the fabric is {state}")),
        };
        Some((cause::FABRIC_NOT_READY, bad))
    }),
    (fact_name::FABRIC_HEALTH, None, |_, value| {
        let troubles = words(value)?;
        let bad = (!troubles.is_empty()).then(|| format!("its fabric says {}", troubles.join(", ")));
        Some((cause::FABRIC_UNHEALTHY, bad))
    }),
    (
        fact_name::NVLINK_LINKS_ACTIVE,
        Some(fact_name::NVLINK_LINKS_EXPECTED),
        |gpu, value| {
            let active = value.as_u64()?;
            let expected = number(gpu, fact_name::NVLINK_LINKS_EXPECTED)?;
            let bad = (active < expected).then(|| format!("{active} of {expected} NVLinks are up"));
            Some((cause::LINKS_DOWN, bad))
        },
    ),
    (
        fact_name::PCIE_LINK_WIDTH,
        Some(fact_name::PCIE_LINK_WIDTH_MAX),
        |gpu, value| {
            let width = value.as_u64()?;
            let most = number(gpu, fact_name::PCIE_LINK_WIDTH_MAX)?;
            let bad = (width < most).then(|| format!("its PCIe link has {width} of {most} lanes"));
            Some((cause::PCIE_LINK_DEGRADED, bad))
        },
    ),
    (fact_name::THROTTLE_REASONS, None, |_, value| {
        let reasons = words(value)?;
        let held: Vec<&str> = reasons
            .into_iter()
            .filter(|reason| THROTTLING.contains(reason))
            .collect();
        let bad = (!held.is_empty()).then(|| format!("its clocks were held down: {}", held.join(", ")));
        Some((cause::THROTTLED, bad))
    }),
];

pub(crate) fn bearing_of(cause: &str) -> Bearing {
    let row = cause::watched(cause);
    row.and_then(|row| row.bearing).unwrap_or(Bearing::Fault)
}

pub(super) fn number(gpu: &Gpu, name: &str) -> Option<u64> {
    gpu.facts.get(name)?.value.as_ref()?.as_u64()
}

fn words(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

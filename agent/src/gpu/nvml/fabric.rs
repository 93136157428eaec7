//! The NVSwitch fabric: three shapes of one answer, the newest that the driver knows.

use kb_core::report::{Fact, GapKind, fact_name};
use nvml_wrapper::Device;
use nvml_wrapper::error::{NvmlError, nvml_try};
use nvml_wrapper_sys::bindings::{
    nvmlGpuFabricInfo_t, nvmlGpuFabricInfo_v2_t, nvmlGpuFabricInfo_v3_t, nvmlGpuFabricInfoV_t,
};

use super::managed::or_older;
use super::raw::{found, get, stamp, word};
use super::{Managed, Sheet};

const STATES: [&str; 4] = ["not_supported", "not_started", "in_progress", "completed"];
const COMPLETED: u8 = 3;
/// `NVML_ERROR_ARGUMENT_VERSION_MISMATCH`: the driver does not know this version of the structure.
const VERSION_MISMATCH: u32 = 25;

/// Troubles in the health mask: two bits each (0 not supported, 1 yes, 2 no), with the first bit's number.
const TROUBLES: [(&str, u32); 4] = [
    ("degraded_bandwidth", 0),
    ("route_recovery", 2),
    ("route_unhealthy", 4),
    ("access_timeout_recovery", 6),
];
const YES: u32 = 1;
/// From bit 8, four bits: what is wrong with the configuration (0 not supported, 1 nothing).
const CONFIGURATION_SHIFT: u32 = 8;
const CONFIGURATIONS: [&str; 6] = [
    "not_supported",
    "none",
    "incorrect_system_guid",
    "incorrect_chassis_serial",
    "no_partition",
    "insufficient_nvlinks",
];
const SUMMARIES: [&str; 4] = ["not_supported", "healthy", "unhealthy", "limited_capacity"];

#[derive(Debug, Clone, Copy)]
struct Info {
    state: u8,
    status: u32,
    clique: u32,
    cluster: [u8; 16],
    mask: Option<u32>,
    summary: Option<u8>,
}

pub(super) fn read(gpu: &Managed, sheet: &mut Sheet) {
    const CALL: &str = "nvmlDeviceGetGpuFabricInfoV";
    const OLDER: &str = "nvmlDeviceGetGpuFabricInfo";
    let newer = gpu.ask(CALL, |device| match third(device) {
        Err(NvmlError::UnexpectedVariant(VERSION_MISMATCH)) => second(device),
        answer => answer,
    });
    let info = or_older(newer, || gpu.ask(OLDER, first));
    sheet.put_part(fact_name::FABRIC_STATE, &info, |info| {
        word(info.state.into(), &STATES)
    });
    let registered = completed(info);
    sheet.put_part(fact_name::FABRIC_STATUS, &registered, |info| {
        status_word(info.status)
    });
    sheet.put_part("fabric.clique_id", &registered, |info| info.clique);
    sheet.put_part("fabric.cluster_uuid", &registered, |info| uuid(info.cluster));
    sheet.put(fact_name::FABRIC_HEALTH, health(registered));
}

fn third(device: &Device<'_>) -> Result<Info, NvmlError> {
    let blank = nvmlGpuFabricInfo_v3_t {
        version: stamp::<nvmlGpuFabricInfo_v3_t>(3),
        clusterUuid: [0; 16],
        status: 0,
        cliqueId: 0,
        state: 0,
        healthMask: 0,
        healthSummary: 0,
    };
    let info = get(device, &device.nvml().lib().nvmlDeviceGetGpuFabricInfoV, blank)?;
    Ok(Info {
        state: info.state,
        status: info.status,
        clique: info.cliqueId,
        cluster: info.clusterUuid,
        mask: Some(info.healthMask),
        summary: Some(info.healthSummary),
    })
}

fn second(device: &Device<'_>) -> Result<Info, NvmlError> {
    let function = found(&device.nvml().lib().nvmlDeviceGetGpuFabricInfoV)?;
    let mut info = nvmlGpuFabricInfo_v2_t {
        version: stamp::<nvmlGpuFabricInfo_v2_t>(2),
        clusterUuid: [0; 16],
        status: 0,
        cliqueId: 0,
        state: 0,
        healthMask: 0,
    };
    let place = (&raw mut info).cast::<nvmlGpuFabricInfoV_t>();
    // SAFETY: a live handle; the version in the structure tells the driver how much of it there is.
    nvml_try(unsafe { function(device.handle(), place) })?;
    Ok(Info {
        state: info.state,
        status: info.status,
        clique: info.cliqueId,
        cluster: info.clusterUuid,
        mask: Some(info.healthMask),
        summary: None,
    })
}

fn first(device: &Device<'_>) -> Result<Info, NvmlError> {
    let blank = nvmlGpuFabricInfo_t {
        clusterUuid: [0; 16],
        status: 0,
        cliqueId: 0,
        state: 0,
    };
    let info = get(device, &device.nvml().lib().nvmlDeviceGetGpuFabricInfo, blank)?;
    Ok(Info {
        state: info.state,
        status: info.status,
        clique: info.cliqueId,
        cluster: info.clusterUuid,
        mask: None,
        summary: None,
    })
}

/// All but the state is of meaning only once the registration is completed.
fn completed(info: Fact<Info>) -> Fact<Info> {
    match &info.value {
        Some(Info { state: COMPLETED, .. }) | None => info,
        Some(Info { state, .. }) => {
            let kind = match state {
                0 => GapKind::NotSupported,
                _ => GapKind::NotVisible,
            };
            let state = word((*state).into(), &STATES);
            let reason = format!("told only once fabric.state is completed; it is {state}");
            Fact::missing(kind, reason, info.source)
        }
    }
}

fn status_word(status: u32) -> String {
    match status {
        0 => "success".to_owned(),
        3 => "not_supported".to_owned(),
        10 => "timeout".to_owned(),
        15 => "gpu_is_lost".to_owned(),
        999 => "unknown_error".to_owned(),
        other => format!("unrecognised ({other})"),
    }
}

/// The troubles, none when healthy. A gap where the driver tells none of it.
fn health(info: Fact<Info>) -> Fact<Vec<String>> {
    const UNTOLD: &str = "the driver tells no fabric health";
    let told =
        |info: &Info| info.mask.is_some_and(|mask| mask != 0) || info.summary.is_some_and(|it| it != 0);
    match &info.value {
        Some(value) if !told(value) => Fact::missing(GapKind::NotSupported, UNTOLD, info.source),
        _ => info.map(troubles),
    }
}

fn troubles(info: Info) -> Vec<String> {
    let mask = info.mask.unwrap_or(0);
    let mut found: Vec<String> = TROUBLES
        .iter()
        .filter(|(_, shift)| mask >> shift & 0b11 == YES)
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let configuration = mask >> CONFIGURATION_SHIFT & 0b1111;
    if configuration > 1 {
        found.push(word(configuration, &CONFIGURATIONS));
    }
    let summary = u32::from(info.summary.unwrap_or(0));
    if summary > 1 {
        found.push(word(summary, &SUMMARIES));
    }
    found
}

fn uuid(bytes: [u8; 16]) -> String {
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    let mut text = String::with_capacity(36);
    for (place, digit) in digits.chars().enumerate() {
        if matches!(place, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEALTHY: Info = Info {
        state: COMPLETED,
        status: 0,
        clique: 0,
        cluster: [0; 16],
        mask: Some(0b1010_1010 | 1 << 8),
        summary: Some(1),
    };

    #[test]
    fn health_lists_what_is_wrong() {
        assert!(troubles(HEALTHY).is_empty());
        let mask = Some(0b0110_1001 | 5 << 8);
        let summary = Some(3);
        assert_eq!(
            troubles(Info {
                mask,
                summary,
                ..HEALTHY
            }),
            [
                "degraded_bandwidth",
                "access_timeout_recovery",
                "insufficient_nvlinks",
                "limited_capacity"
            ]
        );
        let mask = Some(9 << 8);
        assert_eq!(troubles(Info { mask, ..HEALTHY }), ["unrecognised (9)"]);
    }

    #[test]
    fn health_that_no_driver_tells_is_a_gap() {
        let old = Info {
            mask: None,
            summary: None,
            ..HEALTHY
        };
        let fact = health(Fact::read(old, "call"));
        assert_eq!(fact.gap.unwrap().kind, GapKind::NotSupported);
        let silent = Info {
            mask: Some(0),
            summary: Some(0),
            ..HEALTHY
        };
        assert!(health(Fact::read(silent, "call")).value.is_none());
    }

    #[test]
    fn a_cluster_is_written_as_a_uuid() {
        let mut cluster = [0; 16];
        cluster[0] = 0xfa;
        cluster[15] = 7;
        assert_eq!(uuid(cluster), "fa000000-0000-0000-0000-000000000007");
    }
}

//! What the GPU is and how an operator has set it.

use kb_core::report::fact_name;
use nvml_wrapper::Device;
use nvml_wrapper::error::{NvmlError, nvml_try};
use nvml_wrapper_sys::bindings::{nvmlConfComputeSystemState_t, nvmlSystemConfComputeSettings_t};

use super::fields::{self, Question};
use super::managed::or_older;
use super::raw::{SWITCH, found, get, stamp, state, word};
use super::{Managed, Sheet};

const COMPUTE_MODES: [&str; 4] = ["default", "exclusive_thread", "prohibited", "exclusive_process"];
const BRANDS: [&str; 17] = [
    "unknown",
    "quadro",
    "tesla",
    "nvs",
    "grid",
    "geforce",
    "titan",
    "nvidia_vapps",
    "nvidia_vpc",
    "nvidia_vcs",
    "nvidia_vws",
    "nvidia_cloud_gaming",
    "quadro_rtx",
    "nvidia_rtx",
    "nvidia",
    "geforce_rtx",
    "titan_rtx",
];
const RECOVERY_ACTIONS: [&str; 5] = ["none", "reset", "reboot", "drain_p2p", "drain_and_reset"];
const RECOVERY_ACTION: u32 = 230;

pub(super) fn read(gpu: &Managed, sheet: &mut Sheet) {
    let brand = gpu.ask("nvmlDeviceGetBrand", |device| {
        get(device, &device.nvml().lib().nvmlDeviceGetBrand, 0)
    });
    sheet.put("brand", brand.map(|number| word(number, &BRANDS)));
    sheet.put(
        "gsp.version",
        gpu.ask("nvmlDeviceGetGspFirmwareVersion", Device::gsp_firmware_version),
    );
    sheet.put(
        "numa.node",
        gpu.ask("nvmlDeviceGetNumaNodeId", Device::numa_node_id),
    );
    let mig = gpu.ask("nvmlDeviceGetMigMode", |device| {
        state(device, &device.nvml().lib().nvmlDeviceGetMigMode)
    });
    sheet.put(fact_name::MIG_MODE, mig.map(|number| word(number, &SWITCH)));
    let compute = gpu.ask("nvmlDeviceGetComputeMode", |device| {
        get(device, &device.nvml().lib().nvmlDeviceGetComputeMode, 0)
    });
    sheet.put(
        fact_name::COMPUTE_MODE,
        compute.map(|number| word(number, &COMPUTE_MODES)),
    );
    let persistence = gpu.ask("nvmlDeviceGetPersistenceMode", |device| {
        get(device, &device.nvml().lib().nvmlDeviceGetPersistenceMode, 0)
    });
    sheet.put(
        "persistence.mode",
        persistence.map(|number| word(number, &SWITCH)),
    );
    let newer = gpu.ask("nvmlSystemGetConfComputeSettings", confidential_settings);
    let confidential = or_older(newer, || {
        gpu.ask("nvmlSystemGetConfComputeState", confidential_state)
    });
    sheet.put(fact_name::CONFIDENTIAL_COMPUTE_MODE, confidential);
}

pub(super) fn read_recovery(gpu: &Managed, sheet: &mut Sheet) {
    let action = gpu.ask("nvmlDeviceGetFieldValues", |device| {
        fields::one(device, Question::of_gpu(RECOVERY_ACTION))
    });
    let action = action.map(|number| word(u32::try_from(number).unwrap_or(u32::MAX), &RECOVERY_ACTIONS));
    sheet.put(fact_name::RECOVERY_ACTION, action);
}

/// `off`; `on`: one GPU for itself, so no peer access; `protected_pcie` and `nvle`: several GPUs together.
fn confidential_settings(device: &Device<'_>) -> Result<String, NvmlError> {
    let function = found(&device.nvml().lib().nvmlSystemGetConfComputeSettings)?;
    let mut settings = nvmlSystemConfComputeSettings_t {
        version: stamp::<nvmlSystemConfComputeSettings_t>(1),
        environment: 0,
        ccFeature: 0,
        devToolsMode: 0,
        multiGpuMode: 0,
    };
    // SAFETY: a place for the structure, which says its version.
    nvml_try(unsafe { function(&raw mut settings) })?;
    Ok(match settings.multiGpuMode {
        0 => word(settings.ccFeature, &["off", "on"]),
        together => word(together, &["none", "protected_pcie", "nvle"]),
    })
}

/// The same before driver 555, without the ways to join GPUs.
fn confidential_state(device: &Device<'_>) -> Result<String, NvmlError> {
    let function = found(&device.nvml().lib().nvmlSystemGetConfComputeState)?;
    let mut state = nvmlConfComputeSystemState_t {
        environment: 0,
        ccFeature: 0,
        devToolsMode: 0,
    };
    // SAFETY: a place for the structure.
    nvml_try(unsafe { function(&raw mut state) })?;
    Ok(word(state.ccFeature, &["off", "on"]))
}

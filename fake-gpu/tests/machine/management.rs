//! The management library, through the crate that the agent uses.

use crate::support::on_machine;
use fake_gpu::Scenario;
use fake_gpu::scenario::{Change, Condition};
use nvml_wrapper::{
    Nvml,
    enum_wrappers::device::{ComputeMode, TemperatureSensor, TopologyLevel},
    error::NvmlError,
    structs::device::FieldId,
};

#[test]
fn nvml_says_what_the_scenario_has() {
    on_machine(
        &Scenario::healthy(2),
        "management::nvml_says_what_the_scenario_has",
        |cuda| {
            let nvml = Nvml::builder()
                .lib_path("libnvidia-ml.so.1".as_ref())
                .init()
                .unwrap();
            assert_eq!(nvml.sys_driver_version().unwrap(), "580.159.04");
            assert_eq!(nvml.sys_cuda_driver_version().unwrap(), 13_000);
            assert_eq!(nvml.device_count().unwrap(), 2);
            let device = nvml.device_by_index(1).unwrap();
            assert_eq!(device.name().unwrap(), "NVIDIA H200");
            assert_eq!(device.uuid().unwrap(), "GPU-fa4e0000-0000-4000-8000-000000000001");
            let pci = device.pci_info().unwrap();
            assert_eq!(pci.bus_id, "00000000:00:07.0");
            assert_eq!(
                nvml.device_by_pci_bus_id("0000:00:07.0")
                    .unwrap()
                    .index()
                    .unwrap(),
                1
            );
            assert_eq!(
                nvml.device_by_uuid(device.uuid().unwrap())
                    .unwrap()
                    .index()
                    .unwrap(),
                1
            );
            assert_eq!(
                nvml.device_by_index(2).unwrap_err().to_string(),
                NvmlError::InvalidArg.to_string()
            );

            let contexts = cuda.start();
            cuda.allocate(contexts[1], 1 << 20);
            let memory = device.memory_info().unwrap();
            assert_eq!((memory.total, memory.used), (143_771 << 20, 1 << 20));
            let processes = device.running_compute_processes().unwrap();
            assert_eq!(
                processes.iter().map(|process| process.pid).collect::<Vec<_>>(),
                [std::process::id()]
            );

            assert_eq!(device.compute_mode().unwrap(), ComputeMode::Default);
            assert_eq!(device.temperature(TemperatureSensor::Gpu).unwrap(), 33);
            assert!(device.is_in_persistent_mode().unwrap());
            assert_eq!(device.mig_mode().unwrap().current, 0);
            let other = nvml.device_by_index(0).unwrap();
            assert_eq!(
                device.topology_common_ancestor(other).unwrap(),
                TopologyLevel::HostBridge
            );
            assert!((0..18).all(|number| device.link_wrapper_for(number).is_active().unwrap()));
            assert!(device.link_wrapper_for(18).is_active().is_err());
            let link = device.link_wrapper_for(3);
            assert_eq!(remote_device_type(&nvml, &device, 3), 2, "a switch");
            assert_eq!(link.remote_pci_info().unwrap().bus_id, "00000000:01:03.0");
        },
    );
}

/// `Device::remote_device_type` of nvml-wrapper 0.13.0 gives its own initial value, whatever the library writes, so
/// the function is called by hand.
fn remote_device_type(nvml: &Nvml, device: &nvml_wrapper::Device<'_>, number: u32) -> u32 {
    let function = nvml.lib().nvmlDeviceGetNvLinkRemoteDeviceType.as_ref().unwrap();
    let mut kind = 77;
    // SAFETY: a handle of this library, and a live place for the answer.
    let code = unsafe { function(device.handle(), number, &raw mut kind) };
    assert_eq!(code, 0);
    kind
}

#[test]
fn a_condition_changes_at_the_call_that_the_scenario_names() {
    let mut scenario = Scenario::healthy(2);
    scenario.gpus[0].changes = vec![
        later(2, |condition| condition.pcie.generation = 3),
        later(4, |condition| condition.lost = true),
    ];
    let test = "management::a_condition_changes_at_the_call_that_the_scenario_names";
    on_machine(&scenario, test, |_| {
        let nvml = Nvml::builder()
            .lib_path("libnvidia-ml.so.1".as_ref())
            .init()
            .unwrap();
        let (first, second) = (nvml.device_by_index(0).unwrap(), nvml.device_by_index(1).unwrap());
        let mut seen = Vec::new();
        for _ in 0..4 {
            second.name().unwrap();
            seen.push(first.current_pcie_link_gen().ok());
        }
        assert_eq!(seen, [Some(5), Some(3), Some(3), None]);
        let lost = |result: Result<u32, NvmlError>| matches!(result, Err(NvmlError::GpuLost));
        assert!(lost(first.index()) && lost(nvml.device_by_index(0).and_then(|gpu| gpu.index())));
        assert_eq!(second.index().unwrap(), 1, "the other GPU is there");
    });
}

/// Another condition once the name of a GPU has been asked for so often.
fn later(times: u64, change: impl FnOnce(&mut Condition)) -> Change {
    let mut condition = Condition::default();
    change(&mut condition);
    Change {
        after_call: "nvmlDeviceGetName".into(),
        times,
        condition,
    }
}

#[test]
fn a_gpu_can_lack_functions_and_fields() {
    let mut scenario = Scenario::healthy(1);
    scenario.gpus[0].condition.not_supported = vec!["nvmlDeviceGetPowerUsage".into(), "field 230".into()];
    on_machine(
        &scenario,
        "management::a_gpu_can_lack_functions_and_fields",
        |_| {
            let nvml = Nvml::builder()
                .lib_path("libnvidia-ml.so.1".as_ref())
                .init()
                .unwrap();
            let device = nvml.device_by_index(0).unwrap();
            assert!(matches!(device.power_usage(), Err(NvmlError::NotSupported)));
            assert_eq!(device.enforced_power_limit().unwrap(), 700_000);
            let fields = device.field_values_for(&[FieldId(164), FieldId(230)]).unwrap();
            let answers: Vec<bool> = fields
                .into_iter()
                .map(|field| field.unwrap().value.is_ok())
                .collect();
            assert_eq!(answers, [true, false]);
        },
    );
}

//! Scenarios in which the driver refuses or cannot be asked. Names, sizes and PCI ids of other models than H200 are fixtures.

use super::{
    CallEffect, CallFault, ComputeMode, Condition, FabricState, Gpu, Library, Pairs, Process, Scenario,
    builtin::{PEERS_WITHOUT_SWITCH, h200, rtx4090},
};

const MIB: u64 = 1 << 20;

/// `nvmlGpuP2PStatus_t`.
const GRANTED: u32 = 0;
const CHIPSET_NOT_SUPPORTED: u32 = 1;
const TOPOLOGY_NOT_SUPPORTED: u32 = 3;
const DISABLED_BY_REGISTRY: u32 = 4;
const NOT_SUPPORTED: u32 = 5;
const UNKNOWN: u32 = 6;

/// Process id of somebody else's program: above what Linux gives out, so that it is nobody's.
const STRANGER: u32 = 1 << 22;

impl Scenario {
    /// `n` GPUs for PCIe slots without NVLink, between which the driver grants access over PCIe.
    pub fn healthy_pcie(n: usize) -> Self {
        let mut scenario = Self::healthy(n);
        scenario.name = format!("healthy-pcie-{n}");
        scenario.gpus = (0..n).map(rtx6000).collect();
        scenario.pairs.nvlink = Pairs::refused(n, NOT_SUPPORTED).nvlink;
        scenario.pairs.atomics = Pairs::refused(n, NOT_SUPPORTED).atomics;
        scenario.pairs.pci = Pairs::refused(n, GRANTED).pci;
        scenario.peer_limit = PEERS_WITHOUT_SWITCH;
        scenario.speed = super::Speed::uniform(n, 26.0, 20.0);
        scenario
    }

    /// Two GPUs in PCIe slots whose host bridge does not forward peer traffic (CNS).
    pub fn refused_cns() -> Self {
        Self::healthy_pcie(2).refusing("refused-cns", CHIPSET_NOT_SUPPORTED)
    }

    /// Two GPUs behind different I/O hubs (TNS).
    pub fn refused_tns() -> Self {
        Self::healthy_pcie(2).refusing("refused-tns", TOPOLOGY_NOT_SUPPORTED)
    }

    /// Two GPUs between which a registry key of the driver has switched access off (DR).
    pub fn refused_dr() -> Self {
        Self::healthy_pcie(2).refusing("refused-dr", DISABLED_BY_REGISTRY)
    }

    /// Two GPUs without a path, for no reason that NVML names (NS).
    pub fn refused_ns() -> Self {
        Self::healthy_pcie(2).refusing("refused-ns", NOT_SUPPORTED)
    }

    /// Two GPUs between which NVML does not know what is the matter (U).
    pub fn refused_u() -> Self {
        Self::healthy_pcie(2).refusing("refused-u", UNKNOWN)
    }

    /// An H200 and a GPU of another model: no access between different chips (NS).
    pub fn mixed_chips() -> Self {
        let mut scenario = Self::healthy(2).refusing("mixed-chips", NOT_SUPPORTED);
        scenario.gpus = vec![h200(0), rtx6000(1)];
        scenario
    }

    /// Two H200 with MIG on: no access (NS).
    pub fn mig() -> Self {
        let mut scenario = Self::healthy(2).refusing("mig", NOT_SUPPORTED);
        for gpu in &mut scenario.gpus {
            gpu.mig = Some(true);
        }
        scenario
    }

    /// Two H200 whose registration with the `NVSwitch` fabric is still under way: no access, and no way round (NS).
    pub fn fabric_not_ready() -> Self {
        let mut scenario = Self::healthy(2).refusing("fabric-not-ready", NOT_SUPPORTED);
        for gpu in &mut scenario.gpus {
            gpu.condition.fabric.state = FabricState::InProgress;
        }
        scenario
    }

    /// Two H200 in confidential computing's mode for single GPUs: no access (NS).
    pub fn confidential_computing() -> Self {
        let mut scenario = Self::healthy(2).refusing("confidential-computing", NOT_SUPPORTED);
        for gpu in &mut scenario.gpus {
            gpu.condition.confidential_compute.feature = true;
        }
        scenario
    }

    /// This machine with every pair refused for one reason.
    fn refusing(mut self, name: &str, status: u32) -> Self {
        self.name = name.into();
        self.pairs = Pairs::refused(self.gpus.len(), status);
        self
    }

    /// The toolkit's stub in place of the driver: every function gives 34, and there is no NVML.
    pub fn toolkit_stub() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "toolkit-stub".into();
        let effect = CallEffect::Return(34);
        scenario.call_faults.push(CallFault::always("cu*", effect));
        scenario.absent.libraries.push(Library::Nvml);
        scenario
    }

    /// A driver of CUDA 10.1 with GPUs of its time: no virtual memory management, no newer versions of functions.
    pub fn old_driver() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "old-driver".into();
        scenario.driver_version = "418.226.00".into();
        scenario.cuda_version = 10_010;
        scenario.max_ptx = (6, 4);
        for (place, gpu) in scenario.gpus.iter_mut().enumerate() {
            *gpu = v100(place);
        }
        scenario.absent.symbols = NEWER_THAN_CUDA_10_1.map(str::to_owned).to_vec();
        scenario
    }

    /// Two H200 whose fabric manager does not run: `cuInit` gives 802.
    pub fn not_yet_initialized() -> Self {
        Self::code_from("cuInit", 802)
    }

    /// Two H200 without the library that translates PTX: loading a module gives 221.
    pub fn jit_missing() -> Self {
        Self::code_from("cuModuleLoadData*", 221)
    }

    /// Two healthy H200 without `libnvidia-ml.so.1`.
    pub fn nvml_missing() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "nvml-missing".into();
        scenario.absent.libraries.push(Library::Nvml);
        scenario
    }

    /// Two H200 of which GPU 1 belongs to one process alone, and somebody else's has it: a context gives 46.
    pub fn exclusive_mode() -> Self {
        let mut scenario = Self::healthy(2).with_stranger("exclusive-mode", 4096 * MIB);
        for gpu in scenario.gpus.iter_mut().skip(1) {
            gpu.compute_mode = ComputeMode::ExclusiveProcess;
        }
        scenario
    }

    /// Two H200, on the second of which somebody else computes.
    pub fn busy_gpu() -> Self {
        Self::healthy(2).with_stranger("busy-gpu", 100_000 * MIB)
    }

    /// Two H200, of whose second somebody else has taken all but 64 MiB: too little for a context (error 2).
    pub fn memory_full() -> Self {
        let full = h200(1).memory_bytes - 64 * MIB;
        Self::healthy(2).with_stranger("memory-full", full)
    }

    /// This machine with somebody else's program on GPU 1.
    fn with_stranger(mut self, name: &str, used_bytes: u64) -> Self {
        self.name = name.into();
        for gpu in self.gpus.iter_mut().skip(1).take(1) {
            gpu.processes.push(Process {
                pid: STRANGER,
                used_bytes,
            });
            gpu.condition.utilization = 97;
        }
        self
    }

    /// Four H200 that CUDA counts in another order than NVML.
    pub fn other_order() -> Self {
        let mut scenario = Self::healthy(4);
        scenario.name = "other-order".into();
        scenario.cuda_order = vec![2, 0, 3, 1];
        scenario
    }
}

/// Functions that came after CUDA 10.1.
const NEWER_THAN_CUDA_10_1: [&str; 12] = [
    "cuDeviceGetUuid_v2",
    "cuEventElapsedTime_v2",
    "cuMemAddressFree",
    "cuMemAddressReserve",
    "cuMemCreate",
    "cuMemExportToShareableHandle",
    "cuMemGetAllocationGranularity",
    "cuMemImportFromShareableHandle",
    "cuMemMap",
    "cuMemRelease",
    "cuMemSetAccess",
    "cuMemUnmap",
];

fn rtx6000(place: usize) -> Gpu {
    let consumer = rtx4090(place);
    Gpu {
        // NVML_BRAND_NVIDIA_RTX
        condition: Condition {
            brand: 12,
            ..consumer.condition.clone()
        },
        name: "NVIDIA RTX 6000 Ada Generation".into(),
        pci_device_id: 0x26b1_10de,
        memory_bytes: 49_140 * MIB,
        multiprocessors: 142,
        clock_khz: 2_505_000,
        ..consumer
    }
}

fn v100(place: usize) -> Gpu {
    let mut gpu = Gpu {
        name: "Tesla V100-SXM2-32GB".into(),
        pci_device_id: 0x1db5_10de,
        memory_bytes: 32_510 * MIB,
        compute_capability: (7, 0),
        multiprocessors: 80,
        clock_khz: 1_530_000,
        mig: None,
        ..h200(place)
    };
    gpu.condition.fabric.state = FabricState::NotSupported;
    gpu
}

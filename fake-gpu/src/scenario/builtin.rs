//! Scenarios with a name. Driver, name, memory, bus ids, temperature, number of links, copy engines and capabilities
//! of pairs of the H200 are those of a machine with two of them; the other figures (multiprocessors, clocks, PCI ids, all of the
//! RTX 4090) are fixtures that no test may rely on as facts. Identifiers are made up and say so.

use super::{
    Absent, Bar1, CallEffect, CallFault, Condition, Ecc, Fabric, FabricState, Fate, Gpu, Library, LinkEnd,
    MemoryFault, Nccl, NvLink, Pairs, Pcie, Scenario, Speed,
};

const MIB: u64 = 1 << 20;

/// `nvmlGpuP2PStatus_t`: granted.
const STATUS_OK: u32 = 0;
/// `nvmlGpuP2PStatus_t`: this GPU model has it off.
const STATUS_GPU_NOT_SUPPORTED: u32 = 2;
/// `nvmlGpuP2PStatus_t`: not this way.
const STATUS_NOT_SUPPORTED: u32 = 5;
/// `nvmlGpuTopologyLevel_t`: across a host bridge.
const ANCESTOR_HOST_BRIDGE: u32 = 30;
/// What one context can enable without an `NVSwitch` (CUDA programming guide: eight peer connections).
pub(super) const PEERS_WITHOUT_SWITCH: usize = 8;

impl Scenario {
    /// `n` H200 with 18 links each into `NVSwitch`, everything granted and working.
    pub fn healthy(n: usize) -> Self {
        Self {
            name: format!("healthy-{n}"),
            driver_version: "580.159.04".into(),
            cuda_version: 13_000,
            nccl_version: 22_809,
            nccl: Nccl::default(),
            max_ptx: (9, 0),
            gpus: (0..n).map(h200).collect(),
            cuda_order: Vec::new(),
            pairs: Pairs::granted(n),
            peer_limit: usize::from(u8::MAX),
            speed: Speed::default(),
            memory_faults: Vec::new(),
            call_faults: Vec::new(),
            kernel_faults: Vec::new(),
            log: Vec::new(),
            absent: Absent::default(),
        }
    }

    /// Two `GeForce` RTX 4090: no NVLink, and the driver refuses peer access as a matter of product policy (GNS).
    pub fn refused_gns() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "refused-gns".into();
        scenario.gpus = (0..2).map(rtx4090).collect();
        scenario.pairs = Pairs::refused(2, STATUS_GPU_NOT_SUPPORTED);
        scenario.peer_limit = PEERS_WITHOUT_SWITCH;
        scenario
    }

    /// Two H200 of which GPU 0 may reach GPU 1, but not the other way.
    pub fn one_direction_only() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "one-direction-only".into();
        if let Some(entry) = scenario
            .pairs
            .can_access
            .get_mut(1)
            .and_then(|row| row.get_mut(0))
        {
            *entry = false;
        }
        scenario
    }

    /// A machine without `libcuda.so.1`.
    pub fn library_missing() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "library-missing".into();
        scenario.absent.libraries.push(Library::Cuda);
        scenario
    }

    /// Everything is granted and succeeds, but no store to another GPU arrives.
    pub fn writes_dropped() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "writes-dropped".into();
        scenario.memory_faults.push(MemoryFault {
            accesses: vec![super::Access::Store, super::Access::Atomic],
            ..MemoryFault::always(Fate::Dropped)
        });
        scenario
    }

    /// Everything is granted and succeeds, but each GPU reaches a private copy of the other's memory.
    pub fn private_mirror() -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = "private-mirror".into();
        scenario
            .memory_faults
            .push(MemoryFault::always(Fate::PrivateMirror));
        scenario
    }

    /// Two healthy H200 on which `call` never returns.
    pub fn hang_in(call: &str) -> Self {
        Self::with_call(call, CallEffect::Hang)
    }

    /// Two healthy H200 on which `call` does nothing and returns `code`.
    pub fn code_from(call: &str, code: i32) -> Self {
        Self::with_call(call, CallEffect::Return(code))
    }

    fn with_call(call: &str, effect: CallEffect) -> Self {
        let mut scenario = Self::healthy(2);
        scenario.name = format!("fault-in-{call}");
        scenario.call_faults.push(CallFault::always(call, effect));
        scenario
    }
}

impl MemoryFault {
    /// This fate for every access of one GPU to another.
    pub fn always(fate: Fate) -> Self {
        Self {
            initiator: None,
            owner: None,
            routes: Vec::new(),
            accesses: Vec::new(),
            range: None,
            fate,
        }
    }
}

impl Pairs {
    /// What joining all of `n` GPUs by NVLink grants: every capability but PCIe's.
    pub fn granted(n: usize) -> Self {
        Self {
            can_access: vec![vec![true; n]; n],
            read: filled(n, STATUS_OK),
            write: filled(n, STATUS_OK),
            nvlink: filled(n, STATUS_OK),
            atomics: filled(n, STATUS_OK),
            pci: filled(n, STATUS_NOT_SUPPORTED),
            ancestor: filled(n, ANCESTOR_HOST_BRIDGE),
        }
    }

    /// No capability, for the reason `status` (`nvmlGpuP2PStatus_t`).
    pub fn refused(n: usize, status: u32) -> Self {
        Self {
            can_access: vec![vec![false; n]; n],
            read: filled(n, status),
            write: filled(n, status),
            nvlink: filled(n, status),
            atomics: filled(n, status),
            pci: filled(n, status),
            ancestor: filled(n, ANCESTOR_HOST_BRIDGE),
        }
    }
}

fn filled(n: usize, status: u32) -> Vec<Vec<u32>> {
    vec![vec![status; n]; n]
}

pub(super) fn h200(place: usize) -> Gpu {
    let link = |number: usize| NvLink {
        active: true,
        version: 6,
        speed_mb_s: 26_562,
        valid: true,
        end: LinkEnd::Switch(format!("00000000:01:{:02x}.0", number % 4)),
    };
    Gpu {
        name: "NVIDIA H200".into(),
        uuid: made_up_uuid(place),
        pci: format!("00000000:00:{:02x}.0", place + 6),
        pci_device_id: 0x2335_10de,
        memory_bytes: 143_771 * MIB,
        reserved_bytes: 0,
        compute_capability: (9, 0),
        multiprocessors: 132,
        copy_engines: 3,
        clock_khz: 1_980_000,
        compute_mode: super::ComputeMode::Default,
        mig: Some(false),
        persistence: true,
        temperature: 33,
        nvlinks: (0..18).map(link).collect(),
        processes: Vec::new(),
        condition: Condition::default(),
        changes: Vec::new(),
    }
}

pub(super) fn rtx4090(place: usize) -> Gpu {
    Gpu {
        name: "NVIDIA GeForce RTX 4090".into(),
        pci: format!("00000000:{:02x}:00.0", place + 1),
        pci_device_id: 0x2684_10de,
        memory_bytes: 24_564 * MIB,
        compute_capability: (8, 9),
        multiprocessors: 128,
        copy_engines: 2,
        clock_khz: 2_520_000,
        mig: None,
        persistence: false,
        nvlinks: Vec::new(),
        condition: geforce(),
        ..h200(place)
    }
}

/// What NVML says of a `GeForce`: no fabric, no error correction, no confidential computing.
fn geforce() -> Condition {
    Condition {
        brand: 5,
        fabric: Fabric {
            state: FabricState::NotSupported,
            ..Fabric::default()
        },
        ecc: Ecc {
            on: None,
            ..Ecc::default()
        },
        pcie: Pcie {
            generation: 4,
            generation_max: 4,
            gpu_generation_max: 4,
            ..Pcie::default()
        },
        bar1: Bar1 {
            total: 256 * MIB,
            used: MIB,
        },
        not_supported: vec!["nvmlDeviceGetRemappedRows".into()],
        ..Condition::default()
    }
}

fn made_up_uuid(place: usize) -> String {
    format!("GPU-fa4e0000-0000-4000-8000-{place:012x}")
}

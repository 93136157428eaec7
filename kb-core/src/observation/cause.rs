//! What a look without touching a GPU can say: one table, from which the manual is written.
#![allow(missing_docs, reason = "the table says what each name means")]

use crate::report::{Bearing, Nature};

pub const GPU_LOST: &str = "gpu_lost";
pub const DEVICE_MISSING: &str = "device_missing";
pub const GPU_WITHOUT_DRIVER: &str = "gpu_without_driver";
pub const RECOVERY_ACTION: &str = "recovery_action";
pub const REMAP_FAILED: &str = "remap_failed";
pub const REMAP_PENDING: &str = "remap_pending";
pub const SRAM_ERRORS: &str = "sram_errors";
pub const FABRIC_NOT_READY: &str = "fabric_not_ready";
pub const FABRIC_UNHEALTHY: &str = "fabric_unhealthy";
pub const LINKS_DOWN: &str = "links_down";
pub const PCIE_LINK_DEGRADED: &str = "pcie_link_degraded";
pub const THROTTLED: &str = "throttled";
pub const XID: &str = "xid";
pub const SXID: &str = "sxid";
pub const ECC_UNCORRECTED: &str = "ecc_uncorrected";
pub const LOAD_FAULT: &str = "load_fault";
pub const KERNEL_MESSAGE: &str = "kernel_message";
pub const LOG_MISSED: &str = "log_missed";
pub const LEDGER_DAMAGED: &str = "ledger_damaged";

/// One thing that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched {
    /// Its name, for ever.
    pub cause: &'static str,
    /// How it ends.
    pub nature: Nature,
    /// What it means for the node; `None` where that depends, and `means` says on what.
    pub bearing: Option<Bearing>,
    /// The record that explains it; where an Xid has one of its own, that one.
    pub record: Option<&'static str>,
    /// What was seen, in one sentence.
    pub means: &'static str,
    /// Where it is read.
    pub read_from: &'static str,
}

/// Everything that a look can say, worst first, states before events.
pub const WATCHED: &[Watched] = &[
    Watched {
        cause: GPU_LOST,
        nature: Nature::State,
        bearing: Some(Bearing::Fault),
        record: Some("nvml/gpu-is-lost"),
        means: "NVML says that the GPU is lost (error 15), or the NVIDIA driver has it and NVML does not list it, to an agent that sees all GPUs.",
        read_from: "any answer of NVML about the GPU; the PCI bus beside NVML's list",
    },
    Watched {
        cause: DEVICE_MISSING,
        nature: Nature::State,
        bearing: Some(Bearing::Fault),
        record: Some("cuda/invalid-device-ordinal"),
        means: "The node has fewer GPUs than in an earlier boot since its last admission.",
        read_from: "the GPUs that are listed, beside those that the ledger has of earlier boots",
    },
    Watched {
        cause: RECOVERY_ACTION,
        nature: Nature::State,
        bearing: Some(Bearing::Fault),
        record: Some("xid/154-recovery-action-changed"),
        means: "The driver asks for a reset, a reboot, a drain, or something newer than this agent.",
        read_from: "`recovery.action`; Xid 154, of which a later one to None ends an earlier one",
    },
    Watched {
        cause: REMAP_FAILED,
        nature: Nature::State,
        bearing: Some(Bearing::Fault),
        record: Some("dcgm/row-remap-failed"),
        means: "A row of the GPU's memory could not be remapped: the GPU has to be exchanged.",
        read_from: "`remapped_rows.failure`",
    },
    Watched {
        cause: REMAP_PENDING,
        nature: Nature::State,
        bearing: Some(Bearing::Fault),
        record: Some("xid/63-row-remapping-event"),
        means: "Rows of the GPU's memory wait for a reset to be remapped.",
        read_from: "`remapped_rows.pending`",
    },
    Watched {
        cause: SRAM_ERRORS,
        nature: Nature::State,
        bearing: Some(Bearing::Fault),
        record: None,
        means: "The GPU's SRAM had more uncorrectable errors than allowed: the GPU has to be exchanged.",
        read_from: "`ecc.sram_threshold_exceeded`",
    },
    Watched {
        cause: FABRIC_NOT_READY,
        nature: Nature::State,
        bearing: Some(Bearing::Fault),
        record: Some("fabric-manager/fabric-not-initialized"),
        means: "The GPU hangs on NVSwitch and is not registered with its fabric.",
        read_from: "`fabric.state`, `fabric.status`",
    },
    Watched {
        cause: FABRIC_UNHEALTHY,
        nature: Nature::State,
        bearing: Some(Bearing::Warning),
        record: None,
        means: "The NVSwitch fabric of the GPU is not in full health.",
        read_from: "`fabric.health`",
    },
    Watched {
        cause: GPU_WITHOUT_DRIVER,
        nature: Nature::State,
        bearing: Some(Bearing::Warning),
        record: Some("driver/gpu-lost-at-probe"),
        means: "The GPU is on the bus and no driver has it.",
        read_from: "the PCI bus",
    },
    Watched {
        cause: LINKS_DOWN,
        nature: Nature::State,
        bearing: Some(Bearing::Warning),
        record: Some("nvlink/links-down"),
        means: "Fewer NVLinks of the GPU are up than should be, or than were up earlier in this boot.",
        read_from: "`nvlink.links_active`, `nvlink.links_expected`",
    },
    Watched {
        cause: PCIE_LINK_DEGRADED,
        nature: Nature::State,
        bearing: Some(Bearing::Warning),
        record: Some("pcie/link-below-its-width"),
        means: "The GPU's PCIe link runs with fewer lanes than GPU and slot have. Its generation is not judged: an idle GPU lowers it.",
        read_from: "`pcie.link_width`, `pcie.link_width_max`",
    },
    Watched {
        cause: THROTTLED,
        nature: Nature::State,
        bearing: Some(Bearing::Warning),
        record: Some("driver/smi-hw-slowdown"),
        means: "Heat or the power supply holds the GPU's clocks down. A power limit (`sw_power_cap`) does not count. An idle GPU neither opens nor ends it: a look while the GPU works, a run (`peerless-agent probe`) or `peerless-agent clear throttled` does.",
        read_from: "`throttle.reasons`",
    },
    Watched {
        cause: XID,
        nature: Nature::Event,
        bearing: None,
        record: None,
        means: "The driver reported an Xid. What it means for the node is in the table below.",
        read_from: "kernel log",
    },
    Watched {
        cause: SXID,
        nature: Nature::Event,
        bearing: None,
        record: None,
        means: "The driver reported an error of an NVSwitch. What it means for the node is in the table below.",
        read_from: "kernel log",
    },
    Watched {
        cause: ECC_UNCORRECTED,
        nature: Nature::Event,
        bearing: Some(Bearing::Fault),
        record: Some("cuda/uncorrectable-ecc-error"),
        means: "The GPU's memory had errors that ECC could not correct.",
        read_from: "`ecc.volatile_uncorrected`, its rise since the look before; at the first look and after a reset its value",
    },
    Watched {
        cause: KERNEL_MESSAGE,
        nature: Nature::Event,
        bearing: Some(Bearing::Fault),
        record: None,
        means: "The kernel log has a fatal line without an Xid: the GPU has fallen off the bus, the driver cannot start it (RmInitAdapter), its firmware or its memory failed, or PCIe had a fatal error of it or of a bridge above it.",
        read_from: "kernel log",
    },
    Watched {
        cause: LOAD_FAULT,
        nature: Nature::Event,
        bearing: Some(Bearing::Fault),
        record: None,
        means: "`peerless-agent admit` found a fault of the hardware under load: wrong arithmetic or data, a lost GPU, errors of memory or NVLink, a hang, or an error of the load. The text begins with the cause of the finding.",
        read_from: "`load.findings` of the run",
    },
    Watched {
        cause: LOG_MISSED,
        nature: Nature::Event,
        bearing: Some(Bearing::Warning),
        record: None,
        means: "Lines of the kernel log were gone before they were read, so that events in them are not known.",
        read_from: "kernel log: the numbers of its records, or the file that was rotated",
    },
    Watched {
        cause: LEDGER_DAMAGED,
        nature: Nature::Event,
        bearing: Some(Bearing::Unknown),
        record: None,
        means: "What was known of earlier faults could not be read, so that they may not have ended. The damaged file is kept as `ledger.damaged.json`.",
        read_from: "`ledger.json` in the state folder",
    },
];

/// The row of a cause.
pub fn watched(cause: &str) -> Option<&'static Watched> {
    WATCHED.iter().find(|row| row.cause == cause)
}

//! What machines the fleet is made of: a healthy report of each, cut from a real one.
//!
//! Of boards without NVLink no real report is known: those are the report of four H200 with a PCIe tree of a real machine's
//! form, and with rates as `kb_core::simulate` has them of an A40.

use anyhow::{Context, Result};
use kb_core::report::{Engine, Fact, GapKind, Gpu, Measurement, Operation, P2pStatus, Report, fact_name};
use kb_core::verdict::add_nominal;
use serde_json::{Value, json};

use super::pcie;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Board {
    H200x4,
    H200x2,
    H100x2,
    A40x4,
}

const H200X4: &str = include_str!("../../../kb-core/tests/data/reports/h200-x4-bench.json");
const H200X2: &str = include_str!("../../../kb-core/tests/data/reports/h200-x2-nccl.json");
const H100X2: &str = include_str!("../../../kb-core/tests/data/reports/h100-x2-bench.json");

/// What the quick bench measures: a run of every day.
const QUICK: [&str; 7] = [
    "copy_latency",
    "copy_queueing_time",
    "d2d_bandwidth",
    "d2d_bandwidth_both_ways",
    "d2h_bandwidth",
    "h2d_bandwidth",
    "load_latency",
];

impl Board {
    pub(super) const ALL: [Self; 4] = [Self::H200x4, Self::H200x2, Self::H100x2, Self::A40x4];

    pub(super) fn gpus(self) -> usize {
        match self {
            Self::H200x4 | Self::A40x4 => 4,
            Self::H200x2 | Self::H100x2 => 2,
        }
    }

    pub(super) fn has_nvlink(self) -> bool {
        self != Self::A40x4
    }

    /// The report of a healthy machine, with the samples of the real one.
    pub(super) fn template(self) -> Result<Report> {
        let text = match self {
            Self::H200x4 | Self::A40x4 => H200X4,
            Self::H200x2 => H200X2,
            Self::H100x2 => H100X2,
        };
        let mut report: Report =
            serde_json::from_str(text).context("a report of the tests cannot be read")?;
        report.schema.minor = kb_core::report::MINOR;
        report.simulated = true;
        report.nccl = None;
        // The real runs were made in containers that were given their GPUs; a fleet's daemon runs on the node itself.
        report.host.retain(|name, _| !name.starts_with("environment."));
        let container = Fact::read(json!("none seen"), "/proc/1/cgroup");
        report.host.insert("host.container".to_owned(), container);
        let largest = report
            .measurements
            .iter()
            .filter(|one| one.metric == "d2d_bandwidth");
        let largest = largest.map(|one| one.bytes).max().unwrap_or_default();
        report
            .measurements
            .retain(|measurement| is_quick(measurement, largest));
        for cell in report.measurements.iter_mut().flat_map(|one| &mut one.cells) {
            // Clocks and temperatures during the copies: most of a report, and told of each GPU as well.
            cell.conditions.clear();
            cell.nominal = None;
        }
        if self == Self::A40x4 {
            to_pcie(&mut report);
        }
        add_nominal(&mut report);
        Ok(report)
    }
}

/// Of the sizes of the full bench the largest alone, and neither kernels with host memory nor both ways by anything but pushes of the
/// copy engine.
fn is_quick(measurement: &Measurement, largest: u64) -> bool {
    let by_copy_engine = measurement.engine == Engine::Ce;
    QUICK.contains(&measurement.metric.as_str())
        && match measurement.metric.as_str() {
            "d2d_bandwidth" => measurement.peer_access == Some(false) || measurement.bytes == largest,
            "d2d_bandwidth_both_ways" => by_copy_engine && measurement.operation == Operation::Push,
            "h2d_bandwidth" | "d2h_bandwidth" => by_copy_engine,
            _ => true,
        }
}

/// GB/s, or µs and ns, of an A40 on a switch of PCIe 4.0.
fn pcie_rate(measurement: &Measurement) -> Option<f64> {
    let staged = measurement.peer_access == Some(false);
    let pull = measurement.operation == Operation::Pull;
    let rate = match measurement.metric.as_str() {
        "d2d_bandwidth" if staged => 17.3,
        "d2d_bandwidth" if pull => 24.6,
        "d2d_bandwidth" => 25.1,
        "d2d_bandwidth_both_ways" => 21.8,
        "h2d_bandwidth" => 25.3,
        "d2h_bandwidth" => 26.2,
        "load_latency" => 1312.0,
        "copy_latency" if !staged => 2.6,
        _ => return None,
    };
    Some(rate)
}

fn to_pcie(report: &mut Report) {
    for (name, value) in [
        ("host.virtual_machine", json!("none seen")),
        ("host.numa_nodes", json!(2)),
        (fact_name::IOMMU_MODE, json!("passthrough")),
        ("iommu.kernel_options", json!("iommu=pt")),
        ("kernel.command_line", json!("iommu=pt")),
        (fact_name::FABRIC_MANAGER_SERVICE, json!("absent")),
    ] {
        report.host.insert(name.to_owned(), Fact::read(value, "/sys"));
    }
    for (index, gpu) in report.gpus.iter_mut().enumerate() {
        to_a40(index, gpu);
    }
    for pair in &mut report.pairs {
        pair.nvlinks = Fact::read(0, "nvmlDeviceGetNvLinkState");
        pair.nvswitch = Fact::read(false, "nvmlDeviceGetNvLinkState");
        pair.common_ancestor = Fact::read("PIX".to_owned(), "nvmlDeviceGetTopologyCommonAncestor");
        pair.facts = pcie::pair_facts(&[]);
        for direction in &mut pair.directions {
            let status = |status| Fact::read(status, "nvmlDeviceGetP2PStatus");
            direction.nvml.nvlink = status(P2pStatus::Ns);
            direction.nvml.atomics = status(P2pStatus::Ns);
            direction.nvml.pci = status(P2pStatus::Ok);
            let atomics = Fact::read(0, "cuDeviceGetP2PAttribute");
            direction
                .cuda_attributes
                .insert("native_atomic_supported".to_owned(), atomics);
        }
    }
    report
        .measurements
        .retain(|one| one.metric != "copy_queueing_time");
    for measurement in &mut report.measurements {
        measurement.at_once = None;
        let Some(rate) = pcie_rate(measurement) else {
            continue;
        };
        for cell in &mut measurement.cells {
            if let Some(own) = cell.median() {
                cell.samples.iter_mut().for_each(|sample| *sample *= rate / own);
            }
        }
    }
}

fn to_a40(index: usize, gpu: &mut Gpu) {
    gpu.name = Fact::read("NVIDIA A40".to_owned(), "cuDeviceGetName");
    gpu.memory_bytes = Fact::read(47_608_692_736, "cuDeviceTotalMem_v2");
    gpu.compute_capability = Fact::read("8.6".to_owned(), "cuDeviceGetAttribute");
    gpu.pci_address = Fact::read(pcie::address(index), "cuDeviceGetPCIBusId");
    let is_of_links = |name: &str| {
        ["nvlink.", "during.nvlink.", "fabric."]
            .iter()
            .any(|of| name.starts_with(of))
    };
    gpu.facts.retain(|name, _| !is_of_links(name));
    for fact in gpu.facts.values_mut() {
        fact.source = fact.source.replace("0000:00:0", "0000:19:0");
    }
    let mut put = |name: &str, value: Value| {
        gpu.facts
            .insert(name.to_owned(), Fact::read(value, "nvml, /sys/bus/pci/devices"));
    };
    put(fact_name::PCI_PATH, pcie::path(index, false));
    put(fact_name::PCIE_LINK_GENERATION, json!(4));
    put(fact_name::PCIE_LINK_GENERATION_MAX, json!(4));
    put("pcie.gpu_generation_max", json!(4));
    put("pci.numa_node", json!(0));
    put("power.limit_w", json!(300.0));
    put(fact_name::CLOCK_SM_MHZ, json!(1740));
    put(fact_name::CLOCK_MEMORY_MHZ, json!(7251));
    let gap = Fact::missing(
        GapKind::NotSupported,
        "nvmlDeviceGetGpuFabricInfoV: not supported on this GPU (NVML error 3)",
        "nvmlDeviceGetGpuFabricInfoV",
    );
    gpu.facts.insert(fact_name::FABRIC_STATE.to_owned(), gap);
}

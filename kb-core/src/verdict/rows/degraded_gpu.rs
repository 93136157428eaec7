//! Degraded: all data arrives, and the fabric of a GPU or its bus says that something is wrong with it.

use super::super::cause;
use super::super::evidence::{Finding, Seen};
use super::super::kernel_log::{Event, slot};
use super::broken::{logged, risen};
use super::{Named, Row};
use crate::report::fact_name;
use crate::verdict::Verdict;

pub(super) const ROWS: &[Row] = &[
    Row {
        named: Named {
            cause: cause::FABRIC_UNHEALTHY,
            verdict: Verdict::Degraded,
            record: None,
            means: "NVML says that the NVSwitch fabric of a GPU is not in full health.",
            fix: "Read `nvidia-smi -q` (Fabric, Health) and the fabric manager's log, let jobs end, reset the GPUs and \
                  restart the fabric manager (`systemctl restart nvidia-fabricmanager`); what stays is for service.",
        },
        beside: true,
        applies: fabric_unhealthy,
    },
    Row {
        named: Named {
            cause: cause::PCIE_ERRORS,
            verdict: Verdict::Degraded,
            record: Some("pcie/aer-error"),
            means: "PCIe reported errors of a GPU or of a bridge above it during the run.",
            fix: "Reseat card, riser and cable of the device named, or lower the slot's generation in the firmware as a \
                  test; `aer_dev_*` in its folder below /sys/bus/pci/devices counts them.",
        },
        beside: true,
        applies: pcie_errors,
    },
];

/// `fabric.health` lists what is wrong, and is empty where nothing is.
fn fabric_unhealthy(pair: &Seen<'_>) -> Option<Finding> {
    let mut bad = pair
        .gpu_facts(fact_name::FABRIC_HEALTH)
        .filter_map(|(gpu, health, at)| {
            let troubles: Vec<String> = health
                .as_array()?
                .iter()
                .filter_map(|trouble| Some(trouble.as_str()?.replace('_', " ")))
                .collect();
            (!troubles.is_empty()).then(|| {
                (
                    format!("the fabric of GPU {gpu} says {}", troubles.join(", ")),
                    at,
                )
            })
        });
    let (reason, at) = bad.next()?;
    Some(Finding::new(reason, vec![at]).and(bad.map(|(_, at)| at)))
}

fn pcie_errors(pair: &Seen<'_>) -> Option<Finding> {
    risen(pair, fact_name::PCI_AER_FATAL, 0)
        .or_else(|| risen(pair, fact_name::PCI_AER_NONFATAL, 0))
        .or_else(|| logged(pair, |event| event == Event::Aer))
        .or_else(|| logged_on_path(pair))
}

/// Bridges report the errors of the link below them in their own name.
fn logged_on_path(pair: &Seen<'_>) -> Option<Finding> {
    pair.gpu_facts(fact_name::PCI_PATH).find_map(|(gpu, path, at)| {
        let addresses = path.as_array()?.iter();
        let slots: Vec<_> = addresses
            .filter_map(|bridge| slot(bridge.get("address")?.as_str()?))
            .collect();
        let mut lines = pair.scene.lines.iter();
        let line = lines.find(|line| line.event == Event::Aer && slots.contains(&line.slot))?;
        let reason = format!(
            "the kernel log says during the run of the path of GPU {gpu}: {}",
            line.text
        );
        Some(Finding::new(reason, vec![line.pointer.clone(), at]))
    })
}

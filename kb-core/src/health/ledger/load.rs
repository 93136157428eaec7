//! What a load found wrong with the hardware: a probe computes nothing, so that it neither sees such a fault nor ends it.

use std::collections::BTreeMap;

use super::Ledger;
use super::new::New;
use crate::observation::{canonical, cause};
use crate::report::{GpuIndex, LoadFinding, NODE, Report, Verdict};
use crate::verdict::{cause as found, load_findings};

impl Ledger {
    /// Opens an event for each GPU, or the node, of which the load found a fault.
    pub(super) fn load_faults(&mut self, report: &Report) {
        let mut faults: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for finding in load_findings(report).into_iter().filter(is_of_hardware) {
            let device = finding.gpu.and_then(|gpu| address(report, gpu));
            let told = format!("{}: {}", finding.cause, finding.reason);
            faults
                .entry(device.unwrap_or_else(|| NODE.to_owned()))
                .or_default()
                .push(told);
        }
        for (device, told) in faults {
            self.add(New {
                at: &report.finished_at,
                boot_id: report.node.boot_id.as_deref(),
                text: told.join("; "),
                ..New::of(cause::LOAD_FAULT, &device)
            });
        }
    }
}

/// Lines of the kernel log are events already, and a worker that was killed may have lacked memory.
fn is_of_hardware(finding: &LoadFinding) -> bool {
    finding.verdict == Verdict::Broken
        && !matches!(finding.cause.as_str(), found::XID_FAULT | found::PROCESS_DIES)
}

fn address(report: &Report, gpu: GpuIndex) -> Option<String> {
    let gpu = report.gpus.get(usize::try_from(gpu).ok()?)?;
    gpu.pci_address.value.as_deref().map(canonical)
}

//! What a run proves, and which events end with that.

use super::Ledger;
use crate::observation::{canonical, cause};
use crate::report::{NODE, Nature, Pair, Proof, Report, Verdict};

impl Ledger {
    /// Takes in a run that tried what GPUs can do with each other, and came to a verdict; any other is none.
    ///
    /// Events of an earlier boot end on the GPUs that the run proved. Events of the node and of its switches end when all
    /// GPUs of the node took part. A GPU that is gone keeps its events: nothing was proven of it.
    ///
    /// A run over some of the GPUs does not replace the proof of all of them, unless it found a fault.
    pub fn proof(&mut self, report: &Report) {
        let verdict = report.conclusion.verdict;
        let is_fault = matches!(verdict, Verdict::Refused | Verdict::Broken);
        let is_good = matches!(verdict, Verdict::Healthy | Verdict::Degraded);
        if !report.was_tried() || !(is_fault || is_good) {
            return;
        }
        let proven = proven_devices(report);
        let takes_part = |device: &String| proven.iter().any(|(known, _)| known == device);
        let of_all = self.gpus.iter().all(takes_part);
        if of_all || is_fault {
            self.last_proof = Some(Proof {
                at: report.finished_at.clone(),
                verdict,
                reason: report.conclusion.reason.clone(),
                report: report.report_id.clone(),
                boot_id: report.node.boot_id.clone(),
            });
        }
        let Some(boot) = report.node.boot_id.clone().filter(|_| is_good) else {
            return;
        };
        let is_proven = |device: &str| {
            proven
                .iter()
                .any(|(known, is_proven)| *is_proven && known == device)
        };
        self.end(|entry| {
            let of_earlier_boot = entry.boot_id.as_ref().is_some_and(|earlier| *earlier != boot);
            let is_of_no_gpu = entry.device == NODE || entry.cause == cause::SXID;
            let is_covered = is_proven(&entry.device) || (of_all && is_of_no_gpu);
            entry.nature == Nature::Event && of_earlier_boot && is_covered
        });
    }
}

fn proven_devices(report: &Report) -> Vec<(String, bool)> {
    let takes_part = |pair: &Pair, index: usize| {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        (pair.a == index || pair.b == index) && !pair.verdict.proven_rungs.is_empty()
    };
    let gpus = report.gpus.iter().enumerate();
    gpus.filter_map(|(index, gpu)| {
        let device = canonical(gpu.pci_address.value.as_deref()?);
        Some((device, report.pairs.iter().any(|pair| takes_part(pair, index))))
    })
    .collect()
}

//! What a run proves, and which events end with that.

use super::{Ledger, decidable};
use crate::health::admission::{is_due, needs_admission};
use crate::observation::{canonical, cause};
use crate::policy::Policy;
use crate::report::{Bearing, Clear, Entry, NODE, Nature, Pair, Proof, Report, Verdict};
use crate::verdict::not_admitted;

impl Ledger {
    /// Takes in a run that tried what GPUs can do, and came to a verdict; any other is none.
    ///
    /// What a load finds wrong with the hardware is an event of its own.
    ///
    /// A fault of the hardware, or of a cause that is not known, ends by a run that admits the node ([`not_admitted`]), on the GPUs that were loaded. Other events of an
    /// earlier boot end on the GPUs that a run proved. Events of the node and of its switches end when all GPUs of the node took
    /// part. A GPU that is gone keeps its events: nothing was proven of it.
    ///
    /// A run over some of the GPUs does not replace the proof of all of them, unless it found a fault. Neither does a good run beside
    /// something that stays open as a fault or hides one: the run itself does not end as good.
    ///
    /// The report is as the records judge it. The policy decides alone which open entry keeps a good run from being the last proof: one
    /// that it passes over does not, and one that only a policy calls a fault does not either.
    pub fn proof(&mut self, report: &Report, policy: &Policy) {
        self.load_faults(report);
        let verdict = report.conclusion.verdict;
        let admits = not_admitted(report).is_none();
        let is_fault = matches!(verdict, Verdict::Refused | Verdict::Broken);
        let is_good = admits || matches!(verdict, Verdict::Healthy | Verdict::Degraded);
        let was_tried = report.was_tried() || report.load.is_some();
        if !was_tried || !(is_fault || is_good) {
            return;
        }
        let devices = devices(report);
        let takes_part = |device: &String| devices.iter().any(|of| of.address == *device);
        let of_all = self.gpus.iter().all(takes_part);
        if admits && of_all {
            self.admitted_at = Some(report.finished_at.clone());
        }
        if let Some(boot) = report.node.boot_id.as_deref().filter(|_| is_good) {
            if admits && of_all {
                // What the node has now is what it should have.
                self.gpus_before.clear();
            }
            let ended = self.end_shown(&devices, boot, of_all, admits);
            self.note_clear(ended, report);
        }
        let hides = |entry: &Entry| {
            let mut by_policy = entry.clone();
            policy.judge_entry(&mut by_policy, &report.gpus);
            entry.bearing.min(by_policy.bearing) >= Bearing::Unknown
        };
        if is_fault || (of_all && !self.open.iter().any(hides)) {
            let (decidable, otherwise) = decidable::of(report);
            let order = self.next_place();
            self.last_proof = Some(Proof {
                decidable,
                otherwise,
                by_policy: None,
                at: report.finished_at.clone(),
                verdict,
                reason: report.conclusion.reason.clone(),
                report: report.report_id.clone(),
                boot_id: report.node.boot_id.clone(),
                order,
            });
        }
    }

    /// Notes what a run has ended: an entry that is only gone could have been lost with the ledger.
    fn note_clear(&mut self, entries: Vec<String>, report: &Report) {
        if !entries.is_empty() {
            let order = self.next_place();
            self.add_clear(Clear {
                order,
                at: report.finished_at.clone(),
                by: "peerless-agent".to_owned(),
                reason: format!("run {}: {}", report.report_id, report.conclusion.reason),
                entries,
            });
        }
    }

    /// Ends the events that a good run shows to be over, and says which.
    fn end_shown(&mut self, devices: &[Device], boot: &str, of_all: bool, admits: bool) -> Vec<String> {
        let is_shown = |entry: &Entry| {
            let of_hardware = needs_admission(entry);
            let covers = |of: &Device| {
                let is_shown = if of_hardware { of.is_loaded } else { of.is_proven };
                of.address == entry.device && is_shown
            };
            let is_of_no_gpu = entry.device == NODE || entry.cause == cause::SXID;
            let is_covered = devices.iter().any(covers) || (of_all && is_of_no_gpu);
            entry.nature == Nature::Event && is_due(entry, boot) && is_covered && (admits || !of_hardware)
        };
        let shown = self.open.iter().filter(|entry| is_shown(entry));
        let ended = shown.map(|entry| entry.id.clone()).collect();
        self.end(is_shown);
        ended
    }
}

struct Device {
    address: String,
    is_proven: bool,
    is_loaded: bool,
}

fn devices(report: &Report) -> Vec<Device> {
    let takes_part = |pair: &Pair, index: u32| {
        (pair.a == index || pair.b == index) && !pair.verdict.proven_rungs.is_empty()
    };
    let load = report.load.as_ref();
    let gpus = (0..).zip(&report.gpus);
    gpus.filter_map(|(index, gpu)| {
        Some(Device {
            address: canonical(gpu.pci_address.value.as_deref()?),
            is_proven: report.pairs.iter().any(|pair| takes_part(pair, index)),
            is_loaded: load.is_some_and(|load| load.of_gpu(index).is_some()),
        })
    })
    .collect()
}

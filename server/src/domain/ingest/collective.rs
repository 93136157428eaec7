//! Whether a proof of health ends a fault that a collective of nccl-tests showed: copies between pairs do not try what a collective does.

use kb_core::report::{Gpu, GpuIndex, NcclArm, Outcome, Report};
use kb_core::verdict::not_admitted;

use super::gone::is_same;
use super::machine::is_of_all;
use super::weight::CONVERTED;

/// What the steps of failures begin with that were converted from the output of nccl-tests.
const NCCL_TESTS: &str = "nccl-tests";

/// Why the proof leaves such a fault open: it ends with a collective over the same GPUs, or with an admission.
pub(super) fn leaves_collective_open(fault: &Report, proof: &Report) -> Option<String> {
    if !fault.host.contains_key(CONVERTED) {
        return None;
    }
    let mut failures = fault.failures.iter();
    let failed = failures.find(|failure| failure.step.starts_with(NCCL_TESTS))?;
    let mut arms = proof.nccl.iter().flat_map(|nccl| &nccl.arms);
    if not_admitted(proof).is_none() || arms.any(|arm| covers(arm, fault, proof)) {
        return None;
    }
    Some(format!(
        "{}, which failed then, is a collective, and this run made none over the same GPUs (bench --nccl makes one)",
        failed.step
    ))
}

/// Whether a collective passed over all GPUs of the fault, two or more. Where these are not all found in the proof, as where an operator says
/// how many there should be, it has to be over all GPUs of a proof that shows the whole node.
fn covers(arm: &NcclArm, fault: &Report, proof: &Report) -> bool {
    let is_in_arm = |gpu: &Gpu| {
        let mut now = (0..).zip(&proof.gpus);
        now.any(|(index, other): (GpuIndex, _)| {
            is_same(gpu, other, fault, proof) && arm.gpus.contains(&index)
        })
    };
    // Numbers in CUDA's order are other GPUs' where other devices were visible.
    let is_named = |gpu: &Gpu| gpu.uuid.value.is_some() || gpu.pci_address.value.is_some();
    let is_over_fault =
        || fault.gpus.len() > 1 && fault.gpus.iter().all(|gpu| is_named(gpu) && is_in_arm(gpu));
    let is_over_node = || {
        let mut all = (0..).zip(&proof.gpus);
        is_of_all(proof) && all.all(|(index, _): (GpuIndex, _)| arm.gpus.contains(&index))
    };
    let is_whole = arm.outcome == Outcome::Pass && arm.peer_access && arm.gpus.len() > 1;
    is_whole && (is_over_fault() || is_over_node())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::report;

    fn converted() -> Value {
        let mut fault = report(3, &[]);
        fault["host"] = json!({ CONVERTED: { "value": "nccl-tests", "source": "the text" } });
        fault["failures"] = json!([{ "step": "nccl-tests all_reduce of 4096 bytes", "code": null, "code_name": null, "message": "12 wrong" }]);
        fault
    }

    fn with_arm(gpus: &Value, peer_access: bool, outcome: &str) -> Value {
        let mut proof = report(3, &[]);
        let gap = json!({ "source": "test", "gap": { "kind": "skipped", "reason": "test" } });
        proof["nccl"] = json!({
            "library": gap, "version": gap, "verdict": "not_told", "reason": "",
            "arms": [{ "gpus": gpus, "peer_access": peer_access, "outcome": outcome, "seconds": 1.0 }],
        });
        proof
    }

    #[test]
    fn a_collective_over_the_same_gpus_ends_what_one_showed() {
        let read = |report: &Value| serde_json::from_value::<Report>(report.clone()).unwrap();
        let why = |proof: &Value| leaves_collective_open(&read(&converted()), &read(proof));
        assert_eq!(why(&with_arm(&json!([0, 1, 2]), true, "pass")), None);
        for less in [
            report(3, &[]),
            with_arm(&json!([0, 1]), true, "pass"),
            with_arm(&json!([0, 1, 2]), false, "pass"),
            with_arm(&json!([0, 1, 2]), true, "fail"),
        ] {
            let told = why(&less).unwrap();
            assert!(told.contains("all_reduce"), "{told}");
        }
        // GPUs of the fault that are not known, or not found, may be any of the node.
        let mut unknown = converted();
        unknown["gpus"] = json!([]);
        let mut others = converted();
        for gpu in others["gpus"].as_array_mut().unwrap() {
            gpu["uuid"]["value"] = json!("GPU-other");
            gpu["pci_address"]["value"] = json!("0000:99:00.0");
        }
        let mut unnamed = converted();
        for gpu in unnamed["gpus"].as_array_mut().unwrap() {
            let gap = json!({ "source": "test", "gap": { "kind": "not_told", "reason": "test" } });
            (gpu["uuid"], gpu["pci_address"]) = (gap.clone(), gap);
        }
        for fault in [unknown, others, unnamed] {
            let why =
                |arm: &Value| leaves_collective_open(&read(&fault), &read(&with_arm(arm, true, "pass")));
            assert!(why(&json!([0, 1])).is_some(), "{}", fault["gpus"]);
            assert_eq!(why(&json!([0, 1, 2])), None);
        }
        let mut of_probe = converted();
        of_probe["host"] = json!({});
        assert_eq!(
            leaves_collective_open(&read(&of_probe), &read(&report(3, &[]))),
            None
        );
    }
}

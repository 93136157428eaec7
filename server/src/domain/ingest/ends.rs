//! Whether a proof of health ends an earlier fault: it has to cover the same GPUs with tests that could have seen it.

use kb_core::health::still_open;
use kb_core::observation::{Look, canonical};
use kb_core::report::{Check, Gpu, Outcome, Pair, Report};
use kb_core::verdict::{Verdict, all_passed, cause, check_passed, unproven};

use super::collective::leaves_collective_open;
use super::gone::{is_same, leaves_gpus_open};
use super::load::leaves_load_open;
use super::unread::{leaves_ledger_states_open, leaves_remapping_open};

/// Rungs that checks prove; 1 is the driver's own answer.
const CHECKED_RUNGS: std::ops::RangeInclusive<u8> = 2..=7;
/// NVML's own version: where it could be asked, what it says of a GPU was read.
const NVML: &str = "nvml.driver_version";

/// Why the proof leaves the fault open; `None` where it ends it.
pub(super) fn leaves_open(fault: &Report, proof: &Report) -> Option<String> {
    if let Some(why) = unproven(proof) {
        return Some(why);
    }
    if let Some(entry) = still_open(fault, proof) {
        let id = &entry.id;
        return Some(format!(
            "it neither admits the node nor tells that {id}, a fault of the hardware, has ended"
        ));
    }
    leaves_gpus_open(fault, proof)
        .or_else(|| leaves_load_open(fault, proof))
        .or_else(|| leaves_checks_open(fault, proof))
        .or_else(|| leaves_collective_open(fault, proof))
        .or_else(|| leaves_states_open(fault, proof))
        .or_else(|| leaves_ledger_states_open(fault, proof))
}

fn leaves_checks_open(fault: &Report, proof: &Report) -> Option<String> {
    if let Some((_, check)) = failed(fault).find(|(pair, check)| !passed(proof, pair, check)) {
        let name = &check.name;
        return Some(format!("{name}, which failed then, did not pass in all pairs"));
    }
    let (_, check) = failed(fault).find(|(_, check)| !moved_as_much(proof, check))?;
    let (name, bytes, windows) = (&check.name, check.bytes, check.windows);
    Some(format!(
        "{name}, which failed then with {bytes} bytes in {windows} windows, passed with less"
    ))
}

/// Why the later report does not show that each state that was bad is good.
pub(super) fn leaves_states_open(fault: &Report, proof: &Report) -> Option<String> {
    let (then, later) = (Look::of(fault), Look::of(proof));
    let now = |device: &str| place_now(device, fault, proof);
    if let Some((cause, device)) = then.not_read_again(&later, now).next() {
        return Some(format!(
            "{cause} of {device}, which was a fault then, was not read"
        ));
    }
    if let Some(why) = leaves_remapping_open(fault, proof) {
        return Some(why);
    }
    let asks_for_service = fault
        .pairs
        .iter()
        .any(|pair| pair.verdict.cause.as_deref() == Some(cause::GPU_NEEDS_SERVICE));
    let nvml_answers = proof.host.get(NVML).is_some_and(|fact| fact.value.is_some());
    (asks_for_service && !nvml_answers)
        .then(|| "NVML, which asked for service of a GPU then, was not asked".to_owned())
}

pub(super) fn place_now(device: &str, fault: &Report, proof: &Report) -> String {
    let address = |gpu: &Gpu| gpu.pci_address.value.as_deref().map(canonical);
    let gpu = fault
        .gpus
        .iter()
        .find(|gpu| address(gpu).as_deref() == Some(device));
    let other = gpu.and_then(|gpu| proof.gpus.iter().find(|other| is_same(gpu, other, fault, proof)));
    other.and_then(address).unwrap_or_else(|| device.to_owned())
}

pub(super) fn failed(fault: &Report) -> impl Iterator<Item = (&Pair, &Check)> {
    let counting = fault.pairs.iter().filter(|pair| !is_as_expected(pair));
    let checks = counting.flat_map(|pair| {
        let directions = pair.directions.iter();
        directions.flat_map(move |direction| direction.checks.iter().map(move |check| (pair, check)))
    });
    checks.filter(|(_, check)| {
        CHECKED_RUNGS.contains(&check.rung) && matches!(check.outcome, Outcome::Fail | Outcome::Hang)
    })
}

/// A pair whose refusal is expected need not work.
fn is_as_expected(pair: &Pair) -> bool {
    pair.verdict.information && pair.verdict.verdict == Verdict::Refused
}

/// Whether each check of this name moved as much as the one that failed: less data reaches less of what is broken.
fn moved_as_much(proof: &Report, failed: &Check) -> bool {
    let counting = proof.pairs.iter().filter(|pair| !is_as_expected(pair));
    let directions = counting.flat_map(|pair| &pair.directions);
    let checks = directions.flat_map(|direction| &direction.checks);
    let mut same = checks.filter(|check| check.name == failed.name);
    same.all(|check| check.bytes >= failed.bytes && check.windows >= failed.windows)
}

fn passed(proof: &Report, pair: &Pair, check: &Check) -> bool {
    let mut pairs = proof.pairs.iter();
    let is_left_out = pairs.any(|other| (other.a, other.b) == (pair.a, pair.b) && is_as_expected(other));
    !is_left_out && all_passed(proof, check.rung) && check_passed(proof, &check.name)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::{proven, report};

    fn whole(gpus: u32) -> Value {
        let pairs: Vec<Value> = (0..gpus)
            .flat_map(|b| (0..b).map(move |a| proven(a, b)))
            .collect();
        report(gpus, &pairs)
    }

    fn fault(gpus: u32, rung: usize) -> Value {
        let mut fault = whole(gpus);
        fault["conclusion"]["verdict"] = json!("broken");
        fault["pairs"][0]["verdict"]["verdict"] = json!("broken");
        fault["pairs"][0]["directions"][0]["checks"][rung]["outcome"] = json!("fail");
        fault
    }

    fn why(fault: &Value, proof: &Value) -> Option<String> {
        let read = |report: &Value| serde_json::from_value::<Report>(report.clone()).unwrap();
        leaves_open(&read(fault), &read(proof))
    }

    fn left_open(fault: &Value, proof: &Value, text: &str) {
        let why = why(fault, proof).expect("it does not end the fault");
        assert!(why.contains(text), "{why}");
    }

    #[test]
    fn a_proof_of_the_same_gpus_ends_a_fault() {
        assert_eq!(why(&fault(3, 0), &whole(3)), None);
        assert_eq!(why(&fault(2, 0), &whole(3)), None, "with one more");
    }

    #[test]
    fn a_proof_of_fewer_or_other_gpus_ends_none() {
        left_open(&fault(3, 0), &whole(2), "GPU-2 is not among");
        let mut others = whole(2);
        others["gpus"][1]["uuid"]["value"] = json!("GPU-other");
        left_open(&fault(2, 0), &others, "GPU-1 is not among");
    }

    #[test]
    fn a_gpu_that_was_exchanged_is_covered_by_the_one_in_its_place() {
        let mut exchanged = whole(2);
        exchanged["gpus"][1]["uuid"]["value"] = json!("GPU-new");
        exchanged["node"]["boot_id"] = json!("after");
        let mut before = fault(2, 0);
        left_open(&before, &exchanged, "GPU-1");
        before["node"]["boot_id"] = json!("before");
        assert_eq!(why(&before, &exchanged), None);
        let mut other_machine = exchanged.clone();
        other_machine["gpus"][0]["uuid"]["value"] = json!("GPU-another");
        left_open(&before, &other_machine, "GPU-0");
    }

    #[test]
    fn without_uuids_addresses_and_places_tell() {
        let nameless = |mut report: Value| {
            for gpu in report["gpus"].as_array_mut().unwrap() {
                gpu["uuid"] = json!({ "source": "test", "gap": { "kind": "failed", "reason": "test" } });
                gpu["pci_address"] = gpu["uuid"].clone();
            }
            report
        };
        assert_eq!(why(&nameless(fault(2, 0)), &nameless(whole(2))), None);
        left_open(&nameless(fault(3, 0)), &nameless(whole(2)), "GPU 2");
    }

    #[test]
    fn a_proof_that_could_not_read_which_gpus_it_has_ends_none() {
        let without = |mut report: Value, fact: &str| {
            for gpu in report["gpus"].as_array_mut().unwrap() {
                gpu[fact] = json!({ "source": "test", "gap": { "kind": "failed", "reason": "test" } });
            }
            report
        };
        let mut proof = without(whole(2), "uuid");
        left_open(&fault(2, 0), &proof, "GPU-0 is not among");
        // Nor after a new boot: what stands at the address now is not known.
        let mut before = fault(2, 0);
        before["node"]["boot_id"] = json!("before");
        proof["node"]["boot_id"] = json!("after");
        left_open(&before, &proof, "GPU-0 is not among");
        // Where the fault has addresses alone, addresses tell.
        let at_address = without(fault(2, 0), "uuid");
        assert_eq!(why(&at_address, &whole(2)), None);
        left_open(&at_address, &without(whole(2), "pci_address"), "is not among");
    }

    #[test]
    fn a_fault_of_too_few_gpus_ends_with_as_many_as_there_should_be() {
        let expecting = |mut report: Value, gpus: u32| {
            report["host"] = json!({ "expected.gpus": { "value": gpus, "source": "--expect" } });
            report
        };
        let few = expecting(fault(2, 0), 8);
        left_open(&few, &whole(3), "3 GPUs, and there should be 8");
        assert_eq!(why(&few, &whole(8)), None);
        assert_eq!(
            why(&few, &expecting(whole(2), 2)),
            None,
            "the operator says another number"
        );
        left_open(&few, &expecting(whole(3), 1), "3 GPUs, and there should be 8");
    }

    #[test]
    fn a_gpu_that_was_lost_has_to_be_back() {
        let lost = |address: Value| {
            let mut fault = fault(2, 0);
            fault["absent"] =
                json!([{ "absence": "lost", "pci_address": address, "reason": "gone", "source": "test" }]);
            fault
        };
        left_open(&lost(json!("0000:00:99.0")), &whole(3), "0000:00:99.0");
        left_open(&lost(json!(null)), &whole(2), "2 GPUs, and there were 3");
        assert_eq!(why(&lost(json!(null)), &whole(3)), None);
    }

    #[test]
    fn a_gpu_that_cuda_lists_and_nvml_calls_lost_is_one() {
        let mut fault = fault(2, 0);
        fault["gpus"][1]["nvml_index"] =
            json!({ "source": "test", "gap": { "kind": "failed", "reason": "GPU is lost" } });
        fault["absent"] = json!([{ "absence": "lost", "reason": "number 1 of NVML's list" }]);
        assert_eq!(why(&fault, &whole(2)), None);
        fault["absent"] = json!([{ "absence": "lost", "reason": "" }, { "absence": "lost", "reason": "" }]);
        left_open(&fault, &whole(2), "2 GPUs, and there were 3");
    }

    #[test]
    fn an_admission_says_how_many_gpus_there_are() {
        let mut fault = fault(2, 0);
        fault["absent"] = json!([{ "absence": "lost", "reason": "" }]);
        left_open(&fault, &whole(2), "2 GPUs, and there were 3");
        let loaded = |gpu: u32| {
            json!({ "gpu": gpu, "launches": 9, "copies": 9, "checks": 9, "wrong_checksums": 0, "wrong_copies": 0,
                "samples": 9, "throttled": {}, "counters": {}, "figures": {} })
        };
        let gap = json!({ "source": "test", "gap": { "kind": "skipped", "reason": "test" } });
        let mut admitted = whole(2);
        admitted["host"] = json!({ "kernel_log.readable": { "value": true, "source": "test" } });
        admitted["load"] = json!({ "asked_seconds": 60.0, "seconds": 60.0, "steps": 9, "earlier": gap, "findings": [],
            "gpus": [loaded(0), loaded(1)] });
        left_open(&fault, &admitted, "2 GPUs, and there were 3");
        admitted["health"] = json!({ "verdict": "no_fault_seen", "open": [], "whole_node": true });
        assert_eq!(why(&fault, &admitted), None);
        // One that is known by name has to be there all the same.
        fault["absent"] = json!([{ "absence": "lost", "pci_address": "0000:00:99.0", "reason": "" }]);
        left_open(&fault, &admitted, "0000:00:99.0");
    }

    #[test]
    fn the_check_that_failed_has_to_pass_and_its_rung() {
        let mut with_nccl = fault(2, 0);
        with_nccl["pairs"][0]["directions"][0]["checks"][0]["rung"] = json!(7);
        left_open(&with_nccl, &whole(2), "which failed then");
        let mut renamed = fault(2, 0);
        renamed["pairs"][0]["directions"][0]["checks"][0]["name"] = json!("of_another_name");
        left_open(&renamed, &whole(2), "of_another_name");
    }

    #[test]
    fn the_fact_that_told_of_the_fault_has_to_be_read() {
        let with = |mut report: Value, name: &str, value: Value| {
            report["gpus"][0]["facts"][name] = json!({ "value": value, "source": "test" });
            report
        };
        for (name, cause, bad, good) in [
            ("ecc.volatile_uncorrected", "ecc_uncorrected", json!(3), json!(0)),
            (
                "recovery.action",
                "recovery_action",
                json!("reboot"),
                json!("none"),
            ),
            (
                "remapped_rows.pending",
                "remap_pending",
                json!(true),
                json!(false),
            ),
            (
                "fabric.state",
                "fabric_not_ready",
                json!("not_started"),
                json!("completed"),
            ),
        ] {
            let mut broken = with(whole(2), name, bad);
            broken["conclusion"]["verdict"] = json!("broken");
            left_open(&broken, &whole(2), cause);
            assert_eq!(why(&broken, &with(whole(2), name, good.clone())), None, "{name}");
            // What was good before need not be read again.
            assert_eq!(why(&with(fault(2, 0), name, good), &whole(2)), None, "{name}");
        }
    }

    #[test]
    fn a_pair_that_is_expected_to_be_refused_ends_no_fault_of_it() {
        let mut expected = whole(3);
        expected["pairs"][0]["verdict"] =
            json!({ "verdict": "refused", "information": true, "reason": "as expected", "evidence": [] });
        left_open(&fault(3, 0), &expected, "which failed then");
    }

    #[test]
    fn a_fault_of_the_hardware_ends_where_the_ledger_tells_of_its_end() {
        let health = |open: Value| json!({ "verdict": "broken", "open": open });
        let xid = json!([{ "id": "xid-48@0000:3b:00.0", "cause": "xid", "nature": "event", "bearing": "fault",
            "device": "0000:3b:00.0", "number": 48, "count": 1, "text": "x",
            "first_at": "2026-11-24T10:00:00Z", "last_at": "2026-11-24T10:00:00Z" }]);
        let mut broken = fault(2, 0);
        broken["health"] = health(xid);
        left_open(&broken, &whole(2), "xid-48@0000:3b:00.0");
        let mut cleared = whole(2);
        cleared["health"] = json!({ "verdict": "no_fault_seen", "open": [] });
        left_open(&broken, &cleared, "xid-48@0000:3b:00.0");
        cleared["health"]["clears"] = json!([{ "at": "2026-11-24T12:00:00Z", "by": "ops", "reason": "new GPU",
            "entries": ["xid-48@0000:3b:00.0"] }]);
        assert_eq!(why(&broken, &cleared), None);
    }

    #[test]
    fn a_gpu_that_has_moved_is_read_where_it_is() {
        let with = |mut report: Value, errors: u32| {
            report["gpus"][0]["facts"]["ecc.volatile_uncorrected"] =
                json!({ "value": errors, "source": "test" });
            report
        };
        let mut moved = with(whole(2), 0);
        moved["gpus"][0]["pci_address"]["value"] = json!("0000:77:00.0");
        assert_eq!(why(&with(fault(2, 0), 3), &moved), None);
    }

    #[test]
    fn checks_that_moved_nothing_prove_nothing() {
        let mut empty = whole(2);
        for check in empty["pairs"][0]["directions"][0]["checks"]
            .as_array_mut()
            .unwrap()
        {
            check["bytes"] = json!(0);
        }
        left_open(&fault(2, 0), &empty, "moved no bytes");
    }

    #[test]
    fn what_nvml_said_is_taken_back_by_nvml() {
        let mut service = fault(2, 0);
        service["pairs"][0]["verdict"]["cause"] = json!("gpu_needs_service");
        left_open(&service, &whole(2), "NVML");
        let mut asked = whole(2);
        asked["host"] = json!({ NVML: { "value": "580.1", "source": "test" } });
        assert_eq!(why(&service, &asked), None);
    }
}

//! States that could not be read, and states that became bad during the run.

use super::*;

/// Two GPUs that say healthy, or no fault seen, beside a state of GPU 1 with this fact.
fn beside(claimed: &str, minor: u32, (name, fact): (&str, &Value)) -> (Verdict, String) {
    changed(|report| {
        report["schema"]["minor"] = json!(minor);
        report["conclusion"]["verdict"] = json!(claimed);
        report["host"] = json!({ "nvml.driver_version": { "value": "580.159.04", "source": "test" } });
        for gpu in 0..2 {
            report["gpus"][gpu]["facts"] =
                json!({ "recovery.action": { "value": "none", "source": "test" } });
        }
        report["gpus"][1]["facts"][name] = fact.clone();
    })
}

fn gap(kind: &str) -> Value {
    json!({ "source": "test", "gap": { "kind": kind, "reason": "NVML error 999" } })
}

#[test]
fn nothing_is_known_beside_a_state_that_could_not_be_read() {
    for minor in [0, 1, 7] {
        for claimed in ["healthy", "no_fault_seen"] {
            for name in [
                "remapped_rows.failure",
                "ecc.volatile_uncorrected",
                "fabric.state",
                "nvlink.links_active",
            ] {
                let (verdict, reason) = beside(claimed, minor, (name, &gap("failed")));
                assert_eq!(verdict, Verdict::Unknown, "{minor} {claimed} {name}: {reason}");
                assert!(reason.contains(name) && reason.contains("999"), "{reason}");
                for kind in ["not_supported", "not_visible", "skipped"] {
                    let (verdict, reason) = beside(claimed, minor, (name, &gap(kind)));
                    assert_eq!(verdict.word(), claimed, "{minor} {name} {kind}: {reason}");
                }
            }
        }
    }
}

#[test]
fn an_agent_that_did_not_know_states_is_believed() {
    let asked = |minor: u32| {
        changed(|report| {
            report["schema"]["minor"] = json!(minor);
            report["host"] = json!({ "nvml.driver_version": { "value": "580.159.04", "source": "test" } });
        })
    };
    assert_eq!(asked(0).0, Verdict::Healthy, "{}", asked(0).1);
    assert_eq!(asked(1).0, Verdict::Unknown, "from then on each state is told");
}

#[test]
fn a_row_that_was_not_remapped_during_the_run_is_told() {
    for name in ["during.remapped_rows.failure", "during.remapped_rows.pending"] {
        let (verdict, reason) = fact(name, &json!(1));
        assert_eq!(verdict, Verdict::Broken, "{name}: {reason}");
        assert!(reason.contains("during the run"), "{reason}");
        assert_eq!(fact(name, &json!(0)).0, Verdict::Healthy, "{name}");
    }
}

//! Reports that say healthy, and whose own content says otherwise: failures of the host, GPUs that are lost or named twice.

use kb_core::verdict::Verdict;
use serde_json::json;

use super::super::claim::told;
use crate::domain::correlate::samples::{proven, report};

#[test]
fn a_host_that_fails_during_the_run_leaves_it_unknown() {
    let log = |when: &str, text: &str| {
        let text = format!("[  10.000000] {text}");
        let mut whole = report(2, &[proven(0, 1)]);
        whole["logs"] = json!([{ "source": "kmsg", "when": when, "text": text }]);
        let claim = told(
            &serde_json::from_value(whole).unwrap(),
            &kb_core::policy::Policy::default(),
        );
        (claim.verdict, claim.reason)
    };
    for line in [
        "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 4: be00000000800400",
        "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0",
        "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [nvidia-smi:4711]",
        "NMI watchdog: Watchdog detected hard LOCKUP on cpu 3",
        "rcu: INFO: rcu_sched self-detected stall on CPU",
        "Kernel panic - not syncing: Fatal machine check",
        "NMI: PCI system error (SERR) for reason a1 on CPU 0.",
    ] {
        let (verdict, reason) = log("during", line);
        assert_eq!(verdict, Verdict::Unknown, "{line}: {reason}");
        assert!(reason.contains(line), "{reason}");
        assert_eq!(log("before", line).0, Verdict::Healthy, "{line}");
    }
    let corrected = "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 7: 8c00004000010093";
    assert_eq!(log("during", corrected).0, Verdict::Healthy);
    let silent = "NVRM: GPU0 _kgspRpcRecvPoll: GSP RM heartbeat timed out";
    assert_eq!(log("during", silent).0, Verdict::Broken);
    assert_eq!(log("before", silent).0, Verdict::Healthy);
    let never =
        "NVRM: _kgspIsHeartbeatTimedOut: Heartbeat timed out, currentTimeMs 1870886560 heartbeat 0 diff 1";
    assert_eq!(log("during", never).0, Verdict::Unknown);
}

#[test]
fn a_gpu_that_is_lost_or_named_twice_is_no_health() {
    let of = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut whole = report(2, &[proven(0, 1)]);
        change(&mut whole);
        let claim = told(
            &serde_json::from_value(whole).unwrap(),
            &kb_core::policy::Policy::default(),
        );
        (claim.verdict, claim.reason)
    };
    for fact in ["name", "nvml_index", "memory_bytes"] {
        let (verdict, reason) = of(&|report| {
            report["gpus"][1][fact] =
                json!({ "source": "NVML", "gap": { "kind": "error", "reason": "GPU is lost" } });
        });
        assert_eq!(verdict, Verdict::Broken, "{fact}: {reason}");
        assert!(reason.contains("GPU 1: GPU is lost"), "{reason}");
    }
    let (verdict, reason) = of(&|report| {
        report["gpus"][0]["name"] = json!({ "source": "NVML", "gap": { "kind": "failed", "reason": "not read", "reason_code": "gpu_lost" } });
    });
    assert_eq!(verdict, Verdict::Broken, "{reason}");
    let (verdict, reason) = of(&|report| report["gpus"][1]["uuid"] = report["gpus"][0]["uuid"].clone());
    assert_eq!(verdict, Verdict::Unknown, "{reason}");
    assert!(reason.contains("same UUID"), "{reason}");
    let with_code =
        |code: i32| of(&|report| report["pairs"][0]["directions"][0]["checks"][0]["code"] = json!(code));
    assert_eq!(with_code(719).0, Verdict::Unknown);
    assert_eq!(with_code(0).0, Verdict::Healthy);
}

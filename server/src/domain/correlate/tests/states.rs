//! What the agent holds against a node.

use kb_core::severity::Severity;

use super::*;

/// What the agent holds open is a finding of the node, explained by the record that is published here.
#[test]
fn open_faults_and_absent_gpus_are_findings() {
    let lost = "xid/79-gpu-has-fallen-off-the-bus";
    let mut body = report(2, &[pair(0, 1, "OK", 4)]);
    let entry = |cause: &str, bearing: &str| {
        json!({
            "id": format!("{cause}@0000:3b:00.0"), "cause": cause, "nature": "state", "bearing": bearing,
            "device": "0000:3b:00.0", "record": lost, "count": 2, "first_at": "2026-11-27T10:00:00Z",
            "last_at": "2026-11-27T11:00:00Z", "text": format!("what {cause} says"),
        })
    };
    body["health"] = json!({
        "verdict": "broken",
        "open": [entry("gpu_lost", "fault"), entry("throttled", "warning"), entry("xid", "event")],
    });
    body["absent"] = json!([
        { "asked_as": "3", "absence": "missing", "reason": "not listed", "cause": "device_missing", "record": lost },
        { "pci_address": "0000:5e:00.0", "absence": "not_granted", "reason": "a container" },
    ]);
    let document = document(lost, "GPU has fallen off the bus").to_string();
    let annex = json!({ "schema_version": 1 }).to_string();
    let findings = correlate(&[(document, annex)], &body);
    assert_eq!(
        brief(&findings),
        [
            (lost.to_owned(), "health/gpu_lost", "device 0000:3b:00.0"),
            (lost.to_owned(), "health/throttled", "device 0000:3b:00.0"),
            (lost.to_owned(), "absent/device_missing", "GPU 3"),
        ]
    );
    assert_eq!(findings[0].title, "what gpu_lost says");
    // A record that is not published here explains nothing, and hides nothing.
    let elsewhere = correlate(&[], &body);
    assert_eq!(
        brief(&elsewhere)[0],
        (String::new(), "health/gpu_lost", "device 0000:3b:00.0")
    );
}

/// What the driver asks for is nearer than what a record says of the state, and a warning is no fatal one.
#[test]
fn what_was_read_decides_before_what_the_record_says() {
    let id = "xid/154-recovery-action-changed";
    let with = |cause: &str, bearing: &str, asked_for: &str| {
        let mut body = report(2, &[pair(0, 1, "OK", 4)]);
        body["gpus"][1]["pci_address"]["value"] = "00000000:3B:00.0".into();
        body["gpus"][1]["facts"] = json!({ "recovery.action": { "value": asked_for, "source": "test" } });
        body["health"] = json!({ "verdict": "broken", "open": [{
            "id": format!("{cause}@0000:3b:00.0"), "cause": cause, "nature": "state", "bearing": bearing,
            "device": "0000:3b:00.0", "record": id, "count": 1, "first_at": "2026-11-27T10:00:00Z",
            "last_at": "2026-11-27T11:00:00Z", "text": "what it says",
        }] });
        let annex = json!({ "schema_version": 1, "severity": "fatal", "action": "check_hardware" });
        let found = correlate(
            &[(document(id, "a record").to_string(), annex.to_string())],
            &body,
        );
        let gravity = found[0].gravity;
        (gravity.severity, gravity.action)
    };
    let fatal = Some(Severity::Fatal);
    assert_eq!(
        with("recovery_action", "fault", "reboot"),
        (fatal, Some(Action::RebootNode))
    );
    assert_eq!(
        with("recovery_action", "fault", "drain_and_reset"),
        (fatal, Some(Action::ResetGpu))
    );
    assert_eq!(with("recovery_action", "fault", "drain_p2p"), (fatal, None));
    assert_eq!(
        with("gpu_lost", "fault", "none"),
        (fatal, Some(Action::CheckHardware))
    );
    let mild = Some(Severity::Warning);
    assert_eq!(with("gpu_without_driver", "warning", "none"), (mild, None));
    assert_eq!(
        with("links_down", "warning", "none"),
        (mild, Some(Action::CheckHardware))
    );
}

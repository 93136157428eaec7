//! What the agent holds against a node.

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

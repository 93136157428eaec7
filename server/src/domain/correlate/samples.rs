//! Reports for tests.

use serde_json::{Value, json};

fn fact(value: &Value) -> Value {
    json!({ "value": value, "source": "test" })
}

/// One direction whose driver answers `granted` and whose NVML says `status` for read and write.
fn direction(initiator: u32, owner: u32, granted: bool, status: &str) -> Value {
    json!({
        "initiator": initiator,
        "owner": owner,
        "can_access_peer": fact(&json!(granted)),
        "nvml": {
            "read": fact(&json!(status)), "write": fact(&json!(status)), "nvlink": fact(&json!("NS")),
            "atomics": fact(&json!(status)), "pci": fact(&json!(status)),
        },
    })
}

pub(crate) fn pair(a: u32, b: u32, status: &str, nvlinks: u32) -> Value {
    let granted = status == "OK";
    let verdict = if granted { "healthy" } else { "refused" };
    json!({
        "a": a, "b": b,
        "nvlinks": fact(&json!(nvlinks)),
        "nvswitch": fact(&json!(false)),
        "common_ancestor": fact(&json!("PHB")),
        "directions": [direction(a, b, granted, status), direction(b, a, granted, status)],
        "verdict": { "verdict": verdict, "reason": "as the test says", "evidence": ["/pairs/0/directions/0/can_access_peer"] },
    })
}

pub(crate) fn proven(a: u32, b: u32) -> Value {
    let mut proven = pair(a, b, "OK", 0);
    let check = |rung: u8| {
        json!({
            "rung": rung, "name": "as the test says", "engine": "sm", "outcome": "pass", "checked_by": "owner_kernel",
            "bytes": 4096, "seconds": 0.5,
        })
    };
    let checks: Vec<Value> = (3..=6).map(check).collect();
    for direction in 0..2 {
        proven["directions"][direction]["checks"] = json!(checks);
    }
    proven
}

fn gpu(ordinal: u32) -> Value {
    json!({
        "cuda_ordinal": ordinal, "nvml_index": fact(&json!(ordinal)), "uuid": fact(&json!(format!("GPU-{ordinal}"))),
        "pci_address": fact(&json!("0000:00:06.0")), "name": fact(&json!("NVIDIA Test")), "memory_bytes": fact(&json!(1)),
        "compute_capability": fact(&json!("9.0")),
    })
}

pub(crate) fn report(gpus: u32, pairs: &[Value]) -> Value {
    let refused = pairs.iter().any(|pair| pair["verdict"]["verdict"] == "refused");
    let verdict = if refused { "refused" } else { "healthy" };
    json!({
        "schema": { "major": 1, "minor": 0 },
        "report_id": "run-1",
        "node": { "id": "node-1", "hostname": "host", "boot_id": null },
        "agent_version": "0.1.0",
        "started_at": "2026-11-21T07:00:00Z",
        "finished_at": "2026-11-21T07:00:10Z",
        "gpus": (0..gpus).map(gpu).collect::<Vec<_>>(),
        "pairs": pairs,
        "conclusion": { "verdict": verdict, "exit_code": 0, "reason": "as the test says" },
    })
}

//! A server with one node's report: eight GPUs, one pair refused by the hardware, one broken in one direction.

use peerless::config::ServeArgs;
use peerless::store::Scope;
use serde_json::{Value, json};

use crate::test_app::TestApp;

/// The report's page.
pub const REPORT: &str = "/reports/run-8-gpus?node=gpu07";
const GPUS: u32 = 8;

pub async fn app_with_fleet() -> TestApp {
    app_with_fleet_and(|_| {}).await
}

pub async fn app_with_fleet_and(change: impl FnOnce(&mut ServeArgs)) -> TestApp {
    let app = TestApp::start_with(|options| {
        options.settings.public_fleet = true;
        change(&mut options.settings);
    });
    let app = app.await;
    let token = app.token(&[Scope::Report]).await;
    let response = app
        .post("/api/v1/reports")
        .bearer_auth(token)
        .json(&report())
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 201, "{}", response.text().await.unwrap());
    app
}

pub fn report() -> Value {
    let pairs: Vec<Value> = (0..GPUS)
        .flat_map(|a| (a + 1..GPUS).map(move |b| pair(a, b)))
        .collect();
    json!({
        "schema": { "major": 1, "minor": 4 },
        "report_id": "run-8-gpus",
        "node": { "id": "gpu07", "hostname": "gpu07.rack3.example", "boot_id": null },
        "agent_version": "0.1.0",
        "started_at": "2026-01-02T03:00:00Z",
        "finished_at": "2026-01-02T03:01:00Z",
        "simulated": true,
        "host": {
            "driver.version": read("550.54.14", "/proc/driver/nvidia/version"),
            "kernel.release": read("6.1.0-18-amd64", "uname"),
            "iommu.groups": missing("not_visible", "a container sees no /sys/kernel/iommu_groups"),
        },
        "gpus": (0..GPUS).map(gpu).collect::<Vec<_>>(),
        "pairs": pairs,
        "measurements": [{
            "metric": "d2d_bandwidth", "unit": "GB/s", "engine": "ce", "operation": "push", "bytes": 268_435_456,
            "peer_access": true, "taken": { "rounds": 14, "seconds": 0.75 }, "cells": bandwidths(),
        }, {
            "metric": "one_to_all_bandwidth", "unit": "GB/s", "engine": "sm", "operation": "pull", "bytes": 76_693_504,
            "peer_access": true, "taken": { "rounds": 8, "seconds": 1.25 }, "cells": one_to_all(),
        }, {
            "metric": "nccl_all_reduce_bus_bandwidth", "unit": "GB/s", "engine": "nccl", "operation": "other",
            "bytes": 536_870_912, "peer_access": null,
            "cells": [{ "source": 0, "destination": 0, "samples": [21.5, 21.7, 21.6] }],
        }],
        "nccl": {
            "library": read("/usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3", "/proc/self/maps"),
            "version": read("2.28.3", "ncclGetVersion"),
            "arms": [
                { "gpus": [0, 1, 2, 3, 4, 5, 6, 7], "peer_access": true, "outcome": "pass", "seconds": 2.5 },
                { "gpus": [0, 1, 2, 3, 4, 5, 6, 7], "peer_access": false, "outcome": "fail", "seconds": 1.5,
                  "reason": "rank 3: the segment could not be made", "call": "ncclCommInitRankConfig", "code": 2,
                  "code_name": "ncclSystemError" },
            ],
            "verdict": "staging_fails",
            "reason": "with peer access NCCL works; without it: rank 3: the segment could not be made",
        },
        "parts": [
            { "name": "opening", "seconds": 2.5 }, { "name": "bench_without_access", "seconds": 3.5 },
            { "name": "bench", "seconds": 29.5 }, { "name": "surroundings", "seconds": 0.002 },
        ],
        "logs": [{ "source": "kmsg", "text": "NVRM: Xid (PCI:0000:0a:00): 31, pid=4121, name=python\n<b>not bold</b>" }],
        "failures": [{
            "step": "load libnccl.so.2", "code": null, "code_name": null, "message": "no such file: rung 7 was left out",
        }],
        "conclusion": {
            "verdict": "broken", "exit_code": 2,
            "reason": "pair 2-3: the driver grants access and data written by GPU 2 did not arrive on GPU 3",
        },
    })
}

fn read(value: impl Into<Value>, source: &str) -> Value {
    json!({ "value": value.into(), "source": source })
}

fn missing(kind: &str, reason: &str) -> Value {
    json!({ "source": "nvml", "gap": { "kind": kind, "reason": reason } })
}

fn gpu(index: u32) -> Value {
    json!({
        "cuda_ordinal": index,
        "nvml_index": read(index, "nvmlDeviceGetIndex"),
        "uuid": read(format!("GPU-5d0e1f2a-0000-4000-8000-00000000000{index}"), "nvmlDeviceGetUUID"),
        "pci_address": read(format!("0000:0{index}:00.0"), "nvmlDeviceGetPciInfo"),
        "name": read("NVIDIA RTX 6000 Ada Generation", "cuDeviceGetName"),
        "memory_bytes": read(51_527_024_640_u64, "cuDeviceTotalMem"),
        "compute_capability": read("8.9", "cuDeviceGetAttribute"),
        "facts": { "nvlink.links_active": missing("not_supported", "this model has no NVLink") },
    })
}

fn pair(a: u32, b: u32) -> Value {
    let (verdict, cause, reason) = match (a, b) {
        (0, 1) => (
            "refused",
            json!("refused_by_hardware"),
            "the driver refuses peer access both ways, NVML says GNS",
        ),
        (2, 3) => (
            "broken",
            json!("data_mismatch"),
            "data written by GPU 2 did not arrive on GPU 3",
        ),
        _ => ("healthy", Value::Null, "every check passed both ways"),
    };
    let proven: &[u8] = if verdict == "healthy" { &[1, 2, 3] } else { &[] };
    json!({
        "a": a, "b": b,
        "nvlinks": read(0, "nvmlDeviceGetNvLinkState"),
        "nvswitch": read(false, "nvmlDeviceGetNvLinkState"),
        "common_ancestor": read("NODE", "nvmlDeviceGetTopologyCommonAncestor"),
        "directions": [direction(a, b, verdict), direction(b, a, verdict)],
        "verdict": { "verdict": verdict, "cause": cause, "reason": reason, "evidence": [], "proven_rungs": proven },
    })
}

fn direction(initiator: u32, owner: u32, verdict: &str) -> Value {
    let refused = verdict == "refused";
    let wrong = verdict == "broken" && initiator == 2;
    let status = read(if refused { "GNS" } else { "OK" }, "nvmlDeviceGetP2PStatus");
    let mut copy = json!({
        "rung": 2, "name": "copy_push", "engine": "ce", "outcome": if wrong { "fail" } else { "pass" },
        "checked_by": "owner_kernel", "bytes": 4_194_304, "seconds": 0.0123,
    });
    if wrong {
        copy["reason"] = "the owner found other data than was written".into();
        copy["mismatch"] =
            json!({ "first_offset": 0, "words": 1_048_576, "untouched": true, "writer_sees_it": true });
    }
    let enable = json!({
        "rung": 1, "name": "enable_peer_access", "engine": "api", "outcome": "pass",
        "checked_by": "none", "bytes": 0, "seconds": 0.000_4,
    });
    json!({
        "initiator": initiator, "owner": owner,
        "can_access_peer": read(!refused, "cuDeviceCanAccessPeer"),
        "nvml": { "read": status, "write": status, "nvlink": status, "atomics": status, "pci": status },
        "cuda_attributes": { "access_supported": read(i32::from(!refused), "cuDeviceGetP2PAttribute") },
        "checks": if refused { vec![] } else { vec![enable, copy] },
    })
}

fn one_to_all() -> Vec<Value> {
    let cell = |source| json!({ "source": source, "destination": null, "samples": [380.5, 380.5, 381.0] });
    (0..GPUS).map(cell).collect()
}

fn bandwidths() -> Vec<Value> {
    let cells = (0..GPUS).flat_map(|source| (0..GPUS).map(move |destination| (source, destination)));
    let cell = |(source, destination): (u32, u32)| {
        if (source, destination) == (0, 1) || (source, destination) == (1, 0) {
            return json!({ "source": source, "destination": destination,
                "gap": { "kind": "skipped", "reason": "peer access is refused" } });
        }
        let base = 20.0 + f64::from(source) / 10.0;
        json!({ "source": source, "destination": destination, "samples": [base, base + 0.2, base + 0.1] })
    };
    cells
        .filter(|(source, destination)| source != destination)
        .map(cell)
        .collect()
}

//! Reports: uploaded once, read by those who may, refused with a reason.

use peerless::store::Scope;
use serde_json::{Value, json as object};

use crate::test_app::{TestApp, json, problem};

/// A report of one GPU and nothing wrong.
pub fn report(id: &str) -> Value {
    object!({
        "schema": {"major": 1, "minor": 0},
        "report_id": id,
        "node": {"id": "node-1", "hostname": "host-1", "boot_id": null},
        "agent_version": "0.1.0",
        "started_at": "2026-01-02T03:00:00Z",
        "finished_at": "2026-01-02T03:01:00Z",
        "conclusion": {"verdict": "unknown", "exit_code": 3, "reason": "one GPU has no pair"},
    })
}

#[tokio::test]
async fn a_report_that_repeats_one_line_is_taken_from_older_agents_too() {
    let app = TestApp::start().await;
    let upload = app.token(&[Scope::Report]).await;
    let mut body = report("run-1");
    let text = "the same line again\n".repeat(200_000);
    body["logs"] = object!([{"source": "kernel", "when": "before", "text": text}]);
    let json = body.to_string();
    let bare = zstd::encode_all(json.as_bytes(), 3).unwrap();
    assert!(json.len() > 200 * bare.len());
    let send = |body: Vec<u8>| {
        let request = app.post("/api/v1/reports").bearer_auth(&upload);
        let request = request.header("content-type", "application/json");
        request.header("content-encoding", "zstd").body(body).send()
    };
    assert_eq!(send(bare).await.unwrap().status(), 201);
    // The limit itself holds.
    let bomb = zstd::encode_all(vec![b' '; 64 << 20].as_slice(), 19).unwrap();
    problem(send(bomb).await.unwrap(), 413, "too_large").await;
}

#[tokio::test]
async fn a_report_is_kept_once_and_read_by_those_who_may() {
    let app = TestApp::start().await;
    let upload = app.token(&[Scope::Report]).await;
    let fleet = app.token(&[Scope::Fleet]).await;
    let body = report("run-1");
    let sent = zstd::encode_all(body.to_string().as_bytes(), 3).unwrap();
    for status in [201, 200] {
        let request = app
            .post("/api/v1/reports")
            .bearer_auth(&upload)
            .header("content-type", "application/json");
        let response = request
            .header("content-encoding", "zstd")
            .body(sent.clone())
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), status);
        assert_eq!(json(response).await["duplicate"], status == 200);
    }
    let mut other = body.clone();
    other["simulated"] = true.into();
    let again = app
        .post("/api/v1/reports")
        .bearer_auth(&upload)
        .json(&other)
        .send()
        .await
        .unwrap();
    problem(again, 409, "report_conflict").await;

    let read = json(app.get_with("/api/v1/reports/run-1", &fleet).await).await;
    assert_eq!(read["report"], body);
    insta::assert_json_snapshot!(json(app.get_with("/api/v1/reports", &fleet).await).await);
    insta::assert_json_snapshot!(json(app.get_with("/api/v1/nodes", &fleet).await).await);
    insta::assert_json_snapshot!(json(app.get_with("/api/v1/fleet?silent_hours=24", &fleet).await).await);
    for wrong in ["silent_hours=0", "silent_hours=8761", "silent_hours=x", "hours=1"] {
        let refused = app.get_with(&format!("/api/v1/fleet?{wrong}"), &fleet).await;
        problem(refused, 400, "bad_query").await;
    }
    assert_eq!(app.get_with("/api/v1/nodes/node-1", &fleet).await.status(), 200);
    problem(
        app.get_with("/api/v1/nodes/node-2", &fleet).await,
        404,
        "not_found",
    )
    .await;
    problem(
        app.get_with("/api/v1/reports/run-2", &fleet).await,
        404,
        "not_found",
    )
    .await;
    problem(
        app.get_with("/api/v1/reports?cursor=x", &fleet).await,
        400,
        "bad_query",
    )
    .await;
}

/// What a probe found between two GPUs: a copy that did not end.
fn hang(id: &str) -> Value {
    let unsaid = || object!({"value": null, "source": "test"});
    let gpu = |ordinal: u32| {
        object!({
            "cuda_ordinal": ordinal, "nvml_index": unsaid(), "uuid": unsaid(), "pci_address": unsaid(),
            "name": unsaid(), "memory_bytes": unsaid(), "compute_capability": unsaid(),
        })
    };
    let direction = |initiator: u32, owner: u32| {
        object!({
            "initiator": initiator, "owner": owner, "can_access_peer": {"value": true, "source": "test"},
            "nvml": {"read": unsaid(), "write": unsaid(), "nvlink": unsaid(), "atomics": unsaid(), "pci": unsaid()},
            "checks": [{
                "rung": 3, "name": "copy_push", "engine": "ce", "outcome": "hang", "checked_by": "none", "bytes": 4096,
                "seconds": 10.5,
            }],
        })
    };
    let mut probe = report(id);
    probe["gpus"] = object!([gpu(0), gpu(1)]);
    probe["pairs"] = object!([{
        "a": 0, "b": 1, "nvlinks": unsaid(), "nvswitch": unsaid(), "common_ancestor": unsaid(),
        "directions": [direction(0, 1), direction(1, 0)],
        "verdict": {"verdict": "broken", "cause": "hang", "reason": "cuStreamQuery did not return", "evidence": []},
    }]);
    probe["conclusion"] = object!({"verdict": "broken", "exit_code": 1, "reason": "1 of 1 pair broken"});
    probe
}

/// The daemon looks every quarter of an hour, and proves nothing.
#[tokio::test]
async fn a_look_does_not_hide_a_proven_fault() {
    let app = TestApp::start().await;
    let upload = app.token(&[Scope::Report]).await;
    let fleet = app.token(&[Scope::Fleet]).await;
    let probe = hang("probe");
    let mut look = report("look");
    look["finished_at"] = "2026-01-02T03:03:00Z".into();
    look["gpus"] = probe["gpus"].clone();
    for body in [probe, look] {
        let request = app.post("/api/v1/reports").bearer_auth(&upload).json(&body);
        assert_eq!(request.send().await.unwrap().status(), 201);
    }
    let listed = json(app.get_with("/api/v1/nodes", &fleet).await).await["nodes"][0].clone();
    let one = json(app.get_with("/api/v1/nodes/node-1", &fleet).await).await;
    for node in [listed, one] {
        assert_eq!(node["latest"]["id"], "probe", "{node:#}");
        assert_eq!(node["latest"]["weight"], "proof");
        assert_eq!(node["latest"]["verdict"], "broken");
        assert_eq!(node["last_seen"]["id"], "look");
        assert_eq!(node["last_seen"]["weight"], "look");
    }
    for page in ["/nodes", "/nodes/node-1"] {
        let page = app
            .get_with(page, &fleet)
            .await
            .text()
            .await
            .unwrap()
            .to_lowercase();
        assert!(page.contains("broken") && page.contains("last seen"), "{page}");
    }
}

#[tokio::test]
async fn a_public_fleet_is_read_by_everybody() {
    let app = TestApp::start_with(|options| options.settings.public_fleet = true).await;
    assert_eq!(app.get("/api/v1/nodes").await.status(), 200);
    problem(
        app.post("/api/v1/reports")
            .json(&report("x"))
            .send()
            .await
            .unwrap(),
        401,
        "unauthorized",
    )
    .await;
}

#[tokio::test]
async fn what_is_no_report_is_refused_and_nothing_is_kept() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Report, Scope::Fleet]).await;
    let mut newer = report("run-1");
    newer["schema"]["major"] = 2.into();
    let mut wrong = report("run-1");
    wrong["finished_at"] = "yesterday".into();
    let mut shape = report("run-1");
    shape["gpus"] = 7.into();
    for (body, status, code) in [
        (newer.to_string(), 422, "newer_report"),
        (wrong.to_string(), 422, "invalid_report"),
        (shape.to_string(), 422, "invalid_report"),
        ("{".to_owned(), 400, "malformed_body"),
        (
            report("run-1")
                .to_string()
                .replacen('{', "{\"simulated\":true,\"simulated\":false,", 1),
            400,
            "malformed_body",
        ),
    ] {
        let request = app
            .post("/api/v1/reports")
            .bearer_auth(&token)
            .header("content-type", "application/json");
        problem(request.body(body).send().await.unwrap(), status, code).await;
    }
    let listed = json(app.get_with("/api/v1/reports", &token).await).await;
    assert_eq!(listed["reports"], object!([]));
}

#[tokio::test]
async fn a_report_of_a_real_machine_is_stored_and_shown() {
    let app = TestApp::start_with(|options| options.settings.public_fleet = true).await;
    let upload = app.token(&[Scope::Report]).await;
    let sent = include_str!("../../../kb-core/tests/data/reports/h200-x2-healthy.json");
    let report: Value = serde_json::from_str(sent).unwrap();
    let request = app.post("/api/v1/reports").bearer_auth(&upload);
    let response = request
        .header("content-type", "application/json")
        .body(sent)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 201);
    assert_eq!(json(response).await["findings"], object!([]));

    let id = report["report_id"].as_str().unwrap();
    let read = json(app.get(&format!("/api/v1/reports/{id}")).await).await;
    assert_eq!(read["report"], report);
    assert_eq!(read["verdict"], "healthy");
    let page = app.get(&format!("/reports/{id}")).await.text().await.unwrap();
    assert!(page.contains("NVIDIA H200") && page.contains("18"), "{page}");
    assert!(!page.contains("id=\"nccl\""), "it says nothing of NCCL");

    let sent = include_str!("../../../kb-core/tests/data/reports/h200-x2-nccl.json");
    let mut report: Value = serde_json::from_str(sent).unwrap();
    report["nccl"]["verdict"] = "staging_fails".into();
    report["nccl"]["arms"][1]["outcome"] = "fail".into();
    report["nccl"]["arms"][1]["reason"] = "no space left in /dev/shm".into();
    let request = app.post("/api/v1/reports").bearer_auth(&upload);
    assert_eq!(request.json(&report).send().await.unwrap().status(), 201);
    let id = report["report_id"].as_str().unwrap();
    let page = app.get(&format!("/reports/{id}")).await.text().await.unwrap();
    for shown in [
        "Fails without peer access",
        "Without (NCCL_P2P_DISABLE=1)",
        "no space left in /dev/shm",
        "reduce scatter</th>",
        ">313.8</td>",
        "2.28.3",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}

/// Each was sent by an agent of its time: minor versions 0 to 4 of the format.
#[tokio::test]
async fn reports_of_earlier_agents_are_taken_and_shown() {
    let app = TestApp::start_with(|options| options.settings.public_fleet = true).await;
    let upload = app.token(&[Scope::Report]).await;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../kb-core/tests/data/reports");
    let mut minors = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let report: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        minors.insert(report["schema"]["minor"].as_u64().unwrap());
        let request = app.post("/api/v1/reports").bearer_auth(&upload).json(&report);
        let answer = request.send().await.unwrap();
        assert_eq!(
            answer.status(),
            201,
            "{}: {}",
            path.display(),
            answer.text().await.unwrap()
        );
        let id = report["report_id"].as_str().unwrap();
        let read = json(app.get(&format!("/api/v1/reports/{id}")).await).await;
        assert_eq!(read["report"], report, "{}", path.display());
        assert_eq!(
            read["verdict"],
            report["conclusion"]["verdict"],
            "{}",
            path.display()
        );
        assert_eq!(
            app.get(&format!("/reports/{id}")).await.status(),
            200,
            "{}",
            path.display()
        );
    }
    assert_eq!(minors.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[tokio::test]
async fn a_gpu_that_was_not_looked_at_is_shown() {
    let app = TestApp::start_with(|options| options.settings.public_fleet = true).await;
    let upload = app.token(&[Scope::Report]).await;
    let sent = include_str!("../../../kb-core/tests/data/reports/h200-x2-healthy.json");
    let mut report: Value = serde_json::from_str(sent).unwrap();
    report["absent"] = object!([
        { "pci_address": "0000:5e:00.0", "absence": "lost", "reason": "NVML does not list it", "cause": "gpu_lost",
          "record": "xid/79-gpu-has-fallen-off-the-bus", "fix": "Power-cycle the node." },
        { "asked_as": "3", "absence": "of_tomorrow", "reason": "newer than this server" },
    ]);
    let request = app.post("/api/v1/reports").bearer_auth(&upload);
    assert_eq!(request.json(&report).send().await.unwrap().status(), 201);
    let id = report["report_id"].as_str().unwrap();
    let page = app.get(&format!("/reports/{id}")).await.text().await.unwrap();
    for shown in [
        "GPUs that were not looked at",
        "the GPU at 0000:5e:00.0",
        "note bad",
        "gpu_lost",
        "Power-cycle the node.",
        "/r/xid/79-gpu-has-fallen-off-the-bus",
        "GPU 3",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}

#[tokio::test]
async fn a_batch_keeps_each_report_and_its_order() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Report, Scope::Fleet]).await;
    let send = |path: &'static str, body: String| {
        let request = app.post(path).bearer_auth(&token);
        let request = request.header("content-type", "application/json");
        async move { request.body(body).send().await.unwrap() }
    };
    let alone = send("/api/v1/reports", format!("{}\n", report("run-0"))).await;
    assert_eq!(alone.status(), 201);
    let mut newer = report("run-2");
    newer["schema"]["major"] = 2.into();
    let mut other = report("run-1");
    other["simulated"] = true.into();
    let large = object!({"report_id": "x".repeat(8 << 20)});
    let items = [
        report("run-1"),
        newer,
        report("run-3"),
        other,
        object!(7),
        large,
        report("run-0"),
    ];
    let response = send("/api/v1/reports/batch", object!({"items": items}).to_string()).await;
    assert_eq!(response.status(), 200);
    let answer = json(response).await;
    let outcomes: Vec<Value> = answer["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| match item.get("problem") {
            Some(problem) => problem["code"].clone(),
            None => object!([item["id"], item["duplicate"]]),
        })
        .collect();
    let expected = object!([
        ["run-1", false],
        "newer_report",
        ["run-3", false],
        "report_conflict",
        "invalid_report",
        "too_large",
        ["run-0", true],
    ]);
    assert_eq!(object!(outcomes), expected);
    let listed = json(app.get_with("/api/v1/reports", &token).await).await;
    assert_eq!(listed["reports"].as_array().unwrap().len(), 3);

    let many = object!({"items": vec![0; 1001]}).to_string();
    problem(send("/api/v1/reports/batch", many).await, 413, "too_large").await;
    problem(
        send("/api/v1/reports/batch", "[]".to_owned()).await,
        400,
        "malformed_body",
    )
    .await;
}

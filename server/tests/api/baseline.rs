//! Measurements beside those of other nodes, and the case file of a node.

use peerless::store::Scope;
use serde_json::{Value, json as object};

use crate::test_app::{TestApp, json, problem};

/// The report of a real machine with four H200, as run `run` of a node; bandwidths between GPU 1 and GPU 2 are multiplied.
pub fn bench(node: &str, run: u32, share: f64) -> Value {
    let bytes = include_bytes!("../../../kb-core/tests/data/reports/h200-x4-bench.json");
    let mut report: Value = serde_json::from_slice(bytes).unwrap();
    report["node"] = object!({"id": node, "hostname": format!("{node}.lab.example"), "boot_id": null});
    report["report_id"] = format!("{node}-run-{run}").into();
    report["started_at"] = format!("2026-01-02T03:{run:02}:00Z").into();
    report["finished_at"] = format!("2026-01-02T03:{run:02}:30Z").into();
    for (index, gpu) in report["gpus"].as_array_mut().unwrap().iter_mut().enumerate() {
        gpu["uuid"]["value"] = format!("GPU-{node}-{index}").into();
    }
    for measurement in report["measurements"].as_array_mut().unwrap() {
        let is_between_gpus = measurement["metric"]
            .as_str()
            .unwrap()
            .starts_with("d2d_bandwidth");
        for cell in measurement["cells"].as_array_mut().unwrap() {
            cell.as_object_mut().unwrap().remove("conditions");
            let ends = [cell["source"].as_u64(), cell["destination"].as_u64()];
            if is_between_gpus && ends.contains(&Some(1)) && ends.contains(&Some(2)) {
                for sample in cell["samples"].as_array_mut().unwrap() {
                    *sample = (sample.as_f64().unwrap() * share).into();
                }
            }
        }
    }
    report
}

async fn send(app: &TestApp, token: &str, report: &Value) {
    let sent = app.post("/api/v1/reports").bearer_auth(token).json(report).send();
    let answer = json(sent.await.unwrap()).await;
    assert_eq!(answer["verdict"], "healthy", "{answer}");
}

async fn measured(app: &TestApp, token: &str, node: &str) -> Value {
    json(
        app.get_with(&format!("/api/v1/nodes/{node}/measurements"), token)
            .await,
    )
    .await
}

/// The figure of a copy of 512 MiB by the copy engine, written by GPU 1 to GPU 2.
fn copy(answer: &Value) -> &Value {
    let figures = answer["figures"].as_array().unwrap();
    let is_it = |figure: &&Value| {
        figure["test"] == "d2d_bandwidth.ce.push.p2p"
            && figure["bytes"] == 536_870_912
            && figure["source"] == 1
            && figure["destination"] == 2
    };
    figures.iter().find(is_it).unwrap()
}

#[tokio::test]
async fn a_slow_pair_is_named_beside_other_nodes_and_the_last_good_run() {
    let app = TestApp::start().await;
    let upload = app.token(&[Scope::Report]).await;
    let fleet = app.token(&[Scope::Fleet]).await;
    send(&app, &upload, &bench("slow", 1, 1.0)).await;
    let alone = measured(&app, &fleet, "slow").await;
    assert_eq!((&alone["peers"], &alone["outliers"]), (&object!(0), &object!([])));
    assert_eq!(copy(&alone)["peers"], object!({"kind": "none"}));
    assert_eq!(copy(&alone)["own"], object!({"kind": "none"}));
    assert_eq!(copy(&alone)["reference"]["kind"], "against");
    assert!((copy(&alone)["nominal"].as_f64().unwrap() - 450.0).abs() < 0.5);
    for node in ["n1", "n2", "n3", "n4", "n5"] {
        send(&app, &upload, &bench(node, 1, 1.0)).await;
        let few = measured(&app, &fleet, "slow").await;
        let expected = if node == "n5" { "against" } else { "too_few" };
        assert_eq!(copy(&few)["peers"]["kind"], expected, "{node}");
    }
    send(&app, &upload, &bench("slow", 2, 0.95)).await;

    let slow = measured(&app, &fleet, "slow").await;
    assert_eq!(
        slow["cohort"],
        object!({"model": "NVIDIA H200", "driver_branch": 580, "simulated": false})
    );
    assert_eq!(slow["peers"], 5);
    let outliers = slow["outliers"].as_array().unwrap();
    assert_eq!(outliers.len(), 1, "{outliers:#?}");
    assert_eq!(outliers[0]["subject"], object!({"kind": "pair", "a": 1, "b": 2}));
    assert_eq!(outliers[0]["standing"], "low");
    let figure = copy(&slow);
    assert_eq!(
        (&figure["standing"], &figure["peers"]["values"]),
        (&object!("low"), &object!(60))
    );
    for beside in ["peers", "own", "in_node"] {
        let difference = figure[beside]["difference"].as_f64().unwrap();
        assert!((difference + 0.05).abs() < 0.002, "{beside}: {difference}");
    }
    // The others have nothing, and the node's first run is as it was.
    let other = measured(&app, &fleet, "n1").await;
    assert_eq!(other["outliers"], object!([]));
    let first = app
        .get_with("/api/v1/nodes/slow/measurements?report=slow-run-1", &fleet)
        .await;
    assert_eq!(json(first).await["outliers"], object!([]));

    let page = app
        .get_with("/reports/slow-run-2", &fleet)
        .await
        .text()
        .await
        .unwrap();
    for text in [
        "Is this normal?",
        "Compared with 5 nodes with NVIDIA H200 and driver 580.",
        "Pair 1-2",
        "▽ 376",
        "(60 figures of 5 nodes)",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let page = app
        .get_with("/reports/slow-run-2?lang=zh", &fleet)
        .await
        .text()
        .await
        .unwrap();
    for text in ["这些数值正常吗？", "GPU 对 1-2", "5 个节点的 60 个数值"] {
        assert!(page.contains(text), "{text}");
    }
}

#[tokio::test]
async fn simulated_nodes_are_no_peers_of_real_ones() {
    let app = TestApp::start().await;
    let upload = app.token(&[Scope::Report]).await;
    let fleet = app.token(&[Scope::Fleet]).await;
    for node in ["n1", "n2", "n3"] {
        let mut report = bench(node, 1, 1.0);
        report["simulated"] = (node != "n3").into();
        send(&app, &upload, &report).await;
    }
    assert_eq!(measured(&app, &fleet, "n3").await["peers"], 0);
    let simulated = measured(&app, &fleet, "n1").await;
    assert_eq!(
        (&simulated["peers"], &simulated["cohort"]["simulated"]),
        (&object!(1), &object!(true))
    );
}

#[tokio::test]
async fn what_was_not_measured_is_no_page() {
    let app = TestApp::start().await;
    let upload = app.token(&[Scope::Report]).await;
    let fleet = app.token(&[Scope::Fleet]).await;
    let sent = app
        .post("/api/v1/reports")
        .bearer_auth(&upload)
        .json(&crate::reports::report("run-1"));
    assert_eq!(sent.send().await.unwrap().status(), 201);
    for path in [
        "node-1/measurements",
        "node-2/measurements",
        "node-1/measurements?report=run-2",
        "node-2/case",
    ] {
        problem(
            app.get_with(&format!("/api/v1/nodes/{path}"), &fleet).await,
            404,
            "not_found",
        )
        .await;
    }
    for path in ["measurements?run=1", "case?format=pdf", "case?name=true"] {
        let refused = app
            .get_with(&format!("/api/v1/nodes/node-1/{path}"), &fleet)
            .await;
        problem(refused, 400, "bad_query").await;
    }
    let none = json(
        app.get_with("/api/v1/nodes/node-1/measurements?report=run-1", &fleet)
            .await,
    )
    .await;
    assert_eq!(
        (&none["figures"], &none["no_cohort"]),
        (&object!([]), &object!("no_gpu"))
    );
    problem(app.get("/api/v1/nodes/node-1/case").await, 401, "unauthorized").await;
}

#[tokio::test]
async fn the_case_file_answers_the_form_and_says_what_is_not_known() {
    let app = TestApp::start().await;
    let upload = app.token(&[Scope::Report]).await;
    let fleet = app.token(&[Scope::Fleet]).await;
    let mut report = bench("gpu-17", 1, 1.0);
    report["logs"] = object!([{"source": "kmsg", "when": "before", "text":
        "[  9.0] NVRM: Xid (PCI:0000:00:07): 31, pid='<unknown>', name=<unknown>, MMU Fault\n\
         [  9.1] gpu-17.lab.example kernel: something of 10.1.2.3"}]);
    report["gpus"][0]["facts"]["serial"] =
        object!({"value": "1650924001234", "source": "nvmlDeviceGetSerial"});
    let sent = app
        .post("/api/v1/reports")
        .bearer_auth(&upload)
        .json(&report)
        .send()
        .await
        .unwrap();
    assert_eq!(sent.status(), 201);
    let case = json(app.get_with("/api/v1/nodes/gpu-17/case", &fleet).await).await;
    let answer = |about: &str, question: &str| {
        let form = case["form"].as_array().unwrap();
        let found = form
            .iter()
            .find(|one| one["about"] == about && one["question"] == question);
        found.unwrap_or_else(|| panic!("{about}: {question}")).clone()
    };
    assert_eq!(answer("GPU 0", "Serial number")["answer"], "1650924001234");
    assert_eq!(answer("GPU 1", "Serial number")["answer"], Value::Null);
    assert!(
        answer("GPU 1", "VBIOS")["how"]
            .as_str()
            .unwrap()
            .contains("nvidia-smi -q")
    );
    assert_eq!(answer("machine", "Driver version")["answer"], "580.159.04");
    assert_eq!(answer("GPU 0", "PCI address")["answer"], "0000:00:06.0");
    assert_eq!(answer("case", "Xids")["answer"], "Xid 31");
    assert_eq!(answer("case", "nvidia-bug-report.log.gz")["answer"], Value::Null);
    assert_eq!(case["timeline"][0]["device"], "0000:00:07.0");
    assert_eq!(case["measurements"]["report_id"], "gpu-17-run-1");
    assert_eq!(case["proofs"].as_array().unwrap().len(), 1);

    let whole = case.to_string();
    for name in ["lab.example", "10.1.2.3"] {
        assert!(!whole.contains(name), "{name}");
    }
    let named = json(app.get_with("/api/v1/nodes/gpu-17/case?names=true", &fleet).await).await;
    assert_eq!(named["node"]["hostname"], "gpu-17.lab.example");

    let markdown = app
        .get_with("/api/v1/nodes/gpu-17/case?format=markdown", &fleet)
        .await;
    assert_eq!(markdown.headers()["content-type"], "text/markdown; charset=utf-8");
    let markdown = markdown.text().await.unwrap();
    for text in [
        "| GPU 0 | Serial number | 1650924001234 |",
        "not known (no report has it: nvidia-smi -q: Serial Number)",
        "Xid 31",
        "## What was tried",
        "none stands out",
    ] {
        assert!(markdown.contains(text), "{text}: {markdown}");
    }
    assert!(!markdown.contains("lab.example"));
    let page = app
        .get_with("/reports/gpu-17-run-1", &fleet)
        .await
        .text()
        .await
        .unwrap();
    assert!(page.contains("/api/v1/nodes/gpu-17/case?format=markdown"));
}

#[tokio::test]
async fn the_case_file_has_what_earlier_reports_told() {
    let with_31 = |seeds: &mut Vec<_>| {
        let all = peerless::bundle::embedded().unwrap();
        seeds.extend(
            all.into_iter()
                .filter(|seed| seed.id.as_str().starts_with("xid/31-")),
        );
    };
    let app = TestApp::start_with(|options| with_31(&mut options.seeds)).await;
    let upload = app.token(&[Scope::Report]).await;
    let fleet = app.token(&[Scope::Fleet]).await;
    for run in 1..=3 {
        let mut report = bench("gpu-17", run, 1.0);
        report["node"]["boot_id"] = object!(format!("boot-{run}"));
        if run == 1 {
            report["logs"] = object!([{"source": "kmsg", "when": "before", "text":
                "[  9.0] NVRM: Xid (PCI:0000:00:07): 31, pid=4242, name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_2 faulted @ 0x7f8a_00000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ"}]);
        }
        let sent = app.post("/api/v1/reports").bearer_auth(&upload).json(&report);
        assert_eq!(sent.send().await.unwrap().status(), 201);
    }
    let case = json(app.get_with("/api/v1/nodes/gpu-17/case", &fleet).await).await;
    assert_eq!(case["standing"]["report_id"], "gpu-17-run-3");
    let told: Vec<_> = case["timeline"].as_array().unwrap().iter().collect();
    assert_eq!(
        told.iter()
            .map(|one| (&one["what"], &one["report_id"]))
            .collect::<Vec<_>>(),
        [(&object!("Xid 31"), &object!("gpu-17-run-1"))]
    );
}

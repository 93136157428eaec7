//! The pattern workbench: asked before anything is saved, over HTTP and on the command line.

use std::io::Write as _;
use std::process::Stdio;

use peerless::store::{Role, Scope};
use serde_json::{Value, json as object};

use crate::browser::csrf_of;
use crate::process::{folder, peerless};
use crate::records::document;
use crate::reports::report;
use crate::test_app::{TestApp, json, problem};

const XID: &str = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, GPU has fallen off the bus.";
const PEER: &str = "RuntimeError: CUDA error: peer access is not supported between these two devices";

async fn ask(app: &TestApp, token: &str, body: Value) -> Value {
    let request = app.post("/api/v1/workbench").bearer_auth(token).json(&body);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    json(response).await
}

async fn upload(app: &TestApp, body: &Value) {
    let token = app.token(&[Scope::Report]).await;
    let request = app.post("/api/v1/reports").bearer_auth(&token).json(body);
    assert_eq!(request.send().await.unwrap().status(), 201);
}

#[tokio::test]
async fn lines_get_a_pattern_and_what_it_takes() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    let answer = ask(
        &app,
        &editor,
        object!({"lines": [XID, PEER], "pattern": "peer access"}),
    )
    .await;
    insta::assert_json_snapshot!(answer, {".clean.looked_at.bytes" => "[bytes]"});
    let answer = ask(&app, &editor, object!({"lines": [XID], "propose": true})).await;
    let regex = answer["proposal"]["regex"].as_str().unwrap();
    assert!(regex.ends_with(r"GPU has fallen off the bus\."), "{regex}");
    assert_eq!(answer["lines"][0]["captures"]["pid"], "4711");
    assert_eq!(answer["patterns"][0]["regex"], regex);
}

#[tokio::test]
async fn a_report_that_cannot_be_read_is_not_looked_at() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    let asked = object!({"pattern": "zorgblat axle (?P<axle>[0-9]+)"});
    let answer = ask(&app, &editor, asked.clone()).await;
    assert_eq!(answer["sources"][0]["looked_at"]["is_complete"], true);
    app.keep_damaged_report("damaged", "run-1").await;
    for _ in 0..2 {
        let answer = ask(&app, &editor, asked.clone()).await;
        assert_eq!(answer["sources"][0]["looked_at"]["is_complete"], false);
    }
}

#[tokio::test]
async fn kept_logs_are_looked_at_newest_first() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    for number in 1..=2 {
        let mut body = report(&format!("run-{number}"));
        let text = format!("all is well\n[7.{number}] zorgblat axle {number} broke\n");
        body["logs"] = object!([{"source": "kernel", "when": "during", "text": text}]);
        upload(&app, &body).await;
    }
    // The second answer is of what was kept in memory.
    for _ in 0..2 {
        let asked = object!({"pattern": "zorgblat axle (?P<axle>[0-9]+)"});
        let answer = ask(&app, &editor, asked).await;
        let source = &answer["sources"][0];
        assert_eq!(source["source"], "reports");
        assert_eq!(source["count"], 2);
        assert_eq!(source["looked_at"]["is_complete"], true);
        assert_eq!(source["lines"][0]["report"], "run-2");
        assert_eq!(source["lines"][0]["pointer"], "/logs/0/text");
        assert_eq!(source["lines"][0]["line"], 2);
        assert_eq!(source["lines"][1]["captures"]["axle"], "1");
    }
}

#[tokio::test]
async fn a_rule_is_previewed_over_kept_reports() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    for number in 1..=3 {
        let mut body = report(&format!("run-{number}"));
        body["node"]["id"] = format!("node-{number}").into();
        upload(&app, &body).await;
    }
    let rule = object!({
        "scope": "report",
        "when": "report.node.id != 'node-2'",
        "evidence": ["report.conclusion.reason"],
    });
    let answer = ask(&app, &editor, object!({"rule": rule})).await;
    let told = &answer["rule"];
    assert_eq!((&told["count"], &told["asked"]), (&object!(2), &object!(3)));
    assert_eq!(told["is_complete"], true);
    assert_eq!(told["findings"][0]["node"], "node-3");
    let evidence = &told["findings"][0]["evidence"][1];
    assert_eq!(evidence["value"], "one GPU has no pair", "{told}");

    let rule = object!({"scope": "gpu", "when": "gpu.name ==", "evidence": ["pair.a"]});
    let answer = ask(&app, &editor, object!({"rule": rule})).await;
    let faults = answer["rule"]["faults"].as_array().unwrap();
    let places: Vec<_> = faults
        .iter()
        .map(|fault| fault["pointer"].as_str().unwrap())
        .collect();
    assert_eq!(places, ["/rule/when", "/rule/evidence/0"]);
    assert_eq!(answer["rule"]["asked"], 0);
}

#[tokio::test]
async fn a_draft_that_breaks_rules_is_tried_and_told() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    let mut draft: Value = serde_json::from_str(&document("cuda/draft", "zorgblat axle")).unwrap();
    draft["regex"] = "[0-9]{4}".into();
    let body = object!({"lines": ["the zorgblat axle", "4711"], "record": {"document": draft}});
    let answer = ask(&app, &editor, body).await;
    let rules: Vec<_> = answer["findings"].as_array().unwrap().iter().collect();
    assert!(
        rules.iter().any(|found| found["rule"] == "pattern/no-literal"),
        "{answer}"
    );
    assert_eq!(answer["lines"][0]["taken"], "signature");
    assert_eq!(answer["lines"][1]["taken"], "0");
    assert_eq!(answer["clean"]["count"], 0);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    let send = |body: Value| {
        app.post("/api/v1/workbench")
            .bearer_auth(&editor)
            .json(&body)
            .send()
    };
    for body in [
        object!({}),
        object!({"pattern": "a", "record": {"document": {}}}),
        object!({"flags": "i", "lines": ["x"]}),
        object!({"lines": ["x"], "rule": {"scope": "fleet", "when": "true"}}),
        object!({"lines": ["x"], "patern": "x"}),
    ] {
        problem(send(body).await.unwrap(), 400, "malformed_body").await;
    }
    let record = object!({"record": {"document": {"id": "x"}}});
    problem(send(record).await.unwrap(), 422, "invalid_record").await;
    for lines in [vec!["x".to_owned(); 501], vec!["x".repeat(70_000)]] {
        problem(send(object!({ "lines": lines })).await.unwrap(), 413, "too_large").await;
    }
}

#[test]
fn the_command_line_proposes_and_tries() {
    let (_folder, data) = folder();
    let tried = |arguments: &[&str], text: &str| {
        let mut command = peerless();
        command.arg("try").args(arguments).args(["--data-dir", &data]);
        let mut running = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        running.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = running.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = tried(&[], XID);
    assert_eq!(code, Some(0));
    for part in [
        "Proposal: NVRM: Xid",
        "pid = 4711",
        "taken now by xid/79-gpu-has-fallen-off-the-bus",
        "Lines of healthy runs: 0, in 1 texts",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (code, json) = tried(&["--json", "--pattern", "Rank [0-9]+ fell off the bus"], XID);
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(code, Some(1), "it takes no line");
    assert_eq!(answer["examples"]["count"], 0);
    assert!(answer["examples"]["looked_at"]["texts"].as_u64().unwrap() > 1_000);
    let mut nowhere = peerless();
    nowhere.args(["try", "/nowhere", "--data-dir", &data]);
    assert_eq!(nowhere.output().unwrap().status.code(), Some(2));
}

#[tokio::test]
async fn the_page_works_with_a_form_alone() {
    let app = TestApp::start().await;
    problem(app.get("/workbench").await, 401, "unauthorized").await;
    app.person("ada", Role::Contributor, false).await;
    app.person("bob", Role::Viewer, false).await;
    assert_eq!(app.browser("bob").await.get("/workbench").await.status(), 403);
    let ada = app.browser("ada").await;
    let post = async |fields: &[(&str, &str)], query: &str| {
        let response = ada
            .form(&format!("/workbench{query}"), fields)
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["cache-control"], "private, no-cache");
        response.text().await.unwrap()
    };
    let account = ada.page("/account").await;
    assert!(account.contains("href=\"/workbench\""), "{account}");
    let empty = ada.page("/workbench").await;
    assert!(empty.contains("data-workbench"), "{empty}");
    assert!(!empty.contains("id=\"result\""), "{empty}");
    assert!(!csrf_of(&empty).is_empty());
    // Without the proof of the session, as a page of others would send it.
    let mut forged = app.browser("ada").await;
    forged.csrf = String::new();
    let refused = forged
        .form("/workbench", &[("lines", PEER)])
        .send()
        .await
        .unwrap();
    assert_eq!(refused.status(), 403);

    let hostile = format!("{PEER} <script>alert(1)</script>");
    let page = post(&[("lines", &hostile), ("pattern", "")], "").await;
    assert!(page.contains("Proposed pattern"), "{page}");
    assert!(
        page.contains("cuda/peer-access-unsupported-by-hardware"),
        "{page}"
    );
    assert!(!page.contains("<script>alert"), "{page}");
    let page = post(
        &[("lines", PEER), ("pattern", ""), ("take", "peer access is")],
        "",
    )
    .await;
    assert!(page.contains("value=\"peer access is\""), "{page}");
    assert!(
        !page.contains("Proposed pattern</h3><p><code>peer access is<"),
        "{page}"
    );
    let page = post(&[("lines", PEER), ("pattern", "NCCL INFO")], "?lang=zh").await;
    assert!(
        page.contains("不匹配") && page.contains("正常运行的日志行"),
        "{page}"
    );
}

//! A log whose failure no record explains: JSON, page and text name the exception's line, and none of them calls the log clean.

use serde_json::Value;

use crate::browser::Browser;
use crate::process::{folder, peerless};
use crate::test_app::TestApp;

const LOG: &str = concat!(
    "[rank0]: Traceback (most recent call last):\n",
    "[rank0]:   File \"/srv/train.py\", line 7, in <module>\n",
    "[rank0]:     main()\n",
    "[rank0]: TypeError: run() got an unexpected keyword argument 'elite<b>'\n",
    "E0710 22:53:37.059000 33829 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 0 \
     (pid: 33864) of binary: /usr/bin/python\n",
);
const LAST: &str =
    "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nKeyboardInterrupt\n";

async fn app() -> TestApp {
    TestApp::start_with(|options| {
        options.seeds = peerless::bundle::embedded().unwrap();
        options
            .seeds
            .retain(|seed| seed.id.as_str() == "pytorch/child-failed");
    })
    .await
}

async fn json(app: &TestApp, text: &'static str) -> Value {
    let response = app.post("/api/v1/match").body(text).send().await.unwrap();
    response.json().await.unwrap()
}

async fn page(app: &TestApp, text: &str) -> String {
    let response = Browser::new(app).form("/match", &[("text", text)]).send().await;
    response.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn the_answer_names_the_line_of_an_error_that_no_record_knows() {
    let app = app().await;
    let answer = json(&app, LOG).await;
    let unknown = &answer["unknown_cause"];
    assert_eq!(unknown["line"], 4, "{answer}");
    assert_eq!(unknown["name"], "TypeError");
    assert_eq!(unknown["part"], "ended");
    assert_eq!(unknown["writer"]["rank"], "0");
    assert_eq!(unknown["wrapped_by"], "pytorch/child-failed");
    assert_eq!(
        answer["root_cause"], "pytorch/child-failed",
        "as older clients know it"
    );
    assert_eq!(answer["root_causes"][0]["behind_line"], 4);

    let shown = page(&app, LOG).await;
    assert!(shown.contains("The first cause stands on line 4"), "{shown}");
    assert!(shown.contains("It is what ended rank 0."), "{shown}");
    assert!(shown.contains("Because of the error on line 4"), "{shown}");
    assert!(!shown.contains("elite<b>"), "what a log says is no markup");
    let request = app.post("/api/v1/match").header("accept", "text/plain").body(LOG);
    let text = request.send().await.unwrap().text().await.unwrap();
    assert!(
        text.starts_with("First cause, line 4: TypeError: run()"),
        "{text}"
    );
    assert!(
        text.contains("(tells only of line 4)") && !text.contains("(first cause)"),
        "{text}"
    );
}

#[tokio::test]
async fn a_log_without_a_known_error_is_not_called_clean() {
    let app = app().await;
    let log =
        "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nValueError: no wheel\n";
    let shown = page(&app, log).await;
    assert!(
        shown.contains("<h1>An error that no record knows</h1>"),
        "{shown}"
    );
    let shown = page(&app, LAST).await;
    assert!(shown.contains("<h1>Interrupted by its user</h1>"), "{shown}");
    let answer = json(&app, "step 1\nstep 2\n").await;
    assert_eq!(answer.get("unknown_cause"), None, "{answer}");
}

const ZORG: &str = "step 1\nzorgblat link 3 failed to train\nstep 2\n";

#[tokio::test]
async fn every_answer_says_that_a_line_looks_like_an_error_that_no_record_explains() {
    let app = app().await;
    let answer = json(&app, ZORG).await;
    assert_eq!(answer["matches"], serde_json::json!([]));
    assert_eq!(
        answer["unexplained"],
        serde_json::json!({"lines": [{"line": 2, "text": "zorgblat link 3 failed to train"}]}),
        "{answer}"
    );
    let text = app
        .post("/api/v1/match")
        .header("accept", "text/plain")
        .body(ZORG);
    let text = text.send().await.unwrap().text().await.unwrap();
    assert!(
        text.starts_with(
            "No known error in 3 lines.\nBut line 2 looks like an error, and no record explains it.\n       2: zorgblat"
        ),
        "{text}"
    );
    let lines = app
        .post("/api/v1/match")
        .header("accept", "application/x-ndjson")
        .body(ZORG);
    let lines = lines.send().await.unwrap().text().await.unwrap();
    assert!(lines.contains("\"unexplained\":{"), "{lines}");
    let batch = app
        .post("/api/v1/match/batch")
        .json(&serde_json::json!({"items": [{"text": ZORG}]}));
    let batch: Value = batch.send().await.unwrap().json().await.unwrap();
    assert_eq!(batch["items"][0]["unexplained"]["lines"][0]["line"], 2, "{batch}");
    let page = page(&app, ZORG).await;
    assert!(page.contains("looks like an error"), "{page}");
    let well = json(&app, "step 1\nstep 2\n").await;
    assert_eq!(well.get("unexplained"), None, "{well}");
}

#[test]
fn the_command_line_and_sarif_say_that_a_line_looks_like_an_error() {
    let (folder, data) = folder();
    let log = folder.path().join("job.log");
    std::fs::write(&log, ZORG).unwrap();
    let run = |form: &[&str]| {
        let mut command = peerless();
        let run = command
            .args(["match", "--data-dir", &data])
            .args(form)
            .arg(&log)
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "no known error");
        String::from_utf8(run.stdout).unwrap()
    };
    let text = run(&[]);
    assert!(text.contains("But line 2 looks like an error"), "{text}");
    let sarif: Value = serde_json::from_str(&run(&["--sarif"])).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "unexplained-line", "{sarif}");
    assert_eq!(result["level"], "warning");
    assert_eq!(
        result["locations"][0]["physicalLocation"]["region"]["startLine"],
        2
    );
    assert_eq!(
        sarif["runs"][0]["tool"]["driver"]["rules"][0]["id"],
        "unexplained-line"
    );
}

#[test]
fn sarif_says_that_there_are_more_lines_than_it_names() {
    let (folder, data) = folder();
    let log = folder.path().join("job.log");
    let many: Vec<String> = ('a'..='z').map(|one| format!("zorg{one} failed\n")).collect();
    std::fs::write(&log, many.concat()).unwrap();
    let mut command = peerless();
    let run = command
        .args(["match", "--data-dir", &data, "--sarif"])
        .arg(&log)
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{run:?}");
    let sarif: Value = serde_json::from_slice(&run.stdout).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let unexplained: Vec<&Value> = results
        .iter()
        .filter(|result| result["ruleId"] == "unexplained-line")
        .collect();
    assert_eq!(unexplained.len(), 21, "{sarif}");
    let last = unexplained.last().unwrap();
    assert_eq!(last["level"], "warning");
    let said = last["message"]["text"].as_str().unwrap();
    assert!(said.contains("not all of them were looked at"), "{said}");
    let place = &last["locations"][0]["physicalLocation"];
    let file = place["artifactLocation"]["uri"].as_str().unwrap();
    assert!(file.ends_with("job.log"), "{file}");
    assert_eq!(place.get("region"), None, "it is of the whole file");
}

#[test]
fn the_command_line_says_it_too() {
    let (_folder, data) = folder();
    let mut command = peerless();
    let run = command
        .args(["match", "--data-dir", &data, "--text", LAST])
        .output()
        .unwrap();
    let answer = String::from_utf8(run.stdout).unwrap();
    assert!(
        answer.contains("Line 3: KeyboardInterrupt (interrupted by its user: no fault)"),
        "{answer}"
    );
    assert_eq!(run.status.code(), Some(1), "no known error");
}

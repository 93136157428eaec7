//! The gate in front of publishing: what would match healthy runs or take another record's examples stays a draft.

use kb_core::ids::Revision;
use peerless::store::{By, ConnectOptions, Expected, NewRevision, Publish, Scope, connect};
use serde_json::{Value, json as object};

use time::OffsetDateTime;

use crate::process::run;
use crate::records::document;
use crate::test_app::{TestApp, json, problem};

const LOOSE: &str = "/api/v1/records/cuda/loose";

/// A record whose pattern is this; its signature has it in it.
fn record(regex: &str, signature: &str) -> String {
    let mut record: Value = serde_json::from_str(&document("cuda/loose", signature)).unwrap();
    record["regex"] = regex.into();
    record.to_string()
}

async fn put(app: &TestApp, token: &str, query: &str, body: String) -> reqwest::Response {
    let request = app.put(&format!("{LOOSE}{query}"), token);
    let request = request.header("if-none-match", "*");
    request.body(body).send().await.unwrap()
}

fn rules(refused: &Value) -> Vec<&str> {
    let violations = refused["violations"].as_array().unwrap();
    violations
        .iter()
        .map(|found| found["rule"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_pattern_that_matches_healthy_runs_is_not_published() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit, Scope::Publish]).await;
    let loose = || record("(?i)error", "widget error");
    let refused = problem(
        put(&app, &editor, "?publish=true", loose()).await,
        422,
        "gate_refused",
    )
    .await;
    assert!(rules(&refused).contains(&"gate/healthy-line"), "{refused}");
    assert!(
        refused["detail"].as_str().unwrap().contains("force=REASON"),
        "{refused}"
    );
    // Nothing was stored; as a draft it may be, and is refused again where it is published by itself.
    assert_eq!(app.get(LOOSE).await.status(), 404);
    assert_eq!(put(&app, &editor, "", loose()).await.status(), 201);
    let publish = app.post(&format!("{LOOSE}/-/publish")).bearer_auth(&editor);
    problem(publish.send().await.unwrap(), 422, "gate_refused").await;
}

#[tokio::test]
async fn a_pattern_that_takes_another_records_example_is_not_published() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit, Scope::Publish]).await;
    let taken = "RuntimeError: CUDA error: peer access is not supported between these two devices";
    let greedy = record(&regex_escape(taken), taken);
    let refused = problem(
        put(&app, &editor, "?publish=true", greedy).await,
        422,
        "gate_refused",
    )
    .await;
    assert_eq!(rules(&refused)[0], "gate/others-example", "{refused}");
    let told = refused["violations"][0]["reason"].as_str().unwrap();
    assert!(
        told.contains("cuda/peer-access-unsupported-by-hardware"),
        "{told}"
    );
    let own = record(
        "widget infarction of the third kind",
        "widget infarction of the third kind",
    );
    assert_eq!(put(&app, &editor, "?publish=true", own).await.status(), 201);
}

fn regex_escape(text: &str) -> String {
    text.replace('.', r"\.")
}

#[tokio::test]
async fn a_record_that_misses_its_own_example_is_not_published() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit, Scope::Publish]).await;
    let document: Value = serde_json::from_str(&record("widget infarction", "widget infarction")).unwrap();
    let ext = |example: &str, near_miss: &str| {
        object!({
            "schema_version": 1,
            "examples": [{ "text": example, "source": "https://example.org/a" }],
            "near_misses": [{ "text": near_miss, "why": "it is none" }],
        })
    };
    for (example, near_miss, rule) in [
        ("widget seizure", "nothing", "misses-example"),
        ("a widget infarction", "no widget infarction", "near-miss-matches"),
    ] {
        let body = object!({"document": document, "ext": ext(example, near_miss)}).to_string();
        let refused = problem(
            put(&app, &editor, "?publish=true&view=full", body).await,
            422,
            "gate_refused",
        )
        .await;
        assert_eq!(rules(&refused), [rule], "{refused}");
    }
}

#[tokio::test]
async fn an_administrator_may_force_it_with_a_reason_that_is_shown() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit, Scope::Publish]).await;
    let admin = app.token(&[Scope::Admin]).await;
    let loose = || record("(?i)error", "widget error");
    let forced = "?publish=true&force=our%20logs%20have%20no%20such%20word";
    problem(put(&app, &editor, forced, loose()).await, 403, "forbidden").await;
    let silent = "?publish=true&force=%20";
    problem(put(&app, &admin, silent, loose()).await, 400, "bad_query").await;
    assert_eq!(put(&app, &admin, forced, loose()).await.status(), 201);
    let shown = app.get_json(&format!("{LOOSE}?view=full")).await;
    assert_eq!(shown["forced"], "our logs have no such word");
    let header = async || {
        let answer = app.get(LOOSE).await;
        let value = answer.headers().get("peerless-forced");
        value.map(|value| value.to_str().unwrap().to_owned())
    };
    let said = header().await;
    assert_eq!(said.as_deref(), Some("our%20logs%20have%20no%20such%20word"));
    let told = async |path: &str| {
        let text = app.get(path).await.text().await.unwrap();
        text.contains("administrator published it all the same: our logs have no such word")
    };
    let text = format!("{LOOSE}?view=text");
    for path in ["/r/cuda/loose", &text] {
        assert!(told(path).await, "{path}");
    }
    // What is published without force has no reason any more.
    let mended: Value = serde_json::from_str(&record("widget infarction", "widget infarction")).unwrap();
    let change = app
        .put(&format!("{LOOSE}?publish=true"), &admin)
        .header("if-match", "\"r1\"");
    assert_eq!(
        json(change.body(mended.to_string()).send().await.unwrap()).await["revision"],
        2
    );
    let shown = app.get_json(&format!("{LOOSE}?view=full")).await;
    assert_eq!(shown["forced"], object!(null));
    assert_eq!(header().await, None);
    for path in ["/r/cuda/loose", &text] {
        assert!(!told(path).await, "{path}");
    }
}

#[tokio::test]
async fn a_draft_is_tried_on_a_text_beside_what_is_published() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    let text = "step 7: widget error in lane 3";
    let draft: Value =
        serde_json::from_str(&record("widget error in lane (\\\\d+)", "widget error in lane 3")).unwrap();
    let body = object!({"text": text, "draft": {"document": draft}});
    let ask = |token: Option<&str>, query: &str, body: &Value| {
        let request = app.post(&format!("/api/v1/match{query}")).json(body);
        match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    };
    problem(ask(None, "", &body).send().await.unwrap(), 401, "unauthorized").await;
    let tried = json(ask(Some(&editor), "", &body).send().await.unwrap()).await;
    assert_eq!(tried["matches"], object!([]), "nothing was published");
    assert_eq!(
        (&tried["draft"]["rank"], &tried["draft"]["count"]),
        (&object!(1), &object!(1))
    );
    assert_eq!(tried["draft"]["findings"], object!([]));
    // A saved one by its id, with what the gate would say.
    let loose = record("(?i)error", "widget error");
    assert_eq!(put(&app, &editor, "", loose).await.status(), 201);
    let plain = object!({"text": text});
    let saved = json(
        ask(Some(&editor), "?with=cuda/loose", &plain)
            .send()
            .await
            .unwrap(),
    )
    .await;
    assert_eq!(saved["draft"]["id"], "cuda/loose");
    assert_eq!(saved["draft"]["findings"][0]["rule"], "gate/healthy-line");
    problem(
        ask(Some(&editor), "?with=cuda/none", &plain)
            .send()
            .await
            .unwrap(),
        404,
        "not_found",
    )
    .await;
    problem(
        ask(Some(&editor), "?with=cuda/loose", &body)
            .send()
            .await
            .unwrap(),
        400,
        "bad_query",
    )
    .await;
    let broken = object!({"text": text, "draft": {"document": {"id": "cuda/x"}}});
    problem(
        ask(Some(&editor), "", &broken).send().await.unwrap(),
        422,
        "invalid_record",
    )
    .await;
}

#[tokio::test]
async fn records_are_listed_by_state_and_domain() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    assert_eq!(
        put(&app, &editor, "", record("(?i)error", "widget error"))
            .await
            .status(),
        201
    );
    let ids = async |query: &str, token: Option<&str>| -> Vec<String> {
        let path = format!("/api/v1/records{query}");
        let page = match token {
            Some(token) => json(app.get_with(&path, token).await).await,
            None => app.get_json(&path).await,
        };
        let records = page["records"].as_array().unwrap().iter();
        records
            .map(|record| record["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids("?state=draft", Some(&editor)).await, ["cuda/loose"]);
    assert!(
        !ids("?state=published", Some(&editor))
            .await
            .contains(&"cuda/loose".to_owned())
    );
    let all = ids("", None).await;
    let cuda = ids("?domain=cuda", None).await;
    assert!(
        !cuda.is_empty() && cuda.iter().all(|id| id.starts_with("cuda/")),
        "{cuda:?}"
    );
    let expected = all.iter().filter(|id| id.starts_with("cuda/")).count();
    assert_eq!(cuda.len(), expected);
    assert!(
        ids("?domain=cuda&sort=modified&state=published", None)
            .await
            .len()
            == expected
    );
    for (query, code) in [
        ("?domain=a/b", 400),
        ("?domain=cud", 400),
        ("?state=other", 400),
        ("?state=draft", 403),
    ] {
        let path = format!("/api/v1/records{query}");
        assert_eq!(app.get(&path).await.status(), code, "{query}");
    }
}

/// What readers see already stays, whatever the gate says today, and is listed.
#[tokio::test]
async fn what_was_published_before_the_gate_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_string_lossy().into_owned();
    let store = connect(&format!("{data}/peerless.db"), &ConnectOptions::default())
        .await
        .unwrap();
    let saved = NewRevision {
        id: "cuda/loose".parse().unwrap(),
        document: record("(?i)error", "widget error"),
        annex: kb_core::annex::EMPTY.to_owned(),
        expected: Expected::Absent,
        by: By::system("old"),
        note: None,
        at: OffsetDateTime::UNIX_EPOCH,
    };
    store.save_head(saved).await.unwrap();
    let publish = Publish {
        id: "cuda/loose".parse().unwrap(),
        revision: Revision(1),
        by: By::system("old"),
        after: None,
        forced: None,
        reason: None,
        at: OffsetDateTime::UNIX_EPOCH,
    };
    store.publish(publish).await.unwrap();
    drop(store);
    let listed = run(&["check", "--published", "--data-dir", &data]);
    let told = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(listed.status.code(), Some(1), "{told}");
    assert!(told.starts_with("cuda/loose: gate/healthy-line: "), "{told}");
    assert!(
        told.lines().all(|line| line.starts_with("cuda/loose: ")),
        "{told}"
    );
}

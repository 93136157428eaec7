//! Patterns are text from others: too large, too deep or blowing up, they are refused with the reason, and the server
//! goes on answering.

use std::time::{Duration, Instant};

use peerless::store::Scope;
use serde_json::json as object;

use crate::records::{P2P, document};
use crate::test_app::{TestApp, json, problem};

/// A pattern's check takes no longer than this, on a busy machine without optimisation. All here took 0.3 s together.
const PATIENCE: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_hostile_pattern_is_refused_with_the_reason_and_the_server_goes_on() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Edit, Scope::Publish]).await;
    let nested = format!("{}widget{}", "(".repeat(300), ")".repeat(300));
    let repeated = format!("{}widget{}", "(?:".repeat(8), "){1,99}".repeat(8));
    let alternatives = format!("widget(?:{})", vec!["[a-z]{1,40}[0-9]{1,40}"; 120].join("|"));
    for (regex, rule) in [
        (nested.as_str(), "pattern/nesting"),
        (&repeated, "pattern/too-large"),
        (r"(?:widget\w{1,999}){1,999}", "pattern/too-large"),
        (r"widget(a{1000}){1000}", "pattern/too-large"),
        (r"widget[\p{L}\p{N}]{9999}", "pattern/too-large"),
        (
            r"widget(?:(?:x{1,9999}y?){1,9999}z?){1,9999}",
            "pattern/too-large",
        ),
        ("e.{0,400}widget.{0,400}done", "pattern/too-costly"),
        (&"widget".repeat(1_000), "pattern/too-long"),
        (r"widget{1,99999999999}", "pattern/syntax"),
        (r"(widget)\1", "pattern/syntax"),
        (r"(?<=widget)x", "pattern/syntax"),
        (r"widget(?!x)", "pattern/syntax"),
        (r"widget|", "pattern/no-literal"),
        (r"\d+ \w+", "pattern/no-literal"),
        (&["widget"; 20].join(r"\n"), "pattern/line-break"),
    ] {
        let mut record: serde_json::Value =
            serde_json::from_str(&document("cuda/hostile", "widget")).unwrap();
        record["regex"] = regex.into();
        let began = Instant::now();
        let put = app
            .put("/api/v1/records/cuda/hostile", &token)
            .header("if-none-match", "*");
        let refused = problem(
            put.body(record.to_string()).send().await.unwrap(),
            422,
            "invalid_record",
        )
        .await;
        assert!(
            began.elapsed() < PATIENCE,
            "{regex:.60} took {:?}",
            began.elapsed()
        );
        let violations = refused["violations"].as_array().unwrap();
        let of_pattern = violations.iter().find(|violation| violation["rule"] == rule);
        let of_pattern = of_pattern.unwrap_or_else(|| panic!("{regex:.60}: {refused}"));
        assert_eq!(of_pattern["pointer"], "/regex");
        assert!(!of_pattern["reason"].as_str().unwrap().is_empty());
        // Nothing was stored, and everybody else is answered.
        assert_eq!(app.get("/api/v1/records/cuda/hostile").await.status(), 404);
        let text = "CUDA error: peer access is not supported between these two devices";
        let answer = app
            .post("/api/v1/match")
            .json(&object!({ "text": text }))
            .send()
            .await;
        let answer = json(answer.unwrap()).await;
        assert!(P2P.ends_with(answer["matches"][0]["id"].as_str().unwrap()));
    }
    // Ugly, and within every limit.
    let mut record: serde_json::Value =
        serde_json::from_str(&document("cuda/hostile", "widget infarction")).unwrap();
    record["regex"] = alternatives.into();
    let harmless = app
        .put("/api/v1/records/cuda/hostile", &token)
        .header("if-none-match", "*")
        .body(record.to_string());
    let began = Instant::now();
    assert_eq!(harmless.send().await.unwrap().status(), 201);
    assert!(began.elapsed() < PATIENCE);
}

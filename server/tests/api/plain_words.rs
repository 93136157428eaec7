//! What is told is told in words that a reader knows: no share of a pattern, no number of a rung without what it is.

use serde_json::json as object;

use crate::process::run;
use crate::records::url_encoded;
use crate::test_app::TestApp;

const LINES: [&str; 4] = [
    "RuntimeError: CUDA error: peer access is not supported between these two devices",
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.",
    "Xid 79",
    "nothing like it, peer access device",
];

/// Words that only who made the program understands.
fn assert_plain(text: &str, of: &str) {
    let makers = [
        "pattern of the record",
        "该记录的模式",
        "涵盖了",
        "by rungs",
        "it captured",
    ];
    for word in makers {
        assert!(!text.contains(word), "{of}: {word:?}\n{text}");
    }
    for share in ["% of line", "% 的内容", "%\u{a0}的内容"] {
        assert!(!text.contains(share), "{of}: {share:?}\n{text}");
    }
}

#[tokio::test]
async fn no_answer_tells_a_share_of_a_pattern() {
    let app = TestApp::start_with(|options| {
        options.seeds = peerless::bundle::embedded().unwrap();
    })
    .await;
    for line in LINES {
        for accept in ["text/plain", "application/json", "application/x-ndjson"] {
            let request = app.post("/api/v1/match").header("accept", accept);
            let request = request.header("content-type", "text/plain").body(line);
            let text = request.send().await.unwrap().text().await.unwrap();
            assert_plain(&text, &format!("{accept}: {line}"));
        }
        for language in ["en", "zh"] {
            let request = app.post(&format!("/match?lang={language}"));
            let request = request.header("content-type", "application/x-www-form-urlencoded");
            let request = request.body(format!("text={}", url_encoded(line)));
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 200);
            assert_plain(&response.text().await.unwrap(), &format!("{language}: {line}"));
        }
        let told = run(&["match", "--text", line]);
        assert_plain(&String::from_utf8_lossy(&told.stdout), line);
    }
    let found = app.post("/api/v1/match").json(&object!({"text": LINES[0]}));
    let found: serde_json::Value = found.send().await.unwrap().json().await.unwrap();
    assert_eq!(found["matches"][0]["why"], "most of line 1 is this message");
}

#[tokio::test]
async fn a_report_says_what_its_rungs_are() {
    let app = TestApp::start_with(|options| options.settings.public_fleet = true).await;
    let token = app.token(&[peerless::store::Scope::Report]).await;
    let sent = include_str!("../../../kb-core/tests/data/reports/h200-x2-healthy.json");
    let request = app.post("/api/v1/reports").bearer_auth(&token);
    let request = request.header("content-type", "application/json").body(sent);
    let kept = request.send().await.unwrap();
    assert_eq!(kept.status(), 201);
    let report: serde_json::Value = serde_json::from_str(sent).unwrap();
    let path = format!("/reports/{}", report["report_id"].as_str().unwrap());
    for (language, copies) in [("en", "copies (3)"), ("zh", "复制 (3)")] {
        let page = app.get(&format!("{path}?lang={language}")).await;
        let page = page.text().await.unwrap();
        assert!(page.contains(copies), "{language}: {page}");
    }
}

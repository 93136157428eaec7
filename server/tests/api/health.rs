//! Health, and what every answer has.

use crate::test_app::{TestApp, problem};

#[tokio::test]
async fn a_server_that_runs_is_alive_and_ready() {
    let app = TestApp::start().await;
    assert_eq!(app.get("/healthz").await.text().await.unwrap(), "ok\n");
    app.wait_for_index();
    assert_eq!(app.get("/readyz").await.status(), 200);
}

#[tokio::test]
async fn every_answer_carries_the_security_headers() {
    let app = TestApp::start().await;
    for path in ["/healthz", "/no/such/path", "/api/v1/records/cuda//x"] {
        let response = app.get(path).await;
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(header("referrer-policy"), "same-origin");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert!(!header("x-request-id").is_empty());
    }
}

#[tokio::test]
async fn unknown_addresses_and_methods_are_problems() {
    let app = TestApp::start().await;
    problem(app.get("/no/such/path").await, 404, "not_found").await;
    let response = app.post("/healthz").send().await.unwrap();
    assert_eq!(response.headers()["allow"], "GET");
    problem(response, 405, "method_not_allowed").await;
    let head = app
        .request(reqwest::Method::HEAD, "/healthz")
        .send()
        .await
        .unwrap();
    assert_eq!(head.status(), 200);
}

#[tokio::test]
async fn browsers_get_a_page_for_an_error() {
    let app = TestApp::start().await;
    let request = app
        .request(reqwest::Method::GET, "/no/<b>such</b>")
        .header("accept", "text/html,*/*");
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 404);
    assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    assert!(response.text().await.unwrap().contains("<h1>"));
}

#[tokio::test]
async fn a_server_whose_database_file_was_moved_away_is_not_ready_and_writes_nothing() {
    let app = TestApp::start().await;
    app.wait_for_index();
    let ready = app.get("/readyz").await;
    assert_eq!(ready.text().await.unwrap(), "ready at seq 2 of 2, 0 s behind\n");
    let (file, moved) = (
        app.folder.path().join("peerless.db"),
        app.folder.path().join("elsewhere.db"),
    );
    std::fs::rename(&file, &moved).unwrap();
    let refused = app.store.check_write().await.unwrap_err();
    assert!(
        matches!(refused, peerless::store::StoreError::Moved(_)),
        "{refused}"
    );
    // The answer is found out anew once a second.
    let asked = std::time::Instant::now();
    let refused = loop {
        let answer = app.get("/readyz").await;
        if answer.status() == 503 {
            break answer.text().await.unwrap();
        }
        assert!(asked.elapsed().as_secs() < 20, "still ready");
    };
    assert!(refused.contains("moved or replaced"), "{refused}");
    // Another file in its place is not the one that is open.
    std::fs::write(&file, "").unwrap();
    assert!(app.store.check_write().await.is_err());
    // What needs no database is answered.
    let found = app
        .post("/api/v1/match")
        .body("all is well")
        .send()
        .await
        .unwrap();
    assert_eq!(found.status(), 200);
    std::fs::rename(&moved, &file).unwrap();
    app.store.check_write().await.unwrap();
}

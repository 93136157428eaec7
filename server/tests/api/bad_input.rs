//! Bad input, one by one: a clear problem, and nothing is lost.

use std::io::Write as _;

use peerless::store::Scope;
use reqwest::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::records::{P2P, document};
use crate::test_app::{TestApp, problem};

/// Sends a request line as it is: clients of our own would tidy the path up.
async fn raw(app: &TestApp, path: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", app.port))
        .await
        .unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn paths_that_are_no_ids() {
    let app = TestApp::start().await;
    for id in [
        "cuda//x",
        "../x",
        "cuda/../x",
        "%2e%2e/x",
        "cuda",
        "a/b/c/d",
        "Cuda/x",
        "cuda/x%00",
        "cuda/x%252Fy",
        "cuda/%20",
        "cuda/x/",
    ] {
        let answer = raw(&app, &format!("/api/v1/records/{id}")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{id}: {answer}");
        assert!(answer.contains("\"code\":\"bad_id\""), "{id}: {answer}");
    }
    for id in ["a/b/c", "no/such", "cuda%2Fnone"] {
        let answer = raw(&app, &format!("/api/v1/records/{id}")).await;
        assert!(answer.contains("\"code\":\"not_found\""), "{id}: {answer}");
    }
    let answer = raw(&app, "/api/v1/records/cuda/x%ff").await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[tokio::test]
async fn bodies_of_match_that_cannot_be_read() {
    let app = TestApp::start().await;
    let json_bodies: &[(&str, u16, &str)] = &[
        ("{\"text\": ", 400, "malformed_body"),
        ("{\"text\": 7}", 400, "malformed_body"),
        ("{}", 400, "malformed_body"),
        ("[]", 400, "malformed_body"),
        ("{\"text\": \"a\", \"text\": \"b\"}", 400, "malformed_body"),
        ("{\"text\": \"a\", \"unknown\": 1}", 400, "malformed_body"),
        (
            "{\"text\": \"a\", \"environment\": {\"driver\": 550}}",
            400,
            "malformed_body",
        ),
        ("{\"text\": \"\\ud800\"}", 400, "malformed_body"),
        ("", 400, "malformed_body"),
    ];
    for (body, status, code) in json_bodies {
        let request = app
            .post("/api/v1/match")
            .header("content-type", "application/json");
        problem(request.body(*body).send().await.unwrap(), *status, code).await;
    }
    let not_utf8 = app
        .post("/api/v1/match")
        .header("content-type", "application/json")
        .body(vec![b'"', 0xff, b'"']);
    problem(not_utf8.send().await.unwrap(), 400, "malformed_body").await;
    let kind = app
        .post("/api/v1/match")
        .header("content-type", "image/png")
        .body("x");
    problem(kind.send().await.unwrap(), 415, "unsupported_media_type").await;
    let encoding = app
        .post("/api/v1/match")
        .header("content-encoding", "br")
        .body("x");
    problem(encoding.send().await.unwrap(), 415, "unsupported_encoding").await;
    for encoding in ["gzip", "zstd"] {
        let damaged = app
            .post("/api/v1/match")
            .header("content-encoding", encoding)
            .body("not compressed");
        problem(damaged.send().await.unwrap(), 400, "bad_encoding").await;
    }
}

#[tokio::test]
async fn odd_bytes_in_a_log_are_read_like_any_others() {
    let app = TestApp::start().await;
    let body =
        b"\x80\xff\xfe\0 CUDA error: peer access is not supported between these two devices \0\n".to_vec();
    let request = app
        .post("/api/v1/match")
        .header("content-type", "text/plain")
        .body(body);
    let found = crate::test_app::json(request.send().await.unwrap()).await;
    assert_eq!(found["root_cause"], "cuda/peer-access-unsupported-by-hardware");
}

#[tokio::test]
async fn bodies_over_the_limit_and_bombs() {
    let app = TestApp::start().await;
    let large = format!("{{\"text\": \"{}\"}}", "x".repeat(8 << 20));
    let request = app
        .post("/api/v1/match")
        .header("content-type", "application/json")
        .body(large);
    problem(request.send().await.unwrap(), 413, "too_large").await;

    let zeros = vec![0; 64 << 20];
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&zeros).unwrap();
    let bombs = [
        ("gzip", encoder.finish().unwrap()),
        ("zstd", zstd::encode_all(zeros.as_slice(), 19).unwrap()),
    ];
    for (encoding, bomb) in bombs {
        for content_type in ["text/plain", "application/json"] {
            let request = app.post("/api/v1/match").header("content-type", content_type);
            let response = request
                .header("content-encoding", encoding)
                .body(bomb.clone())
                .send()
                .await
                .unwrap();
            problem(response, 413, "too_large").await;
        }
    }
    let token = app.token(&[Scope::Edit]).await;
    let put = app
        .put(P2P, &token)
        .header("if-match", "\"r1\"")
        .body("x".repeat(257 << 10));
    problem(put.send().await.unwrap(), 413, "too_large").await;
    assert_eq!(app.get("/healthz").await.status(), 200);
}

#[tokio::test]
async fn records_that_break_rules_are_refused_and_nothing_is_stored() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Edit]).await;
    let good = document("cuda/x", "CUDA error: some new thing");
    let swap = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1)
    };
    let bad = [
        ("not JSON", "{\"id\": ".to_owned()),
        ("wrong type", swap("\"runtime_error\"", "7")),
        ("duplicate key", swap("\"id\":", "\"id\": \"cuda/x\", \"id\":")),
        ("NUL", swap("made for", "made\\u0000for")),
        ("lone surrogate", swap("made for", "made\\ud800for")),
        ("BOM", format!("\u{feff}{good}")),
        ("another id", swap("\"cuda/x\"", "\"cuda/y\"")),
        (
            "regex that does not compile",
            swap(
                "\"regex\": \"CUDA error: some new thing\"",
                "\"regex\": \"CUDA (error\"",
            ),
        ),
        (
            "regex without a literal",
            swap(
                "\"regex\": \"CUDA error: some new thing\"",
                "\"regex\": \"\\\\w+ \\\\d+\"",
            ),
        ),
    ];
    for (what, body) in bad {
        let put = app
            .put("/api/v1/records/cuda/x", &token)
            .header("if-none-match", "*")
            .body(body);
        let refused = problem(put.send().await.unwrap(), 422, "invalid_record").await;
        let violation = &refused["violations"][0];
        assert_eq!(violation["severity"], "error", "{what}: {refused}");
        assert!(!violation["reason"].as_str().unwrap().is_empty(), "{what}");
        problem(
            app.get_with("/api/v1/records/cuda/x", &token).await,
            404,
            "not_found",
        )
        .await;
    }
    let put = app
        .put("/api/v1/records/cuda/x", &token)
        .header("if-none-match", "*")
        .body(vec![b'{', 0xff]);
    problem(put.send().await.unwrap(), 400, "malformed_body").await;
    for (name, value) in [("if-match", "r1"), ("if-none-match", "\"r1\"")] {
        let put = app
            .put("/api/v1/records/cuda/x", &token)
            .header(name, value)
            .body(good.clone());
        problem(put.send().await.unwrap(), 400, "bad_header").await;
    }
    let put = app
        .put("/api/v1/records/cuda/x", &token)
        .header("if-match", "\"r1\"")
        .body(good.clone());
    problem(put.send().await.unwrap(), 412, "stale_revision").await;
    let put = app
        .put("/api/v1/records/cuda/x?publish=true", &token)
        .header("if-none-match", "*")
        .body(good.clone());
    problem(put.send().await.unwrap(), 403, "forbidden").await;
    let put = app
        .put("/api/v1/records/cuda/x", &token)
        .header("if-none-match", "*")
        .body(good);
    assert_eq!(
        put.send().await.unwrap().status(),
        201,
        "the record itself was good"
    );
}

#[tokio::test]
async fn clients_that_come_too_often_are_told_when_to_come_again() {
    let app = TestApp::start_with(|options| {
        options.settings.rate_limit = 1;
        options.settings.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    })
    .await;
    let from = |client: &'static str| {
        app.request(Method::GET, "/healthz")
            .header("x-forwarded-for", client)
    };
    for _ in 0..4 {
        assert_eq!(from("203.0.113.1").send().await.unwrap().status(), 200);
    }
    let refused = from("203.0.113.1").send().await.unwrap();
    assert_eq!(refused.headers()["retry-after"], "1");
    problem(refused, 429, "rate_limited").await;
    assert_eq!(
        from("203.0.113.2").send().await.unwrap().status(),
        200,
        "others are let through"
    );
}

#[tokio::test]
async fn an_answer_that_nobody_accepts() {
    let app = TestApp::start().await;
    let request = app.request(Method::GET, "/healthz");
    let refused = request
        .header("accept-encoding", "identity;q=0")
        .send()
        .await
        .unwrap();
    assert!(refused.headers().contains_key("content-security-policy"));
    problem(refused, 406, "not_acceptable").await;
}

#[tokio::test]
async fn a_proxy_s_own_line_decides_who_comes_too_often() {
    let app = TestApp::start_with(|options| {
        options.settings.rate_limit = 1;
        options.settings.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    })
    .await;
    let mut refused = 0;
    for number in 0..8 {
        let request = app.request(Method::GET, "/healthz");
        let request = request.header("x-forwarded-for", format!("203.0.113.{number}"));
        let response = request
            .header("x-forwarded-for", "198.51.100.7")
            .send()
            .await
            .unwrap();
        refused += u32::from(response.status() == 429);
    }
    assert!(refused >= 2, "each line of the client's made it another client");
}

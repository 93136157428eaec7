//! Paste to record: text, log, JSON, batch, compressed, as text and as lines.

use std::io::Write as _;

use peerless::store::SeedRecord;
use serde_json::{Value, json as object};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::test_app::{TestApp, json, problem};

const LINE: &str = "RuntimeError: CUDA error: peer access is not supported between these two devices";

async fn post_text(app: &TestApp, text: impl Into<reqwest::Body>) -> Value {
    let request = app
        .post("/api/v1/match")
        .header("content-type", "text/plain")
        .body(text);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    json(response).await
}

#[tokio::test]
async fn a_pasted_line_finds_its_record() {
    let app = TestApp::start().await;
    insta::assert_json_snapshot!(
        post_text(&app, format!("starting\n{LINE}\n")).await,
        { ".matches[].address" => "http://127.0.0.1:PORT/…" }
    );
    let nothing = post_text(&app, "all is well\n").await;
    assert_eq!(nothing["matches"], object!([]));
    assert_eq!(nothing["root_cause"], Value::Null);
}

/// Colours of one character, as terminals of 8 bits write them, and marks of Markdown, as chats and issues keep them.
#[tokio::test]
async fn marks_inside_a_message_are_taken_off() {
    let app = TestApp::start().await;
    for text in [
        "CUDA error: peer \u{9b}31maccess\u{9b}0m is not supported between these two devices",
        "CUDA error: **peer access** is not supported between `these two` devices",
    ] {
        let found = post_text(&app, text).await;
        let ids = found["matches"].as_array().unwrap().iter();
        let mut ids = ids.map(|found| found["id"].clone());
        assert!(
            ids.any(|id| id == "cuda/peer-access-unsupported-by-hardware"),
            "{text}: {found}"
        );
    }
}

#[tokio::test]
async fn a_match_says_what_its_record_says_and_carries_it_when_asked() {
    let app = TestApp::start().await;
    let found = post_text(&app, LINE).await;
    let found = &found["matches"][0];
    let record = "cuda/peer-access-unsupported-by-hardware";
    assert_eq!(found["address"], format!("{}/r/{record}", app.url));
    assert_eq!(found["severity"], "error");
    assert!(found["workaround"]["action"].is_string());
    assert_eq!(found.get("record"), None);

    let expanded = |form: &'static str| {
        let request = app.post("/api/v1/match?expand=record").header("accept", form);
        request.header("content-type", "text/plain").body(LINE)
    };
    let whole = json(expanded("application/json").send().await.unwrap()).await;
    let stored = app.get_json(&format!("/api/v1/records/{record}")).await;
    assert_eq!(whole["matches"][0]["record"]["document"], stored);
    let lines = expanded("application/x-ndjson").send().await.unwrap();
    let lines = lines.text().await.unwrap();
    let summary: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(summary["matches"][0]["record"]["document"], stored);

    let refused = app.post("/api/v1/match?expand=everything").body(LINE);
    problem(refused.send().await.unwrap(), 400, "bad_query").await;
}

#[tokio::test]
async fn json_carries_the_environment() {
    let app = TestApp::start().await;
    let body = object!({"text": LINE, "environment": {"driver": "550.54.14"}});
    let found = json(app.post("/api/v1/match").json(&body).send().await.unwrap()).await;
    assert_eq!(
        found["matches"][0]["id"],
        "cuda/peer-access-unsupported-by-hardware"
    );
}

#[tokio::test]
async fn a_text_brings_its_environment_in_the_address() {
    let seed = SeedRecord {
        id: "cuda/old-driver".parse().unwrap(),
        document: crate::records::document("cuda/old-driver", "CUDA error: the driver is old"),
        annex: r#"{"schema_version": 1, "applies_to": [{"component": "driver", "fixed": "550"}]}"#.to_owned(),
    };
    let app = TestApp::start_with(|options| options.seeds.push(seed)).await;
    for (query, applies) in [
        ("", "unknown"),
        ("?environment=driver=535.161.07,%20cuda=12.2", "yes"),
        ("?environment=driver=560.1", "no"),
    ] {
        let request = app.post(&format!("/api/v1/match{query}"));
        let response = request
            .body("CUDA error: the driver is old")
            .send()
            .await
            .unwrap();
        assert_eq!(response.headers()["peerless-matches"], "1");
        assert_eq!(json(response).await["matches"][0]["applies"], applies, "{query}");
    }
    for bad in [
        "?environment=driver",
        "?environment=driver=550;cuda=12",
        "?env=driver=1",
    ] {
        let request = app.post(&format!("/api/v1/match{bad}")).body("x");
        problem(request.send().await.unwrap(), 400, "bad_query").await;
    }
}

#[tokio::test]
async fn an_environment_that_no_record_knows_is_refused_with_the_nearest_name() {
    let app = TestApp::start().await;
    for (environment, pointer, words) in [
        (
            object!({"gpuu": "H100"}),
            "/environment/gpuu",
            "is gpu_model meant?",
        ),
        (
            object!({"driver": "abc"}),
            "/environment/driver",
            "no version of driver",
        ),
        (object!({"a/b~": "1"}), "/environment/a~1b~0", "no component"),
        (object!({"cuda": ""}), "/environment/cuda", "1 to 256"),
    ] {
        let item = object!({"text": LINE, "environment": environment});
        for accept in ["application/json", "application/x-ndjson"] {
            let request = app.post("/api/v1/match").header("accept", accept).json(&item);
            let told = problem(request.send().await.unwrap(), 400, "malformed_body").await;
            assert_eq!(told["pointer"], pointer);
            assert!(told["detail"].as_str().unwrap().contains(words), "{told}");
        }
        let batch = object!({"items": [{"text": LINE}, item]});
        let answer = app.post("/api/v1/match/batch").json(&batch).send().await.unwrap();
        let items = json(answer).await["items"].clone();
        assert!(items[0]["root_cause"].is_string());
        assert_eq!(items[1]["problem"]["pointer"], pointer);
    }
    for query in ["drver=1", "driver=abc", "driver=535,driver=550"] {
        let request = app.post(&format!("/api/v1/match?environment={query}")).body(LINE);
        problem(request.send().await.unwrap(), 400, "bad_query").await;
    }
    let misspelt = object!({"txt": LINE});
    let told = app.post("/api/v1/match").json(&misspelt).send().await.unwrap();
    let told = problem(told, 400, "malformed_body").await;
    assert!(told["detail"].as_str().unwrap().contains("`text`"), "{told}");
}

#[tokio::test]
async fn what_is_packed_without_its_header_is_read_too() {
    let app = TestApp::start().await;
    let log = format!("{}{LINE}\n", "nothing here\n".repeat(10_000));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(log.as_bytes()).unwrap();
    let utf16: Vec<u8> = "\u{feff}"
        .encode_utf16()
        .chain(log.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    for body in [
        gzip.finish().unwrap(),
        zstd::encode_all(log.as_bytes(), 1).unwrap(),
        utf16[2..].to_vec(),
        utf16,
    ] {
        let found = post_text(&app, body).await;
        assert_eq!(found["root_cause"], "cuda/peer-access-unsupported-by-hardware");
        assert_eq!(found["matches"][0]["lines"][0]["line"], 10_001);
    }
    let bomb = zstd::encode_all(vec![0; 64 << 20].as_slice(), 19).unwrap();
    problem(
        app.post("/api/v1/match").body(bomb).send().await.unwrap(),
        413,
        "too_large",
    )
    .await;
}

#[tokio::test]
async fn what_is_no_text_is_never_called_clean() {
    let app = TestApp::start().await;
    let xz = b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46".to_vec();
    let zip = b"PK\x03\x04\x14\0\0\0\x08\0".to_vec();
    let bzip2 = b"BZh91AY&SY\x1a\x2b\x3c".to_vec();
    let binary: Vec<u8> = (0..100_000_u32)
        .map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[1])
        .collect();
    for (body, words) in [
        (xz, "`xzcat FILE`"),
        (zip, "`unzip -p FILE`"),
        (bzip2, "`bzcat FILE`"),
        (binary.clone(), "binary file"),
        (vec![0; 1000], "zero bytes"),
    ] {
        for path in ["/api/v1/match", "/match"] {
            let request = app.post(path).header("content-type", "application/octet-stream");
            let answer = request.body(body.clone()).send().await.unwrap();
            assert_eq!(answer.status(), 415, "{path} {words}");
            let told = answer.text().await.unwrap();
            assert!(told.contains(words), "{path}: {told}");
        }
        let request = app.post("/api/v1/match").header("accept", "application/x-ndjson");
        let lines = request.body(body).send().await.unwrap().text().await.unwrap();
        assert!(
            lines.contains("\"not_text\"") && !lines.contains("summary"),
            "{lines}"
        );
    }
    // Read by somebody as UTF-8 before.
    let lossy = String::from_utf8_lossy(&binary).into_owned();
    let item = object!({"text": lossy});
    problem(
        app.post("/api/v1/match").json(&item).send().await.unwrap(),
        415,
        "not_text",
    )
    .await;
    let short: String = lossy.chars().take(10_000).collect();
    let batch = object!({"items": [{"text": short}, {"text": "all is well"}]});
    let answer = json(app.post("/api/v1/match/batch").json(&batch).send().await.unwrap()).await;
    assert_eq!(answer["items"][0]["problem"]["code"], "not_text");
    assert_eq!(answer["items"][1]["matches"], object!([]));
    // An error that stands in it is told all the same.
    let found = post_text(&app, [&binary[..], b"\n", LINE.as_bytes(), b"\n"].concat()).await;
    assert_eq!(found["root_cause"], "cuda/peer-access-unsupported-by-hardware");
}

#[tokio::test]
async fn compressed_logs_are_read() {
    let app = TestApp::start().await;
    let log = format!("{}{LINE}\n", "nothing here\n".repeat(10_000));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(log.as_bytes()).unwrap();
    let bodies = [
        ("gzip", encoder.finish().unwrap()),
        ("zstd", zstd::encode_all(log.as_bytes(), 1).unwrap()),
    ];
    for (encoding, body) in bodies {
        let request = app.post("/api/v1/match").header("content-type", "text/plain");
        let response = request
            .header("content-encoding", encoding)
            .body(body)
            .send()
            .await
            .unwrap();
        let found = json(response).await;
        assert_eq!(found["lines_scanned"], 10_001, "{encoding}");
        assert_eq!(found["matches"][0]["lines"][0]["line"], 10_001, "{encoding}");
    }
}

#[tokio::test]
async fn curl_gets_text() {
    let app = TestApp::start().await;
    let request = app
        .post("/api/v1/match")
        .header("accept", "text/plain")
        .body(LINE);
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/plain; charset=utf-8");
    let text = response.text().await.unwrap();
    let page = text.lines().find_map(|line| line.trim().strip_prefix(&app.url));
    assert_eq!(app.get(page.unwrap()).await.status(), 200, "{text}");
    insta::assert_snapshot!(text.replace(&app.url, "http://127.0.0.1:PORT"));
}

#[tokio::test]
async fn lines_come_as_they_are_found() {
    let app = TestApp::start().await;
    let text = format!("{LINE}\nx\n{LINE}");
    for as_json in [false, true] {
        let request = app.post("/api/v1/match").header("accept", "application/x-ndjson");
        let request = if as_json {
            request.json(&object!({"text": text}))
        } else {
            request.header("content-type", "text/plain").body(text.clone())
        };
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "application/x-ndjson");
        let body = response.text().await.unwrap();
        let lines: Vec<Value> = body
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
        assert_eq!(events, ["hit", "hit", "summary"], "{body}");
        assert_eq!(lines[2]["matches"][0]["count"], 2);
    }
}

#[tokio::test]
async fn a_hit_is_sent_before_the_body_has_ended() {
    let app = TestApp::start().await;
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", app.port))
        .await
        .unwrap();
    let head = "POST /api/v1/match HTTP/1.1\r\nhost: x\r\naccept: application/x-ndjson\r\ncontent-type: text/plain\r\n\
                transfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    let line = format!("{LINE}\n");
    let first_piece = format!("{head}{:x}\r\n{line}\r\n", line.len());
    stream.write_all(first_piece.as_bytes()).await.unwrap();
    let mut answer = String::new();
    while !answer.contains("\"event\":\"hit\"") {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).await.unwrap();
        assert!(read > 0, "closed early: {answer}");
        answer.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    assert!(!answer.contains("summary"));
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("\"event\":\"summary\""), "{answer}");
}

#[tokio::test]
async fn a_batch_keeps_its_order_and_each_item_its_error() {
    let app = TestApp::start().await;
    let body = object!({"items": [
        {"text": "nothing"}, {"text": LINE}, {"text": "x".repeat(65 * 1024)}, {"text": 7}, {"text": LINE},
    ]});
    let response = app.post("/api/v1/match/batch").json(&body).send().await.unwrap();
    let items = json(response).await["items"].clone();
    assert_eq!(items[0]["matches"], object!([]));
    assert_eq!(items[1]["root_cause"], "cuda/peer-access-unsupported-by-hardware");
    assert_eq!(items[2]["problem"]["code"], "too_large");
    assert_eq!(items[3]["problem"]["code"], "malformed_body");
    assert_eq!(items[4]["root_cause"], items[1]["root_cause"]);
    let many = object!({"items": vec![object!({"text": ""}); 1001]});
    problem(
        app.post("/api/v1/match/batch").json(&many).send().await.unwrap(),
        413,
        "too_large",
    )
    .await;
}

#[tokio::test]
async fn words_find_records_too() {
    let app = TestApp::start().await;
    let found = app.get_json("/api/v1/search?q=peer+access&limit=1").await;
    assert_eq!(found["total"], 2);
    assert!(found["next_cursor"].is_string());
    for query in ["limit=0", "limit=1000", "cursor=nonsense", "limit=x", "unknown=1"] {
        problem(
            app.get(&format!("/api/v1/search?q=x&{query}")).await,
            400,
            "bad_query",
        )
        .await;
    }
    let long = "x".repeat(5000);
    problem(
        app.get(&format!("/api/v1/search?q={long}")).await,
        400,
        "bad_query",
    )
    .await;
}

/// Another machine's line is no answer to what was pasted, and a reader of Chinese gets what there is in Chinese.
#[tokio::test]
async fn the_page_shows_the_pasted_line_and_answers_in_the_language_asked_for() {
    const OWN: &str =
        "[rank7]: CUDA error: peer access is not supported between these two devices, said GPU 5";
    const IN_CHINESE: &str = "不要在这些做法上浪费时间";
    let app = TestApp::start().await;
    let ask = async |query: &str, accepted: &str| {
        let request = app
            .post(&format!("/match{query}"))
            .header("accept-language", accepted);
        let form = format!("text=first%0A++{}%0A", OWN.replace(' ', "+"));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        request.body(form).send().await.unwrap().text().await.unwrap()
    };
    for (query, accepted, chinese) in [
        ("", "en", false),
        ("", "zh-CN,zh;q=0.9,en;q=0.8", true),
        ("?lang=zh", "en", true),
        ("?lang=en", "zh-CN", false),
    ] {
        let page = ask(query, accepted).await;
        assert_eq!(page.contains(IN_CHINESE), chinese, "{query} {accepted}: {page}");
        assert_eq!(
            page.contains("/r/cuda/peer-access-unsupported-by-hardware?lang=zh"),
            chinese,
            "{page}"
        );
        assert!(page.contains("formaction=\"/match?lang=zh\""), "{page}");
        assert_eq!(page.contains("的一部分是这条错误信息"), chinese, "{page}");
        let card = page.split("id=\"match-1-title\"").nth(1).unwrap_or_default();
        let (heading, below) = card.split_once("</h2>").unwrap_or_default();
        let title = if chinese {
            ">这两块 GPU 之间不支持点对点访问（P2P）</a>"
        } else {
            ">Peer access (P2P) is not supported between these two GPUs</a>"
        };
        assert!(heading.contains(title), "{heading}");
        assert!(
            below.trim_start().starts_with("<p class=\"sig\"") && below.contains(OWN),
            "{below}"
        );
    }
}

#[tokio::test]
async fn the_page_without_a_text_leads_home_in_the_language_asked_for() {
    let app = TestApp::start().await;
    for (query, home) in [("", "/"), ("?lang=zh", "/?lang=zh"), ("?lang=en", "/?lang=en")] {
        let response = app.get(&format!("/match{query}")).await;
        assert_eq!(response.status(), 303, "{query}");
        assert_eq!(response.headers()["location"], home);
    }
}

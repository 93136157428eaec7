//! Texts that other programs have written down: an error in them is found, or it is said what was not read.

use std::io::Write as _;

use serde_json::{Value, json as object};

use crate::test_app::{TestApp, json, problem};

const LINE: &str = "RuntimeError: CUDA error: peer access is not supported between these two devices";

async fn matched(app: &TestApp, body: Vec<u8>) -> Value {
    let request = app.post("/api/v1/match").header("content-type", "text/plain");
    let answer = request.body(body).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    json(answer).await
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

#[tokio::test]
async fn an_error_is_found_however_a_program_has_written_it_down() {
    let app = TestApp::start().await;
    let steps = "step of the training\n".repeat(5000);
    let bytes: Vec<String> = LINE.bytes().map(|byte| byte.to_string()).collect();
    let journal = format!("{steps}{{\"MESSAGE\":[27,91,51,49,109,{}]}}\n", bytes.join(","));
    let rsyslog = format!(
        "{steps}May  1 10:00:00 host app: {}#015\n",
        LINE.replace("CUDA", "#033[31mCUDA#033[0m")
    );
    let cri = |flag: char, text: &str| format!("2024-05-01T00:00:00.1Z stderr {flag} {text}\n");
    let (before, behind) = LINE.split_at(45);
    let partial = format!("{steps}{}{}", cri('P', before), cri('F', behind));
    let line = format!("{LINE}\r\n");
    for (name, body) in [
        ("journal", journal.into_bytes()),
        ("rsyslog", rsyslog.into_bytes()),
        ("partial lines", partial.into_bytes()),
        ("UTF-16 behind ASCII", [steps.as_bytes(), &utf16(&line)].concat()),
        (
            "ASCII behind UTF-16",
            [&[0xff, 0xfe], utf16(&steps).as_slice(), line.as_bytes()].concat(),
        ),
    ] {
        let found = matched(&app, body).await;
        assert_eq!(
            found["root_cause"], "cuda/peer-access-unsupported-by-hardware",
            "{name}"
        );
        assert_eq!(found["matches"][0]["count"], 1, "{name}");
        assert_eq!(found["matches"][0]["lines"][0]["line"], 5001, "{name}");
    }
}

#[tokio::test]
async fn a_compressed_file_behind_text_is_never_passed_over() {
    let app = TestApp::start().await;
    let steps = "step of the training\n".repeat(5000);
    let packed = [
        gzip(LINE),
        zstd::encode_all(LINE.as_bytes(), 1).unwrap(),
        b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46".to_vec(),
    ];
    for packed in packed {
        let body = [steps.as_bytes(), &packed].concat();
        let answer = app.post("/api/v1/match").body(body).send().await.unwrap();
        problem(answer, 415, "not_text").await;
        let with_error = [steps.as_bytes(), LINE.as_bytes(), b"\n", &packed].concat();
        let found = matched(&app, with_error).await;
        assert_eq!(found["matches"][0]["count"], 1);
        let notes = found["notes"].to_string();
        assert!(
            notes.contains("was not read") && notes.contains("tail -c"),
            "{notes}"
        );
    }
    let clean = matched(&app, steps.into_bytes()).await;
    assert_eq!(clean["matches"], object!([]));
}

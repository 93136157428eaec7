//! `peerless record` and `view=text`: one text of a record, here and by a server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Server, folder, peerless, run};
use crate::records::P2P;
use crate::test_app::{TestApp, problem};

const RECORD: &str = "cuda/peer-access-unsupported-by-hardware";
const OTHER: &str = "xid/79-gpu-has-fallen-off-the-bus";

/// A database of two records: those that ship take a debug build seconds each time.
fn two_records() -> (TempDir, String) {
    let (folder, data) = folder();
    for name in [RECORD, OTHER]
        .map(|id| [format!("{id}.json"), format!("{id}.ext.json")])
        .concat()
    {
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../kb-seed")
            .join(&name);
        let to = folder.path().join("records").join(&name);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from, to).unwrap();
    }
    let records = folder.path().join("records");
    let imported = run(&["import", &records.to_string_lossy(), "--data-dir", &data]);
    assert!(imported.status.success(), "{imported:?}");
    (folder, data)
}

fn record(data: &str, arguments: &[&str]) -> Output {
    let mut command = peerless();
    command.arg("record").args(arguments).args(["--data-dir", data]);
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_record_is_read_in_a_terminal_without_a_server() {
    let (_folder, data) = folder();
    let printed = record(&data, &[RECORD]);
    assert_eq!(printed.status.code(), Some(0));
    let english = text(&printed.stdout);
    for part in [
        "\nWhat works\n  1. ",
        "\nDo not waste time on\n  1. ",
        "\nSources\n",
    ] {
        assert!(english.contains(part), "{part:?} is not in\n{english}");
    }
    // It was asked, not made.
    assert!(!Path::new(&data).try_exists().unwrap());
}

#[test]
fn a_record_of_the_database_is_printed_in_chinese_and_as_json() {
    let (_folder, data) = two_records();
    let chinese = text(&record(&data, &["--lang", "zh", RECORD]).stdout);
    assert!(chinese.contains("\n有效的做法\n  1. "), "{chinese}");
    let json: Value = serde_json::from_slice(&record(&data, &["--json", RECORD]).stdout).unwrap();
    assert_eq!(
        (&json["document"]["id"], &json["ext"]["schema_version"]),
        (&RECORD.into(), &1.into())
    );
}

#[test]
fn who_mistypes_an_id_is_told_what_is_near() {
    let (_folder, data) = two_records();
    for asked in ["xid/79", "Xid 79", "xid/79-gpu-fallen-of-bus"] {
        let printed = record(&data, &[asked]);
        assert_eq!(printed.status.code(), Some(1), "{asked}");
        assert_eq!(text(&printed.stdout), "");
        let said = text(&printed.stderr);
        let first = said.split("near it: ").nth(1).unwrap_or_default();
        assert!(first.starts_with(OTHER), "{said}");
    }
    let nothing = text(&record(&data, &["zz/qqqq"]).stderr);
    assert!(
        nothing.starts_with("peerless: there is no published record zz/qqqq"),
        "{nothing}"
    );
    let other = Path::new(&data).join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("peerless.db"), "no database").unwrap();
    let trouble = record(&other.to_string_lossy(), &[RECORD]);
    assert_eq!(trouble.status.code(), Some(2), "{trouble:?}");
}

#[test]
fn a_server_prints_what_this_program_prints() {
    let (folder, data) = two_records();
    let log = folder.path().join("server.log");
    let server = Server::start(&["--data-dir", &data, "--without-shipped"], &log);
    let nowhere = folder.path().join("nowhere").to_string_lossy().into_owned();
    let there = |arguments: &[&str]| record(&nowhere, &[arguments, &["--server", &server.url]].concat());
    for lang in ["en", "zh"] {
        let here = text(&record(&data, &[RECORD, "--lang", lang]).stdout);
        let printed = text(&there(&[RECORD, "--lang", lang]).stdout);
        let (same, address) = printed.trim_end().rsplit_once("\n\n").unwrap();
        assert_eq!(same, here.trim_end());
        assert!(
            address.starts_with(&format!("{}/r/{RECORD}", server.url)),
            "{address}"
        );
    }
    let json: Value = serde_json::from_slice(&there(&[RECORD, "--json"]).stdout).unwrap();
    assert_eq!(json["document"]["id"], RECORD);
    for asked in ["xid/79", "Xid 79"] {
        let missing = there(&[asked]);
        assert_eq!(missing.status.code(), Some(1), "{asked} {missing:?}");
    }
    assert!(text(&there(&["xid/79"]).stderr).contains("near it: xid/79-"));
    let url = server.url.clone();
    server.terminate();
    let gone = record(&nowhere, &[RECORD, "--server", &url]);
    assert_eq!(gone.status.code(), Some(2), "{gone:?}");
}

#[test]
fn a_server_that_does_not_understand_is_no_missing_record() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = BufReader::new(stream.try_clone().unwrap()).lines();
        while head.next().is_some_and(|line| !line.unwrap().is_empty()) {}
        let answer = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let refused = record("nowhere", &[RECORD, "--server", &url]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(text(&refused.stderr).contains("400"), "{refused:?}");
    server.join().unwrap();
}

#[tokio::test]
async fn a_former_id_leads_to_the_text_and_an_unknown_one_to_near_ones() {
    let app = TestApp::start_with(|options| {
        let seed = &mut options.seeds[0];
        assert_eq!(seed.id.as_str(), RECORD);
        let aliases = "\"aliases\": [\"cuda/old-name\"]";
        seed.document = seed.document.replace("\"aliases\": []", aliases);
    })
    .await;
    let response = app.get(&format!("{P2P}?view=text&lang=zh")).await;
    assert_eq!(response.headers()["content-type"], "text/plain; charset=utf-8");
    let shown = response.text().await.unwrap();
    assert!(
        shown.contains("\n原因\n") && shown.contains(&format!("{}/r/{RECORD}?lang=zh", app.url)),
        "{shown}"
    );
    assert_eq!(app.get(&format!("{P2P}?view=text&lang=fr")).await.status(), 400);
    let missing = app.get("/api/v1/records/cuda/peer-access-unsuported").await;
    let body = problem(missing, 404, "not_found").await;
    assert!(body["detail"].as_str().unwrap().contains(RECORD), "{body}");

    let url = app.url.clone();
    let ask = move || {
        let mut command = peerless();
        let command = command.args(["record", "cuda/old-name", "--server", &url]);
        command.output().unwrap()
    };
    let printed = tokio::task::spawn_blocking(ask).await.unwrap();
    assert!(
        text(&printed.stdout).starts_with(&format!("{RECORD}  r1\n")),
        "{printed:?}"
    );
}

//! `peerless search`: the same hits here and by a server, and an exit code for scripts.

use serde_json::Value;

use crate::process::{Server, folder, peerless};

const FOUND: &str = "xid/79-gpu-has-fallen-off-the-bus";

fn search(data: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = peerless();
    command.arg("search").args(arguments).args(["--data-dir", data]);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn records_are_found_without_a_server() {
    let (_folder, data) = folder();
    let (code, text, _) = search(&data, &["Xid", "79"]);
    assert_eq!(code, Some(0));
    assert_eq!(
        text.lines().nth(1),
        Some(format!("{FOUND}  [fatal, reboot_node]").as_str()),
        "{text}"
    );
    let (code, json, _) = search(&data, &["--json", "--limit", "1", "Xid 79"]);
    assert_eq!(code, Some(0));
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["hits"][0]["id"], FOUND);
    let (code, text, _) = search(&data, &["qqqqzzzzxxxx"]);
    assert_eq!(
        (code, text.lines().next()),
        (Some(1), Some("No record has these words."))
    );
    let (code, _, why) = search(&data, &["--limit", "0", "Xid"]);
    assert_eq!(code, Some(2), "{why}");
    assert_eq!(search(&data, &[]).0, Some(64));
}

/// The first hit, and the cursor that the answer names.
fn first_and_next(text: &str) -> (String, String) {
    let (_, cursor) = text.rsplit_once("For more: cursor ").expect(text);
    (text.lines().nth(1).unwrap().to_owned(), cursor.trim().to_owned())
}

#[test]
fn the_cursor_of_an_answer_leads_to_the_next() {
    let (folder, data) = folder();
    let asked = ["--limit", "1", "nccl", "timeout"];
    let (first, cursor) = first_and_next(&search(&data, &asked).1);
    let (code, text, _) = search(&data, &[&asked[..], &["--cursor", &cursor]].concat());
    assert_eq!(code, Some(0));
    let (second, _) = first_and_next(&text);
    assert_ne!(first, second);
    let server = Server::start(&["--data-dir", &data], &folder.path().join("log"));
    let there = ["--server", &server.url, "--cursor", &cursor];
    let (code, text, why) = search(&data, &[&asked[..], &there].concat());
    assert_eq!((code, first_and_next(&text).0), (Some(0), second), "{why}");
    let (code, _, why) = search(&data, &["--cursor", "nonsense", "nccl"]);
    assert!(code == Some(2) && why.contains("cursor"), "{why}");
}

#[test]
fn a_language_that_an_answer_does_not_have_is_refused_with_the_reason() {
    let (_folder, data) = folder();
    for command in [&["search", "Xid 79"][..], &["match", "--text", "Xid 79"]] {
        let ask = |lang: &str| {
            let mut asked = peerless();
            asked.args(command).args(["--data-dir", &data, "--lang", lang]);
            asked.output().unwrap()
        };
        assert!(ask("en").status.success(), "{command:?}");
        let refused = ask("zh");
        assert_eq!(refused.status.code(), Some(64));
        let why = String::from_utf8(refused.stderr).unwrap();
        assert!(why.contains("peerless record --lang zh ID"), "{why}");
    }
}

#[test]
fn a_server_gives_the_same_hits() {
    let (folder, data) = folder();
    let here = search(&data, &["Xid", "79"]);
    let server = Server::start(&["--data-dir", &data], &folder.path().join("log"));
    let address = server.url.clone();
    let there = search(&data, &["--server", &address, "Xid", "79"]);
    assert_eq!(there, here);
    let (code, json, _) = search(&data, &["--server", &address, "--json", "--domain", "xid", "bus"]);
    assert_eq!(code, Some(0));
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["hits"][0]["id"], FOUND);
    let (code, _, why) = search(&data, &["--server", "http://127.0.0.1:1", "x"]);
    assert_eq!(code, Some(2), "{why}");
}

//! A database without records is no reason to answer "no known error": the records that ship with the program are at hand.

use std::io::Write as _;
use std::process::{Output, Stdio};

use serde_json::json as object;

use crate::mcp::{call, over_pipes};
use crate::process::{folder, peerless, run};
use crate::records::document;

const LINE: &str =
    "NVRM: Xid (PCI:0000:91:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";
const RECORD: &str = "xid/79-gpu-has-fallen-off-the-bus";

fn matched(data: &str) -> Output {
    matched_with(&["--data-dir", data])
}

fn matched_with(arguments: &[&str]) -> Output {
    let mut command = peerless();
    command.args(["match", "-"]).args(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(LINE.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn knows_what_ships(data: &str) {
    let found = matched(data);
    assert_eq!(found.status.code(), Some(0), "{found:?}");
    assert!(String::from_utf8_lossy(&found.stdout).contains(RECORD));
    let read = run(&["record", RECORD, "--data-dir", data]);
    assert_eq!(read.status.code(), Some(0), "{read:?}");
    let hits = run(&["search", "fallen off the bus", "--data-dir", data]);
    assert_eq!(hits.status.code(), Some(0), "{hits:?}");
    assert!(String::from_utf8_lossy(&hits.stdout).contains(RECORD), "{hits:?}");
}

/// The same of the tools for models.
async fn models_know_what_ships(data: &str) {
    let (mut child, client) = over_pipes(data, None).await;
    let (_, found) = call(&client, "match", object!({"text": LINE})).await;
    assert_eq!(found["root_cause"], RECORD);
    let (_, found) = call(&client, "search", object!({"query": "fallen off the bus"})).await;
    assert_eq!(found["hits"][0]["id"], RECORD, "{found}");
    client.cancel().await.unwrap();
    assert!(child.wait().await.unwrap().success());
}

#[tokio::test]
async fn a_database_with_a_token_alone_does_not_hide_what_ships() {
    let (_folder, data) = folder();
    let create = [
        "token",
        "create",
        "--name",
        "me",
        "--scope",
        "report",
        "--data-dir",
        &data,
    ];
    let refused = run(&create);
    assert_eq!(refused.status.code(), Some(1));
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(why.contains("peerless.db") && why.contains("--init"), "{why}");
    let made = run(&[&create[..], &["--init"]].concat());
    assert!(made.status.success(), "{made:?}");
    assert!(String::from_utf8_lossy(&made.stderr).contains("peerless.db"));
    knows_what_ships(&data);
    models_know_what_ships(&data).await;
}

#[tokio::test]
async fn a_migrated_database_does_not_hide_what_ships() {
    let (_folder, data) = folder();
    assert!(run(&["migrate", "--data-dir", &data]).status.success());
    knows_what_ships(&data);
    models_know_what_ships(&data).await;
}

#[test]
fn an_import_into_a_new_database_brings_what_ships_unless_told_not_to() {
    let (folder, data) = folder();
    let own = folder.path().join("own/cuda");
    std::fs::create_dir_all(&own).unwrap();
    let text = document("cuda/own-record", "CUDA error: my own failure 4711");
    std::fs::write(own.join("own-record.json"), text).unwrap();
    let own = folder.path().join("own").to_string_lossy().into_owned();
    let imported = run(&["import", &own, "--data-dir", &data]);
    let said = String::from_utf8_lossy(&imported.stdout).into_owned();
    assert!(
        imported.status.success() && said.contains("--without-shipped"),
        "{said}"
    );
    knows_what_ships(&data);

    let alone = folder.path().join("alone").to_string_lossy().into_owned();
    let imported = run(&["import", &own, "--data-dir", &alone, "--without-shipped"]);
    assert!(imported.status.success(), "{imported:?}");
    let found = matched_with(&["--data-dir", &alone, "--without-shipped"]);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
}

#[test]
fn a_database_that_was_never_served_has_what_ships_beside_its_own_records() {
    let (folder, data) = folder();
    let own = folder.path().join("own/local");
    std::fs::create_dir_all(&own).unwrap();
    let text = document("local/own-record", "CUDA error: my own failure 4711");
    std::fs::write(own.join("own-record.json"), text).unwrap();
    let own = folder.path().join("own").to_string_lossy().into_owned();
    let imported = run(&["import", &own, "--data-dir", &data, "--without-shipped"]);
    assert!(imported.status.success(), "{imported:?}");
    let found = matched(&data);
    assert_eq!(found.status.code(), Some(0), "{found:?}");
    let told = String::from_utf8_lossy(&found.stderr).into_owned();
    assert!(told.contains("no server brought the records"), "{told}");
    let read = run(&["record", "local/own-record", "--data-dir", &data]);
    assert_eq!(read.status.code(), Some(0), "{read:?}");
    let left_out = run(&["record", RECORD, "--data-dir", &data, "--without-shipped"]);
    assert_eq!(left_out.status.code(), Some(1), "{left_out:?}");
}

#[tokio::test]
async fn a_withdrawn_record_stays_withdrawn_where_records_are_moved_to() {
    use peerless::store::{ConnectOptions, connect};
    let (folder, data) = folder();
    let own = folder.path().join("own").to_string_lossy().into_owned();
    let seed = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../kb-seed/xid");
    std::fs::create_dir_all(format!("{own}/xid")).unwrap();
    for end in ["json", "ext.json"] {
        let name = format!("{RECORD}.{end}");
        let name = name.strip_prefix("xid/").unwrap();
        std::fs::copy(seed.join(name), format!("{own}/xid/{name}")).unwrap();
    }
    assert!(
        run(&["import", &own, "--data-dir", &data, "--without-shipped"])
            .status
            .success()
    );
    let store = connect(&format!("{data}/peerless.db"), &ConnectOptions::default())
        .await
        .unwrap();
    let id = RECORD.parse().unwrap();
    store
        .withdraw(&id, &peerless::store::By::system("me"), crate::test_app::NOW)
        .await
        .unwrap();
    drop(store);

    let exported = run(&["export", "--data-dir", &data]);
    let file = folder.path().join("records.ndjson");
    std::fs::write(&file, exported.stdout).unwrap();
    let there = folder.path().join("there").to_string_lossy().into_owned();
    let imported = run(&["import", &file.to_string_lossy(), "--data-dir", &there]);
    let said = String::from_utf8_lossy(&imported.stdout).into_owned();
    assert!(
        said.contains(&format!("withdrawn, as where it was exported: {RECORD}")),
        "{said}"
    );
    // What ships came after it, and did not bring it back.
    let found = matched(&there);
    assert!(
        !String::from_utf8_lossy(&found.stdout).contains(&format!("{RECORD}  r")),
        "{found:?}"
    );
    let store = connect(&format!("{there}/peerless.db"), &ConnectOptions::default())
        .await
        .unwrap();
    let status = store.status(&id).await.unwrap().unwrap();
    assert_eq!(status.state, peerless::store::RecordState::Withdrawn);
}

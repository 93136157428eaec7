//! What `peerless export DIR` and `peerless import DIR` refuse to do, so that nothing is lost.

use std::fs;

use peerless::store::{By, ConnectOptions, Expected, NewRevision, connect};

use crate::process::run;
use crate::round_trip::{ANNEX, CAUSE, Setting, bytes, made, out, published, shown, write};
use crate::test_app::NOW;

#[tokio::test]
async fn a_database_that_never_published_a_record_takes_no_files_away() {
    let setting = Setting::of(&["local/a", "local/b"]);
    let files = bytes(&setting.records);
    let records = shown(&setting.records);
    let other = format!("{}-other", setting.data);
    let alone = setting.records.with_file_name("alone");
    write(&alone, "local/c", &made("local/c"), ANNEX);
    let brought = run(&[
        "import",
        &shown(&alone),
        "--data-dir",
        &other,
        "--without-shipped",
    ]);
    assert!(brought.status.success(), "{}", out(&brought));
    // The other database has a draft of one, and nothing of the other.
    let store = connect(&format!("{other}/peerless.db"), &ConnectOptions::default())
        .await
        .unwrap();
    let draft = NewRevision {
        id: "local/a".parse().unwrap(),
        document: made("local/a").replace(CAUSE, "draft"),
        annex: ANNEX.to_owned(),
        expected: Expected::Absent,
        by: By::system("editor"),
        note: None,
        at: NOW,
    };
    store.save_head(draft).await.unwrap();
    for arguments in [&[][..], &["--overwrite"]] {
        let exported = run(&[&["export", &records, "--data-dir", &other], arguments].concat());
        let told = out(&exported);
        assert!(exported.status.success(), "{told}");
        for id in ["local/a", "local/b"] {
            let kept = format!("kept: {id}: it is not published in the database");
            assert!(told.contains(&kept), "{told}");
        }
    }
    let import = |arguments: &[&str]| run(&[&["import", &records, "--data-dir", &other], arguments].concat());
    let taken = import(&["--take-database", "local/a", "--take-database", "local/b"]);
    let told = out(&taken);
    assert_eq!(taken.status.code(), Some(1), "{told}");
    assert!(told.contains("`peerless publish local/a`"), "{told}");
    assert!(
        told.contains("conflict: local/b: the database never had it"),
        "{told}"
    );
    assert!(
        told.contains(&format!(
            "  peerless import {records} --data-dir {other} --take-folder local/b\n"
        )),
        "{told}"
    );
    assert!(!told.contains("--take-database local/b"), "{told}");
    for (name, text) in files {
        assert_eq!(bytes(&setting.records)[&name], text, "{name}");
    }
}

#[tokio::test]
async fn an_empty_folder_withdraws_nothing() {
    let setting = Setting::of(&["local/a", "local/b"]);
    let store = setting.store().await;
    for id in ["local/a", "local/b"] {
        setting.remove_file(id);
    }
    let refused = setting.import(&["--prune"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        out(&refused).contains("holds none of its 2 records"),
        "{}",
        out(&refused)
    );
    assert!(published(store.as_ref(), "local/a").await.is_some());
    let asked = setting.import(&["--take-folder", "local/a"]);
    assert!(asked.status.success(), "{}", out(&asked));
    assert_eq!(published(store.as_ref(), "local/a").await, None);
}

#[test]
fn a_new_database_that_refuses_a_record_is_no_success() {
    let setting = Setting::of(&["local/a", "local/b"]);
    let records = shown(&setting.records);
    for (from, to) in [
        ("zorgblat locala went missing", "widget error"),
        ("\"regex\": \"widget error\"", "\"regex\": \"(?i)error\""),
        ("\"domain\": \"local\"", "\"domain\": \"cuda\""),
    ] {
        setting.edit_file("local/a", from, to);
    }
    let other = format!("{}-other", setting.data);
    let import = |arguments: &[&str]| {
        let call = ["import", &records, "--data-dir", &other, "--without-shipped"];
        run(&[&call, arguments].concat())
    };
    let senseless = import(&["--take-database", "local/a"]);
    assert_eq!(senseless.status.code(), Some(1), "{}", out(&senseless));
    let told = out(&senseless);
    assert!(told.contains("the database is new"), "{told}");
    let refused = import(&[]);
    let told = out(&refused);
    assert_eq!(refused.status.code(), Some(1), "{told}");
    assert!(told.contains("not published: local/a"), "{told}");
}

#[test]
fn a_scope_is_written_so_that_it_is_read_again_or_not_at_all() {
    let text = made("local/a").replace("\"domain\": \"local\"", "\"domain\": \"a b\"");
    let setting = Setting::new(&[("local/a", &text, ANNEX)]);
    let folder = setting.records.with_file_name("only");
    let only = shown(&folder);
    let export =
        |arguments: &[&str]| run(&[&["export", &only, "--data-dir", &setting.data], arguments].concat());
    for name in ["", " a", "a\nb"] {
        let refused = export(&["--domain", name]);
        assert_eq!(refused.status.code(), Some(64), "{}", out(&refused));
    }
    let none = export(&["--namespace", "nobody"]);
    assert_eq!(none.status.code(), Some(1), "{}", out(&none));
    assert!(!folder.join("peerless.manifest").try_exists().unwrap());
    for _ in 0..2 {
        let exported = export(&["--domain", "a b"]);
        assert!(exported.status.success(), "{}", out(&exported));
    }
    let manifest = fs::read_to_string(folder.join("peerless.manifest")).unwrap();
    assert!(manifest.contains("\ndomain a b\n"), "{manifest}");
}

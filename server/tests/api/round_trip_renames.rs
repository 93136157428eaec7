//! Files with a new name: the record gets the new id, or stays as it was.

use kb_core::ids::RecordId;
use peerless::store::{RecordState, RecordStatus, Store};

use crate::round_trip::{ANNEX, CAUSE, Setting, out, published, write};

const OLD: &str = "local/old-name";
const NEW: &str = "local/new-name";

/// Moves the files, with the id in the document, and changes the text.
fn move_files(setting: &Setting, changes: &[(&str, &str)]) {
    let mut text = setting.file(OLD).unwrap().replace(OLD, NEW);
    for (from, to) in changes {
        assert!(text.contains(from), "{from}: {text}");
        text = text.replace(from, to);
    }
    setting.remove_file(OLD);
    write(&setting.records, NEW, &text, ANNEX);
}

async fn status(store: &dyn Store, id: &str) -> Option<RecordStatus> {
    store.status(&id.parse().unwrap()).await.unwrap()
}

#[tokio::test]
async fn files_with_a_new_name_rename_the_record() {
    let setting = Setting::of(&[OLD, "local/stays"]);
    let store = setting.store().await;
    move_files(&setting, &[]);
    // Without --prune nothing is taken away, and nothing is published twice.
    let held = setting.import(&[]);
    let told = out(&held);
    assert_eq!(held.status.code(), Some(1), "{told}");
    assert!(
        told.contains(&format!("--prune gives the record that id: {OLD} to {NEW}")),
        "{told}"
    );
    assert!(published(store.as_ref(), OLD).await.is_some());
    assert_eq!(status(store.as_ref(), NEW).await, None);

    let would = setting.import(&["--prune", "--dry-run"]);
    let told = out(&would);
    assert!(would.status.success(), "{told}");
    assert!(told.contains(&format!("would rename: {OLD} to {NEW}")), "{told}");
    assert!(
        !told.contains("would withdraw") && !told.contains("would add"),
        "{told}"
    );
    assert!(published(store.as_ref(), OLD).await.is_some());

    let done = setting.import(&["--prune"]);
    let told = out(&done);
    assert!(done.status.success(), "{told}");
    assert!(told.contains(&format!("renamed: {OLD} to {NEW} r1")), "{told}");
    assert_eq!(published(store.as_ref(), NEW).await, setting.file(NEW));
    // The former address leads on.
    let leads = store.resolve_alias(OLD).await.unwrap();
    assert_eq!(leads.as_ref().map(RecordId::as_str), Some(NEW));
    let again = out(&setting.import(&["--prune"]));
    assert!(again.contains("nothing to do"), "{again}");
    assert!(setting.export(&[]).status.success());
    assert_eq!(setting.file(OLD), None);
}

#[tokio::test]
async fn a_record_that_the_gate_refuses_under_its_new_id_stays_as_it_was() {
    let setting = Setting::of(&[OLD, "local/stays"]);
    let store = setting.store().await;
    let before = published(store.as_ref(), OLD).await;
    let signature = "\"regex\": \"zorgblat localoldname went missing\"";
    move_files(
        &setting,
        &[
            (signature, "\"regex\": \"(?i)error\""),
            ("\"domain\": \"local\"", "\"domain\": \"cuda\""),
        ],
    );
    for arguments in [&["--prune", "--dry-run"][..], &["--prune"], &["--prune"]] {
        let refused = setting.import(arguments);
        let told = out(&refused);
        assert_eq!(refused.status.code(), Some(1), "{told}");
        assert!(told.contains(&format!("not published: {NEW}: gate/")), "{told}");
        assert!(
            told.contains(&format!("not renamed, readers see it as before: {OLD}")),
            "{told}"
        );
        assert!(!told.contains("withdrawn"), "{told}");
        assert_eq!(published(store.as_ref(), OLD).await, before);
        assert_eq!(status(store.as_ref(), NEW).await, None);
    }
    setting.edit_file(NEW, "(?i)error", "zorgblat localoldname went astray");
    let mended = setting.import(&["--prune"]);
    assert!(mended.status.success(), "{}", out(&mended));
    assert_eq!(published(store.as_ref(), NEW).await, setting.file(NEW));
    assert_eq!(published(store.as_ref(), OLD).await, None);
    assert!(store.resolve_alias(OLD).await.unwrap().is_some());
}

#[tokio::test]
async fn a_draft_under_the_new_id_takes_the_place_of_the_record() {
    let setting = Setting::of(&[OLD, "local/stays"]);
    let store = setting.store().await;
    move_files(&setting, &[(CAUSE, "a cause that somebody found")]);
    // Beside the record that it is a copy of it may not stand.
    let refused = setting.import(&[]);
    assert!(
        out(&refused).contains(&format!("kept as a draft: {NEW}")),
        "{}",
        out(&refused)
    );
    assert!(published(store.as_ref(), OLD).await.is_some());
    let done = setting.import(&["--prune"]);
    assert!(done.status.success(), "{}", out(&done));
    assert_eq!(published(store.as_ref(), NEW).await, setting.file(NEW));
    let old = status(store.as_ref(), OLD).await.unwrap();
    assert_eq!(old.state, RecordState::Withdrawn);
    assert_eq!(old.replaced_by.as_ref().map(RecordId::as_str), Some(NEW));
}

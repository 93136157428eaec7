//! Records out to a folder and back: `peerless export DIR` and `peerless import DIR`, with changes on either side and on both.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use peerless::store::{
    By, ConnectOptions, Expected, NewRevision, Publish, RecordState, Saved, Store, connect,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;

use crate::process::{folder, run};
use crate::records::document;
use crate::test_app::NOW;

pub const CAUSE: &str = "made for a test";
pub const CATEGORY: &str = "runtime_error";
pub const ANNEX: &str = "{\"schema_version\": 1}\n";

/// A database with these records, and the folder that they were exported to.
pub struct Setting {
    _folder: TempDir,
    pub data: String,
    pub records: PathBuf,
}

impl Setting {
    pub fn new(texts: &[(&str, &str, &str)]) -> Self {
        let (folder, data) = folder();
        let own = folder.path().join("own");
        for (id, document, annex) in texts {
            write(&own, id, document, annex);
        }
        let brought = run(&["import", &shown(&own), "--data-dir", &data, "--without-shipped"]);
        assert!(brought.status.success(), "{}", out(&brought));
        let records = folder.path().join("records");
        let setting = Self {
            _folder: folder,
            data,
            records,
        };
        let exported = setting.export(&[]);
        assert!(exported.status.success(), "{}", out(&exported));
        setting
    }

    /// Records that differ in their words.
    pub fn of(ids: &[&str]) -> Self {
        let texts: Vec<String> = ids.iter().map(|id| made(id)).collect();
        let texts = ids
            .iter()
            .zip(&texts)
            .map(|(id, text)| (*id, text.as_str(), ANNEX));
        Self::new(&texts.collect::<Vec<_>>())
    }

    pub fn call(&self, command: &str, arguments: &[&str]) -> Output {
        let records = shown(&self.records);
        run(&[&[command, &records, "--data-dir", &self.data], arguments].concat())
    }

    pub fn export(&self, arguments: &[&str]) -> Output {
        self.call("export", arguments)
    }

    pub fn import(&self, arguments: &[&str]) -> Output {
        self.call("import", arguments)
    }

    pub fn file(&self, id: &str) -> Option<String> {
        fs::read_to_string(self.records.join(format!("{id}.json"))).ok()
    }

    pub fn edit_file(&self, id: &str, from: &str, to: &str) {
        let text = self.file(id).unwrap().replace(from, to);
        fs::write(self.records.join(format!("{id}.json")), text).unwrap();
    }

    pub fn remove_file(&self, id: &str) {
        for end in ["json", "ext.json"] {
            fs::remove_file(self.records.join(format!("{id}.{end}"))).unwrap();
        }
    }

    pub async fn store(&self) -> std::sync::Arc<dyn Store> {
        let database = format!("{}/peerless.db", self.data);
        connect(&database, &ConnectOptions::default()).await.unwrap()
    }
}

pub fn write(folder: &Path, id: &str, document: &str, annex: &str) {
    let file = folder.join(format!("{id}.json"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, document).unwrap();
    fs::write(folder.join(format!("{id}.ext.json")), annex).unwrap();
}

pub fn made(id: &str) -> String {
    let word: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{}\n", document(id, &format!("zorgblat {word} went missing")))
}

pub fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub fn out(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// All files below a folder with their bytes.
pub fn bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    peerless::bundle::read_files(folder).unwrap()
}

/// What readers see of a record.
pub async fn published(store: &dyn Store, id: &str) -> Option<String> {
    let id = id.parse().unwrap();
    let status = store.status(&id).await.unwrap()?;
    if status.state != RecordState::Published {
        return None;
    }
    let texts = store.revision(&id, status.published?).await.unwrap();
    texts.map(|texts| texts.document)
}

/// Changes a record in the database; a draft is not published.
pub async fn edit(store: &dyn Store, id: &str, (from, to): (&str, &str), publish: bool) {
    let id: kb_core::ids::RecordId = id.parse().unwrap();
    let head = store.status(&id).await.unwrap().unwrap().head;
    let texts = store.revision(&id, head).await.unwrap().unwrap();
    let saved = store
        .save_head(NewRevision {
            id: id.clone(),
            document: texts.document.replace(from, to),
            annex: texts.annex,
            expected: Expected::Head(head),
            by: By::system("editor"),
            note: None,
            at: NOW,
        })
        .await
        .unwrap();
    let (true, Saved::Saved(revision)) = (publish, saved) else {
        return;
    };
    let publish = Publish {
        id,
        revision,
        by: By::system("editor"),
        after: None,
        forced: None,
        reason: None,
        at: NOW,
    };
    store.publish(publish).await.unwrap();
}

#[test]
fn what_is_exported_and_imported_again_is_the_same_byte_for_byte() {
    let text = "[ -~äöü对等访问\u{200b}]{0,40}";
    let record = (text, vec(text, 0..4), 0..4_usize, any::<bool>(), any::<bool>());
    let mut runner = TestRunner::new(Config::with_cases(3));
    let all = runner.run(&vec(record, 12), |records| {
        let mut texts = Vec::new();
        for (number, (cause, extra, indent, windows, ends)) in records.into_iter().enumerate() {
            let id = format!("local/r{number}");
            let mut document: serde_json::Value = serde_json::from_str(&made(&id)).unwrap();
            document["root_cause"] = format!("cause {cause}").into();
            document["a key of theirs"] = extra.into();
            let indent = " ".repeat(indent);
            let mut out = Vec::new();
            let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
            let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
            serde::Serialize::serialize(&document, &mut serializer).unwrap();
            let mut document = String::from_utf8(out).unwrap();
            if windows {
                document = document.replace('\n', "\r\n");
            }
            if ends {
                document.push('\n');
            }
            texts.push((
                id,
                document,
                format!("{{ \"schema_version\" :1 }}{}", "\n".repeat(number % 3)),
            ));
        }
        let texts: Vec<_> = texts
            .iter()
            .map(|(id, document, annex)| (id.as_str(), document.as_str(), annex.as_str()))
            .collect();
        let setting = Setting::new(&texts);
        let files = bytes(&setting.records);
        prop_assert_eq!(files.len(), 24);
        for (id, document, annex) in texts {
            prop_assert_eq!(&files[&format!("{id}.json")], document.as_bytes());
            prop_assert_eq!(&files[&format!("{id}.ext.json")], annex.as_bytes());
        }
        let manifest = fs::read_to_string(setting.records.join("peerless.manifest")).unwrap();
        for command in ["import", "export"] {
            let done = setting.call(command, &[]);
            prop_assert!(done.status.success(), "{}", out(&done));
            prop_assert_eq!(&bytes(&setting.records), &files);
        }
        let now = fs::read_to_string(setting.records.join("peerless.manifest")).unwrap();
        prop_assert_eq!(now, manifest);
        // Into another database, which knows nothing of it.
        let other = format!("{}-other", setting.data);
        let records = shown(&setting.records);
        let brought = run(&["import", &records, "--data-dir", &other, "--without-shipped"]);
        prop_assert!(brought.status.success(), "{}", out(&brought));
        let there = setting.records.with_file_name("there");
        let exported = run(&["export", &shown(&there), "--data-dir", &other]);
        prop_assert!(exported.status.success(), "{}", out(&exported));
        prop_assert_eq!(&bytes(&there), &files);
        Ok(())
    });
    all.unwrap();
}

#[tokio::test]
async fn removed_files_withdraw_nothing_unless_asked_and_a_moved_record_is_not_held_against_itself() {
    let setting = Setting::of(&["local/old-name", "local/stays"]);
    let store = setting.store().await;
    let moved = setting
        .file("local/old-name")
        .unwrap()
        .replace("local/old-name", "local/new-name");
    setting.remove_file("local/old-name");
    let kept = setting.import(&[]);
    assert!(
        kept.status.success() && out(&kept).contains("--prune"),
        "{}",
        out(&kept)
    );
    assert!(published(store.as_ref(), "local/old-name").await.is_some());
    let told = out(&setting.export(&[]));
    assert!(told.contains("kept: local/old-name"), "{told}");
    assert_eq!(setting.file("local/old-name"), None);

    write(&setting.records, "local/new-name", &moved, ANNEX);
    let renamed = setting.import(&["--prune"]);
    assert!(renamed.status.success(), "{}", out(&renamed));
    assert_eq!(published(store.as_ref(), "local/old-name").await, None);
    assert_eq!(published(store.as_ref(), "local/new-name").await, Some(moved));
}

#[tokio::test]
async fn what_the_gate_refuses_becomes_a_draft_and_is_asked_again() {
    let setting = Setting::of(&["local/a", "local/b"]);
    let store = setting.store().await;
    let before = published(store.as_ref(), "local/a").await;
    // Common words count where a line is about CUDA, and lines of healthy runs are.
    for (from, to) in [
        ("zorgblat locala went missing", "widget error"),
        ("\"regex\": \"widget error\"", "\"regex\": \"(?i)error\""),
        ("\"domain\": \"local\"", "\"domain\": \"cuda\""),
    ] {
        setting.edit_file("local/a", from, to);
    }
    setting.edit_file("local/b", CAUSE, "another cause");
    for _ in 0..2 {
        let refused = setting.import(&[]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(
            out(&refused).contains("kept as a draft: local/a r2"),
            "{}",
            out(&refused)
        );
        assert_eq!(published(store.as_ref(), "local/a").await, before);
    }
    assert!(
        published(store.as_ref(), "local/b")
            .await
            .unwrap()
            .contains("another cause")
    );
    for from in ["(?i)error", "widget error"] {
        setting.edit_file("local/a", from, "zorgblat locala went astray");
    }
    let mended = setting.import(&[]);
    assert!(mended.status.success(), "{}", out(&mended));
    assert!(
        published(store.as_ref(), "local/a")
            .await
            .unwrap()
            .contains("astray")
    );
}

#[test]
fn a_folder_keeps_to_its_records_and_to_what_was_changed_in_it() {
    let setting = Setting::of(&["local/a", "local/b", "other/c"]);
    let folder = setting.records.with_file_name("only");
    let only = shown(&folder);
    let export =
        |arguments: &[&str]| run(&[&["export", &only, "--data-dir", &setting.data], arguments].concat());
    assert!(export(&["--namespace", "local"]).status.success());
    assert!(export(&[]).status.success());
    let names: Vec<String> = bytes(&folder).into_keys().collect();
    assert_eq!(
        names,
        [
            "local/a.ext.json",
            "local/a.json",
            "local/b.ext.json",
            "local/b.json"
        ]
    );
    let refused = export(&["--domain", "other"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        out(&refused).contains("has the namespace local"),
        "{}",
        out(&refused)
    );

    fs::write(folder.join("local/a.json"), "changed").unwrap();
    let kept = out(&export(&[]));
    assert!(kept.contains("kept: local/a"), "{kept}");
    assert_eq!(bytes(&folder)["local/a.json"], b"changed");
    assert!(export(&["--overwrite"]).status.success());
    assert_eq!(bytes(&folder)["local/a.json"], made("local/a").as_bytes());

    let domain = shown(&folder.with_file_name("domain"));
    let exported = run(&[
        "export",
        &domain,
        "--domain",
        "other",
        "--data-dir",
        &setting.data,
    ]);
    assert!(exported.status.success(), "{}", out(&exported));
    let names: Vec<String> = bytes(Path::new(&domain)).into_keys().collect();
    assert_eq!(names, ["other/c.ext.json", "other/c.json"]);
}

#[test]
fn a_call_that_makes_no_sense_changes_nothing() {
    let setting = Setting::of(&["local/a"]);
    for (arguments, said) in [
        (
            &["--take-folder", "local/unknown"][..],
            "neither has nor had a record local/unknown",
        ),
        (
            &["--take-folder", "local/a", "--take-database", "local/a"],
            "both name local/a",
        ),
    ] {
        let refused = setting.import(arguments);
        assert_eq!(refused.status.code(), Some(1), "{}", out(&refused));
        assert!(out(&refused).contains(said), "{}", out(&refused));
    }
    setting.edit_file("local/a", &format!("\"{CAUSE}\""), "null");
    let broken = setting.import(&[]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(out(&broken).contains("nothing was imported"), "{}", out(&broken));

    let manifest = setting.records.join("peerless.manifest");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, format!("{text}<<<<<<< HEAD\n")).unwrap();
    let torn = out(&setting.import(&[]));
    assert!(torn.contains("peerless.manifest: line 5"), "{torn}");
    fs::remove_file(&manifest).unwrap();
    let without = setting.import(&["--prune"]);
    assert_eq!(without.status.code(), Some(1));
    assert!(
        out(&without).contains("no peerless.manifest"),
        "{}",
        out(&without)
    );
}

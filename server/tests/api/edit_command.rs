//! `peerless new`, `edit` and `publish` with an editor that is a program.

use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::process::{folder, peerless, run};

const RECORD: &str = "cuda/made-for-a-test";

/// A database with one record, made and published on the command line alone.
fn with_record() -> (TempDir, String) {
    let (folder, data) = folder();
    let init = run(&["migrate", "--data-dir", &data]);
    assert!(init.status.success(), "{init:?}");
    let document = crate::records::document(RECORD, "made for a test");
    let editor = script(
        folder.path(),
        "first",
        &format!("cat > \"$1\" <<'END'\n{document}\nEND"),
    );
    let made = call(&data, &editor, &["new", RECORD, "--note", "begun"]);
    assert!(made.status.success(), "{made:?}");
    (folder, data)
}

/// A program that changes the files that it is given.
fn script(folder: &Path, name: &str, what: &str) -> String {
    let file = folder.join(name);
    std::fs::write(&file, format!("set -e\n{what}\n")).unwrap();
    format!("sh {}", file.display())
}

fn call(data: &str, editor: &str, arguments: &[&str]) -> Output {
    let mut command = peerless();
    command.args(arguments).args(["--data-dir", data]);
    command
        .env_remove("VISUAL")
        .env("EDITOR", editor)
        .output()
        .unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[test]
fn a_record_is_made_changed_and_published_on_a_terminal() {
    let (folder, data) = with_record();
    let again = call(&data, "true", &["new", RECORD]);
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    let unchanged = call(&data, "true", &["edit", RECORD]);
    assert!(out(&unchanged).contains("nothing was changed"), "{unchanged:?}");
    let editor = script(
        folder.path(),
        "sed",
        "sed -i 's/runtime_error/system_error/' \"$1\"",
    );
    let edited = call(&data, &editor, &["edit", RECORD]);
    assert!(out(&edited).contains("r2 is saved"), "{edited:?}");
    let published = call(&data, "true", &["publish", RECORD]);
    assert!(published.status.success(), "{published:?}");
    let shown = run(&["record", "--json", RECORD, "--data-dir", &data]);
    assert!(out(&shown).contains("system_error"), "{shown:?}");
}

#[test]
fn what_is_refused_is_told_and_kept() {
    let (folder, data) = with_record();
    let editor = script(folder.path(), "break", "sed -i 's/made for a test/ /' \"$1\"");
    let refused = call(&data, &editor, &["edit", RECORD]);
    assert_eq!(refused.status.code(), Some(1));
    let told = out(&refused);
    assert!(told.contains("error: document /"), "{told}");
    let (_, kept) = told.split_once("what you wrote is in ").unwrap();
    let (kept, again) = kept.split_once(';').unwrap();
    let kept = Path::new(kept);
    assert!(kept.join("made-for-a-test.json").is_file(), "{told}");
    let again = again.lines().last().unwrap();
    assert_eq!(
        again.trim(),
        format!(
            "peerless edit {RECORD} --data-dir {data} --from {}",
            kept.display()
        )
    );
    // What was kept is mended, as that line says.
    let mend = script(
        folder.path(),
        "mend",
        r#"sed -i 's/": " "/": "made again"/' "$1""#,
    );
    let mended = call(&data, &mend, &["edit", RECORD, "--from", &kept.to_string_lossy()]);
    assert!(
        out(&mended).contains("r2 is saved as a draft"),
        "{}",
        out(&mended)
    );
    std::fs::remove_dir_all(kept).unwrap();
    let failed = call(&data, "false", &["edit", RECORD]);
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
}

#[test]
fn who_mistypes_an_id_is_told_the_one_that_is_near() {
    let (_folder, data) = with_record();
    let published = call(&data, "true", &["publish", RECORD]);
    assert!(published.status.success(), "{published:?}");
    let told = call(&data, "true", &["edit", "cuda/made-for-test"]);
    assert_eq!(told.status.code(), Some(1));
    assert!(
        out(&told).contains(&format!("near it: {RECORD}; to begin it: peerless new")),
        "{}",
        out(&told)
    );
}

#[test]
fn a_new_record_holds_every_key_so_that_only_texts_are_asked_for() {
    let (folder, data) = with_record();
    let editor = script(
        folder.path(),
        "fill",
        "sed -i 's/: \"\"/: \"a text of a test\"/' \"$1\"",
    );
    let made = call(&data, &editor, &["new", "cuda/another-one"]);
    assert!(made.status.success(), "{made:?}");
    assert!(!out(&made).contains("is missing"), "{}", out(&made));
    assert_eq!(out(&made).matches("warning").count(), 1, "{}", out(&made));
}

#[test]
fn a_change_that_came_meanwhile_is_merged() {
    let (folder, data) = with_record();
    let bin = peerless();
    let inner = script(
        folder.path(),
        "inner",
        "sed -i 's/runtime_error/system_error/' \"$1\"",
    );
    let outer = format!(
        "EDITOR='{inner}' {} edit {RECORD} --data-dir {data}\nsed -i 's/unverified/documented/' \"$1\"",
        bin.get_program().to_string_lossy()
    );
    let editor = script(folder.path(), "outer", &outer);
    let merged = call(&data, &editor, &["edit", RECORD]);
    assert!(merged.status.success(), "{merged:?}");
    assert!(
        out(&merged).contains("both changes are put together"),
        "{merged:?}"
    );
    assert!(out(&merged).contains("r3 is saved"), "{merged:?}");
}

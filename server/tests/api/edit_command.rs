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

/// The folder that was kept, and the call that goes on with it.
fn kept(told: &str) -> (&str, &str) {
    let (_, kept) = told.split_once("what you wrote is in ").unwrap();
    let (kept, again) = kept.split_once(';').unwrap();
    (kept, again.lines().last().unwrap())
}

/// The texts of the newest revision.
fn newest(folder: &TempDir, data: &str) -> String {
    let copy = folder.path().join("copy");
    let editor = script(
        folder.path(),
        "show",
        &format!("cat \"$1\" \"$2\" > '{}'", copy.display()),
    );
    let shown = call(data, &editor, &["edit", RECORD]);
    assert!(out(&shown).contains("nothing was changed"), "{shown:?}");
    std::fs::read_to_string(copy).unwrap()
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
    let (kept, again) = kept(&told);
    let kept = Path::new(kept);
    assert!(kept.join("made-for-a-test.json").is_file(), "{told}");
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

/// An editor during which somebody else saves what `theirs` makes of the document.
fn beside(folder: &TempDir, data: &str, theirs: &str, mine: &str) -> String {
    let inner = script(folder.path(), "theirs", &format!("sed -i '{theirs}' \"$1\""));
    let bin = peerless();
    let bin = bin.get_program().to_string_lossy();
    let both = format!("EDITOR='{inner}' {bin} edit {RECORD} --data-dir {data}\nsed -i '{mine}' \"$1\"");
    script(folder.path(), "both", &both)
}

#[test]
fn what_others_saved_after_a_refusal_is_not_undone() {
    let (folder, data) = with_record();
    let editor = script(
        folder.path(),
        "break",
        "sed -i 's/root_cause\": \"made for a test/root_cause\": \" /' \"$1\"",
    );
    let refused = call(&data, &editor, &["edit", RECORD]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let told = out(&refused);
    let theirs = script(
        folder.path(),
        "theirs",
        "sed -i 's/runtime_error/system_error/' \"$1\"",
    );
    let saved = call(&data, &theirs, &["edit", RECORD]);
    assert!(out(&saved).contains("r2 is saved"), "{saved:?}");
    let mend = script(
        folder.path(),
        "mend",
        r#"sed -i 's/": " "/": "made again"/' "$1""#,
    );
    let mended = call(&data, &mend, &["edit", RECORD, "--from", kept(&told).0]);
    assert!(
        out(&mended).contains("both changes are put together"),
        "{mended:?}"
    );
    assert!(out(&mended).contains("r3 is saved"), "{mended:?}");
    let newest = newest(&folder, &data);
    assert!(newest.contains("system_error"), "{newest}");
    assert!(newest.contains("made again"), "{newest}");
    std::fs::remove_dir_all(kept(&told).0).unwrap();
}

#[test]
fn after_a_conflict_the_files_have_all_else_that_others_saved() {
    let (folder, data) = with_record();
    let theirs = "s/runtime_error/system_error/; s/unverified/documented/";
    let mine = "s/runtime_error/hardware_error/; s/root_cause\": \"made/root_cause\": \"written/";
    let refused = call(&data, &beside(&folder, &data, theirs, mine), &["edit", RECORD]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let told = out(&refused);
    for said in [
        "r2 was saved meanwhile, and changed the same",
        "document /category",
        "theirs: \"system_error\"",
        "yours:  \"hardware_error\"",
    ] {
        assert!(told.contains(said), "{told}");
    }
    assert!(!told.contains("/verification_tier"), "{told}");
    let (first, again) = kept(&told);
    assert!(again.contains(" edit "), "{again}");
    let file = Path::new(first).join("made-for-a-test.json");
    let written = std::fs::read_to_string(file).unwrap();
    for text in ["hardware_error", "documented", "written for a test"] {
        assert!(written.contains(text), "{written}");
    }
    // Somebody saves once more before that line is followed.
    let theirs = script(
        folder.path(),
        "later",
        "sed -i 's/signature\": \"made/signature\": \"found/' \"$1\"",
    );
    let saved = call(&data, &theirs, &["edit", RECORD]);
    assert!(out(&saved).contains("r3 is saved"), "{saved:?}");
    let done = call(&data, "true", &["edit", RECORD, "--from", first]);
    assert!(out(&done).contains("r4 is saved"), "{}", out(&done));
    let newest = newest(&folder, &data);
    for text in [
        "hardware_error",
        "documented",
        "written for a test",
        "found for a test",
    ] {
        assert!(newest.contains(text), "{text}: {newest}");
    }
    std::fs::remove_dir_all(first).unwrap();
}

#[test]
fn who_begins_a_record_that_somebody_else_begins_goes_on_as_an_edit() {
    let (folder, data) = with_record();
    let id = "cuda/begun-twice";
    let inner = script(
        folder.path(),
        "theirs",
        "sed -i 's/: \"\"/: \"a text of theirs\"/' \"$1\"",
    );
    let bin = peerless();
    let bin = bin.get_program().to_string_lossy();
    let both = format!(
        "EDITOR='{inner}' {bin} new {id} --data-dir {data}\nsed -i 's/: \"\"/: \"a text of mine\"/' \"$1\""
    );
    let editor = script(folder.path(), "both", &both);
    let refused = call(&data, &editor, &["new", id]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let told = out(&refused);
    let (first, again) = kept(&told);
    assert!(
        again.trim().starts_with(&format!("peerless edit {id} ")),
        "{again}"
    );
    let new = call(&data, "true", &["new", id, "--from", first]);
    assert_eq!(new.status.code(), Some(1), "{new:?}");
    assert!(out(&new).contains(again.trim()), "{}", out(&new));
    let done = call(&data, "true", &["edit", id, "--from", first]);
    assert!(out(&done).contains("r2 is saved"), "{}", out(&done));
    std::fs::remove_dir_all(first).unwrap();
}

#[test]
fn a_folder_that_does_not_say_what_it_was_written_from_is_refused() {
    let (folder, data) = with_record();
    let editor = script(folder.path(), "break", "sed -i 's/made for a test/ /' \"$1\"");
    let told = out(&call(&data, &editor, &["edit", RECORD]));
    let first = Path::new(kept(&told).0);
    let base = first.join("written-from");
    let of_another = r#"{"id": "rccl/made-for-a-test", "revision": 1}"#;
    let of_the_future = format!(r#"{{"id": "{RECORD}", "revision": 7}}"#);
    for (written, said) in [
        (
            Some(of_another),
            "are of rccl/made-for-a-test, not of cuda/made-for-a-test",
        ),
        (Some("{}"), "must say which revision"),
        (Some(of_the_future.as_str()), "has no revision r7"),
        (None, "must say which revision"),
    ] {
        match written {
            Some(text) => std::fs::write(&base, text).unwrap(),
            None => std::fs::remove_file(&base).unwrap(),
        }
        let refused = call(
            &data,
            "true",
            &["edit", RECORD, "--from", &first.to_string_lossy()],
        );
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert!(out(&refused).contains(said), "{}", out(&refused));
    }
    std::fs::remove_dir_all(first).unwrap();
}

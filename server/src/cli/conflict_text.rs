//! A record that folder and database have differently, for whoever must decide: what both say, and how to take either.

use std::borrow::Cow;
use std::path::Path;

use kb_core::compare;
use kb_core::ids::RecordId;
use similar::TextDiff;

use super::edit::part_name;
use super::say;
use crate::config::DataArgs;
use crate::domain::round_trip::Conflict;
use crate::store::SeedRecord;

/// Texts of folder and database.
type Texts<'a> = (Option<&'a SeedRecord>, Option<&'a SeedRecord>);

/// `call` is the command that was given, without what it asked for of single records.
pub(super) fn tell_conflict(
    call: &str,
    id: &RecordId,
    why: Conflict,
    (fields, texts): (&[compare::Conflict], Texts<'_>),
) -> std::io::Result<()> {
    say(format_args!("conflict: {id}: {}", reason(why)))?;
    for field in fields {
        say(told(field))?;
    }
    if fields.is_empty() {
        say(differences(texts).trim_end())?;
    }
    say(format_args!("  {call} --take-folder {id}"))?;
    match why {
        Conflict::Absent => Ok(()),
        Conflict::Withdrawn => say(format_args!(
            "the next removes the files, for the record was withdrawn:\n  {call} --take-database {id}"
        )),
        _ if texts.1.is_some() => say(format_args!("  {call} --take-database {id}")),
        _ => say(format_args!(
            "or publish the draft first (`peerless publish {id}`), then:\n  {call} --take-database {id}"
        )),
    }
}

/// The call that imports this folder into this database, as a shell reads it. A password is not shown.
pub(super) fn import_call(path: &Path, data: &DataArgs) -> String {
    let mut call = format!("peerless import {}", quoted(&path.to_string_lossy()));
    if data.database.is_some() {
        call = format!("{call} --database {}", quoted(&data.shown()));
    } else if data.data_dir != Path::new("data") {
        call = format!("{call} --data-dir {}", quoted(&data.data_dir.to_string_lossy()));
    }
    call
}

/// A word of a command line.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+=,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
    }
}

fn reason(why: Conflict) -> String {
    match why {
        Conflict::Both => "folder and database changed the same".to_owned(),
        Conflict::Added => "folder and database have it, and it was never exported".to_owned(),
        Conflict::Draft(head) => format!("the folder changed it, and the database has a draft, {head}"),
        Conflict::Withdrawn => "the folder has it, and in the database it was withdrawn".to_owned(),
        Conflict::Removed => "its files were removed, and the database changed it or has a draft".to_owned(),
        Conflict::Absent => "the database never had it".to_owned(),
    }
}

/// A field that both changed.
fn told(field: &compare::Conflict) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
    format!(
        "  {} {}\n    before:   {}\n    folder:   {}\n    database: {}",
        part_name(field.part),
        field.pointer,
        value(&field.base),
        value(&field.mine),
        value(&field.theirs)
    )
}

/// Both texts, line by line, where it cannot be told by field.
fn differences((folder, database): Texts<'_>) -> String {
    let (Some(folder), Some(database)) = (folder, database) else {
        return match (folder, database) {
            (Some(only), None) => format!("  in the folder: {}{}", only.document, only.annex),
            (None, Some(only)) => format!("  in the database: {}{}", only.document, only.annex),
            _ => String::new(),
        };
    };
    let parts = [
        ("document", &database.document, &folder.document),
        ("annex", &database.annex, &folder.annex),
    ];
    let mut told = String::new();
    for (part, database, folder) in parts.into_iter().filter(|(_, one, other)| one != other) {
        let diff = TextDiff::from_lines(database.as_str(), folder.as_str());
        let (from, to) = (format!("database, {part}"), format!("folder, {part}"));
        told.push_str(&diff.unified_diff().header(&from, &to).to_string());
    }
    told
}

//! A record that a folder, or a bundle, and the database have differently, for whoever must decide: what both say, and how to take either.

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

/// What is held against the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    Folder,
    Bundle,
}

impl Beside {
    fn name(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::Bundle => "bundle",
        }
    }
}

/// Texts of folder or bundle, and of the database.
type Texts<'a> = (Option<&'a SeedRecord>, Option<&'a SeedRecord>);

/// `call` is the command that was given, without what it asked for of single records.
pub(super) fn tell_conflict(
    (call, beside): (&str, Beside),
    id: &RecordId,
    why: Conflict,
    (fields, texts): (&[compare::Conflict], Texts<'_>),
) -> std::io::Result<()> {
    say(format_args!("conflict: {id}: {}", reason(why, beside)))?;
    for field in fields {
        say(told(field, beside))?;
    }
    if fields.is_empty() {
        say(differences(texts, beside).trim_end())?;
    }
    say(format_args!("  {call} --take-{} {id}", beside.name()))?;
    match why {
        Conflict::Absent => Ok(()),
        Conflict::Withdrawn if beside == Beside::Bundle => Ok(()),
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
    call("import", path, data)
}

/// The same for another command.
pub(super) fn call(command: &str, path: &Path, data: &DataArgs) -> String {
    let mut call = format!("peerless {command} {}", quoted(&path.to_string_lossy()));
    if data.database.is_some() {
        call = format!("{call} --database {}", quoted(&data.shown()));
    } else if data.data_dir != Path::new("data") {
        call = format!("{call} --data-dir {}", quoted(&data.data_dir.to_string_lossy()));
    }
    call
}

/// A word of a command line.
pub(super) fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+=,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
    }
}

fn reason(why: Conflict, beside: Beside) -> String {
    let other = beside.name();
    match (why, beside) {
        (Conflict::Both, _) => format!("{other} and database changed the same"),
        (Conflict::Added, Beside::Folder) => {
            "folder and database have it, and it was never exported".to_owned()
        }
        (Conflict::Added, Beside::Bundle) => {
            "bundle and database have it, and the one here came from nowhere else".to_owned()
        }
        (Conflict::Draft(head), _) => format!("the {other} changed it, and the database has a draft, {head}"),
        (Conflict::Withdrawn, _) => format!("the {other} has it, and in the database it was withdrawn"),
        (Conflict::Removed, Beside::Folder) => {
            "its files were removed, and the database changed it or has a draft".to_owned()
        }
        (Conflict::Removed, Beside::Bundle) => {
            "the bundle withdraws it, and the database changed it or has a draft".to_owned()
        }
        (Conflict::Absent, _) => "the database never had it".to_owned(),
    }
}

/// A field that both changed.
fn told(field: &compare::Conflict, beside: Beside) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
    format!(
        "  {} {}\n    before:   {}\n    {}:   {}\n    database: {}",
        part_name(field.part),
        field.pointer,
        value(&field.base),
        beside.name(),
        value(&field.mine),
        value(&field.theirs)
    )
}

/// Both texts, line by line, where it cannot be told by field.
fn differences((folder, database): Texts<'_>, beside: Beside) -> String {
    let other = beside.name();
    let (Some(folder), Some(database)) = (folder, database) else {
        return match (folder, database) {
            (Some(only), None) => format!("  in the {other}: {}{}", only.document, only.annex),
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
        let (from, to) = (format!("database, {part}"), format!("{other}, {part}"));
        told.push_str(&diff.unified_diff().header(&from, &to).to_string());
    }
    told
}

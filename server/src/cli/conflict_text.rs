//! A record that folder and database have differently, for whoever must decide: what both say, and how to take either.

use std::path::Path;

use kb_core::compare;
use kb_core::ids::RecordId;
use similar::TextDiff;

use super::edit::part_name;
use super::say;
use crate::domain::round_trip::Conflict;
use crate::store::SeedRecord;

/// Texts of folder and database.
type Texts<'a> = (Option<&'a SeedRecord>, Option<&'a SeedRecord>);

pub(super) fn tell_conflict(
    path: &Path,
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
    let path = path.display();
    say(format_args!("  peerless import {path} --take-folder {id}"))?;
    say(format_args!("  peerless import {path} --take-database {id}"))
}

fn reason(why: Conflict) -> String {
    match why {
        Conflict::Both => "folder and database changed the same".to_owned(),
        Conflict::Added => "folder and database have it, and it was never exported".to_owned(),
        Conflict::Draft(head) => format!("the folder changed it, and the database has a draft, {head}"),
        Conflict::Withdrawn => "the folder has it, and in the database it was withdrawn".to_owned(),
        Conflict::Removed => "its files were removed, and the database changed it".to_owned(),
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

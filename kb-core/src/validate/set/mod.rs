//! A folder of records: which files belong together, and what they say of each other.

mod between;
mod ranks;
mod wording;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::blame::NO_BLAME;
use super::evidence::EDGE_NO_SOURCE;
use super::{Part, Severity, Violation, check_record, locate};
use crate::annex::{Annex, EMPTY, read_annex};
use crate::ids::RecordId;
use crate::record::{Document, read_document};
use crate::text::Position;

const DOCUMENT_ENDING: &str = ".json";
const SCHEMA_ENDING: &str = ".schema.json";
const ANNEX_ENDING: &str = ".ext.json";

/// What a download says of itself, at the top of the folder.
const MANIFEST: &str = "manifest.json";

/// Whether a file of a folder of records is a document or an annex: schemas, READMEs and the like are not.
pub fn is_record_file(path: &str) -> bool {
    path.ends_with(DOCUMENT_ENDING) && !path.ends_with(SCHEMA_ENDING) && path != MANIFEST
}

/// A violation and the file it is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The path as given.
    pub file: String,
    /// What is wrong.
    #[serde(flatten)]
    pub violation: Violation,
}

impl fmt::Display for Finding {
    /// `cuda/x.json:30:17: warning: empty-action: /dead_ends/0/action: what is wrong; what to do`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation {
            pointer,
            position,
            rule,
            severity,
            reason,
            fix,
            ..
        } = &self.violation;
        f.write_str(&self.file)?;
        if let Some(Position { line, column }) = position {
            write!(f, ":{line}:{column}")?;
        }
        let severity = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let pointer = if pointer.is_empty() {
            "(whole text)"
        } else {
            pointer
        };
        write!(f, ": {severity}: {rule}: {pointer}: {reason}; {fix}")
    }
}

#[derive(Default)]
struct Files<'f> {
    document: Option<(&'f str, &'f str)>,
    annex: Option<(&'f str, &'f str)>,
}

/// A document that could be read, its annex, and their files.
struct Entry<'f> {
    path: &'f str,
    document: Document,
    annex_path: &'f str,
    annex: Option<Annex>,
}

/// Everything that is wrong with a set of files, given as (path, text); paths have `/` between folders and end with
/// `<id>.json` or `<id>.ext.json`. Findings come in the order of the paths, and in each file by place.
pub fn check_set<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Vec<Finding> {
    let mut found = Vec::new();
    let texts: BTreeMap<&str, &str> = files.into_iter().collect();
    let mut entries = Vec::new();
    for (stem, files) in pair_up(&texts, &mut found) {
        entries.extend(check_files(stem, &files, &mut found));
    }
    between::check(&entries, &mut found);
    wording::check(&entries, &mut found);
    ranks::check(entries, &mut found);
    in_order(found, &texts)
}

fn check_files<'f>(stem: &str, files: &Files<'f>, found: &mut Vec<Finding>) -> Option<Entry<'f>> {
    let Some((path, text)) = files.document else {
        let (path, _) = files.annex?;
        let reason = format!("there is no document {stem}{DOCUMENT_ENDING} beside this annex");
        let violation = Violation::error(Part::Annex, "", "no-document", reason);
        found.push(finding(
            path,
            violation.fix("add the document, or rename the annex after its document"),
        ));
        return None;
    };
    let (annex_path, annex_text) = files.annex.unwrap_or((path, EMPTY));
    if files.annex.is_none() {
        let violation = Violation::warning(Part::Document, "", "no-annex", "the document has no annex");
        found.push(finding(path, violation.fix(format!("add {stem}{ANNEX_ENDING}"))));
    }
    for mut violation in check_record(None, text, annex_text) {
        if [EDGE_NO_SOURCE, NO_BLAME].contains(&violation.rule) {
            violation.severity = Severity::Error;
        }
        match violation.part {
            Part::Document => found.push(finding(path, violation)),
            Part::Annex if files.annex.is_some() => found.push(finding(annex_path, violation)),
            // What an absent annex lacks is said once, above.
            Part::Annex => {}
        }
    }
    let document = read_document(text).ok()?;
    found.extend(misplaced(path, stem, &document.id));
    let annex = read_annex(annex_text).ok();
    Some(Entry {
        path,
        document,
        annex_path,
        annex,
    })
}

fn in_order(found: Vec<Finding>, texts: &BTreeMap<&str, &str>) -> Vec<Finding> {
    let mut by_file: BTreeMap<String, Vec<Violation>> = BTreeMap::new();
    for Finding { file, violation } in found {
        by_file.entry(file).or_default().push(violation);
    }
    let mut ordered = Vec::new();
    for (file, mut violations) in by_file {
        locate(
            texts.get(file.as_str()).copied().unwrap_or_default(),
            &mut violations,
        );
        ordered.extend(violations.into_iter().map(|violation| finding(&file, violation)));
    }
    ordered
}

fn finding(file: &str, violation: Violation) -> Finding {
    let file = file.to_owned();
    Finding { file, violation }
}

fn pair_up<'f>(texts: &BTreeMap<&'f str, &'f str>, found: &mut Vec<Finding>) -> BTreeMap<&'f str, Files<'f>> {
    let mut records: BTreeMap<&str, Files<'_>> = BTreeMap::new();
    for (&path, &text) in texts {
        if let Some(stem) = path.strip_suffix(ANNEX_ENDING) {
            records.entry(stem).or_default().annex = Some((path, text));
        } else if let Some(stem) = path.strip_suffix(DOCUMENT_ENDING) {
            records.entry(stem).or_default().document = Some((path, text));
        } else {
            let violation = Violation::error(
                Part::Document,
                "",
                "file-name",
                "the file is neither document nor annex",
            );
            found.push(finding(path, violation.fix("name it <id>.json or <id>.ext.json")));
        }
    }
    records
}

/// A document must lie where its id says, below whatever folder was given.
fn misplaced(path: &str, stem: &str, id: &RecordId) -> Option<Finding> {
    let is_in_place = stem
        .strip_suffix(id.as_str())
        .is_some_and(|above| above.is_empty() || above.ends_with('/'));
    if is_in_place {
        return None;
    }
    let reason = format!("the path does not end with {id}{DOCUMENT_ENDING}");
    let violation = Violation::error(Part::Document, "/id", "path", reason);
    Some(finding(path, violation.fix("move the file, or correct the id")))
}

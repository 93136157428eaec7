//! A folder of records: which files belong together, and what they say of each other.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::links::edge_targets;
use super::{Part, Severity, Violation, check_record, locate};
use crate::annex::{Annex, EMPTY, read_annex};
use crate::ids::RecordId;
use crate::record::{Document, read_document};
use crate::text::Position;

/// Ending of a document's file.
const DOCUMENT_ENDING: &str = ".json";
/// Ending of an annex's file.
const ANNEX_ENDING: &str = ".ext.json";

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

/// A record's files.
#[derive(Default)]
struct Files<'f> {
    document: Option<(&'f str, &'f str)>,
    annex: Option<(&'f str, &'f str)>,
}

/// Everything that is wrong with a set of files, given as (path, text); paths have `/` between folders and end with
/// `<id>.json` or `<id>.ext.json`. Findings come in the order of the records' paths.
pub fn check_set<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Vec<Finding> {
    let mut found = Vec::new();
    let texts: BTreeMap<&str, &str> = files.into_iter().collect();
    let records = pair_up(&texts, &mut found);
    let mut readable = Vec::new();
    for (stem, files) in &records {
        let Some((path, text)) = files.document else {
            if let Some((path, _)) = files.annex {
                let reason = format!("there is no document {stem}{DOCUMENT_ENDING} beside this annex");
                let violation = Violation::error(Part::Annex, "", "no-document", reason);
                found.push(finding(
                    path,
                    violation.fix("add the document, or rename the annex after its document"),
                ));
            }
            continue;
        };
        let (annex_path, annex_text) = files.annex.unwrap_or((path, EMPTY));
        if files.annex.is_none() {
            let violation = Violation::warning(Part::Document, "", "no-annex", "the document has no annex");
            found.push(finding(path, violation.fix(format!("add {stem}{ANNEX_ENDING}"))));
        }
        for violation in check_record(None, text, annex_text) {
            // What an absent annex lacks is said once, above.
            match violation.part {
                Part::Document => found.push(finding(path, violation)),
                Part::Annex if files.annex.is_some() => found.push(finding(annex_path, violation)),
                Part::Annex => {}
            }
        }
        if let Ok(document) = read_document(text) {
            found.extend(misplaced(path, stem, &document.id));
            readable.push((path, document, annex_path, read_annex(annex_text).ok()));
        }
    }
    let owners = owners(&readable, &mut found);
    for (path, document, annex_path, annex) in &readable {
        dangling(path, document, annex_path, annex.as_ref(), &owners, &mut found);
    }
    for finding in &mut found {
        let text = texts.get(finding.file.as_str()).copied().unwrap_or_default();
        locate(text, std::slice::from_mut(&mut finding.violation));
    }
    found.sort_by(|a, b| (&a.file, a.violation.position).cmp(&(&b.file, b.violation.position)));
    found
}

fn finding(file: &str, violation: Violation) -> Finding {
    let file = file.to_owned();
    Finding { file, violation }
}

/// Files by what their paths have in common.
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

type Readable<'f> = (&'f str, Document, &'f str, Option<Annex>);

/// Which file answers to each id and alias; an id or alias of two records is refused.
fn owners<'r>(readable: &'r [Readable<'_>], found: &mut Vec<Finding>) -> BTreeMap<&'r RecordId, &'r str> {
    let mut owners: BTreeMap<&RecordId, &str> = BTreeMap::new();
    for (path, document, ..) in readable {
        if let Some(other) = owners.insert(&document.id, path) {
            let reason = format!("{} is the id of {other} too", document.id);
            let violation = Violation::error(Part::Document, "/id", "duplicate-id", reason);
            found.push(finding(path, violation.fix("give one of the two another id")));
        }
    }
    for (path, document, ..) in readable {
        for (index, alias) in document.aliases.iter().enumerate() {
            match owners.get(alias) {
                Some(other) if other != path => {
                    let reason = format!("{alias} is an id or alias of {other}");
                    let pointer = format!("/aliases/{index}");
                    let violation = Violation::error(Part::Document, pointer, "alias-taken", reason);
                    found.push(finding(
                        path,
                        violation.fix("an alias leads to one record: take it out of one"),
                    ));
                }
                _ => {
                    owners.insert(alias, path);
                }
            }
        }
    }
    owners
}

/// Edges and relations to records that are not in the set.
fn dangling(
    path: &str,
    document: &Document,
    annex_path: &str,
    annex: Option<&Annex>,
    owners: &BTreeMap<&RecordId, &str>,
    found: &mut Vec<Finding>,
) {
    let warn = |part, pointer: String, target: &RecordId| {
        let reason = format!("there is no record {target} in this set");
        Violation::warning(part, pointer, "dangling", reason).fix("add the record, or correct the id")
    };
    for (pointer, target) in edge_targets(document) {
        if let Ok(target) = target.parse::<RecordId>()
            && !owners.contains_key(&target)
        {
            found.push(finding(path, warn(Part::Document, pointer, &target)));
        }
    }
    let Some(annex) = annex else {
        return;
    };
    let cancels = annex.relations.cancels.iter().enumerate();
    let only_with = annex.relations.only_with.iter().enumerate();
    let superseded_by = annex
        .superseded_by
        .iter()
        .map(|id| ("/superseded_by".to_owned(), id));
    let named = cancels
        .map(|(index, id)| (format!("/relations/cancels/{index}"), id))
        .chain(only_with.map(|(index, id)| (format!("/relations/only_with/{index}"), id)))
        .chain(superseded_by);
    for (pointer, target) in named {
        if !owners.contains_key(target) {
            found.push(finding(annex_path, warn(Part::Annex, pointer, target)));
        }
    }
}

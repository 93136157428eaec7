//! What the records of a set say of each other: ids and aliases are taken once, edges and relations lead to records.

use std::collections::BTreeMap;

use super::super::links::edge_targets;
use super::{Entry, Finding, finding};
use crate::ids::RecordId;
use crate::text::{Part, Violation};

pub(super) fn check(entries: &[Entry<'_>], found: &mut Vec<Finding>) {
    let owners = owners(entries, found);
    for entry in entries {
        dangling(entry, &owners, found);
    }
}

/// Which file answers to each id and alias; an id or alias of two records is refused.
fn owners<'r>(entries: &'r [Entry<'_>], found: &mut Vec<Finding>) -> BTreeMap<&'r RecordId, &'r str> {
    let mut owners: BTreeMap<&RecordId, &str> = BTreeMap::new();
    for Entry { path, document, .. } in entries {
        if let Some(other) = owners.insert(&document.id, path) {
            let reason = format!("{} is the id of {other} too", document.id);
            let violation = Violation::error(Part::Document, "/id", "duplicate-id", reason);
            found.push(finding(path, violation.fix("give one of the two another id")));
        }
    }
    for Entry { path, document, .. } in entries {
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

fn dangling(entry: &Entry<'_>, owners: &BTreeMap<&RecordId, &str>, found: &mut Vec<Finding>) {
    let warn = |part, pointer: String, target: &RecordId| {
        let reason = format!("there is no record {target} in this set");
        Violation::warning(part, pointer, "dangling", reason).fix("add the record, or correct the id")
    };
    for (pointer, target) in edge_targets(&entry.document) {
        if let Ok(target) = target.parse::<RecordId>()
            && !owners.contains_key(&target)
        {
            found.push(finding(entry.path, warn(Part::Document, pointer, &target)));
        }
    }
    let Some(annex) = &entry.annex else {
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
            found.push(finding(entry.annex_path, warn(Part::Annex, pointer, target)));
        }
    }
}

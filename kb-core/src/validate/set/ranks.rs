//! Whether each example finds its own record first among all of the set, and which other records all of them find.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Entry, Finding, finding};
use crate::ids::{RecordId, Revision};
use crate::matcher::Matcher;
use crate::record::{Record, signature_set};
use crate::scanner::{ScanOptions, scan};
use crate::text::{Part, Violation};

pub(super) fn check(entries: Vec<Entry<'_>>, found: &mut Vec<Finding>) {
    let mut records: BTreeMap<RecordId, (&str, Record)> = BTreeMap::new();
    for entry in entries {
        if let Some(annex) = entry.annex {
            let record = Record {
                document_text: String::new(),
                annex_text: String::new(),
                document: entry.document,
                annex,
            };
            records.insert(record.id().clone(), (entry.annex_path, record));
        }
    }
    let signatures = signature_set(records.values().map(|(_, record)| (record, Revision(1))));
    let (matcher, _) = Matcher::build(signatures);
    let matcher = Arc::new(matcher);
    for (path, record) in records.values() {
        // Records that every example finds beside this one.
        let mut everywhere: Option<BTreeSet<RecordId>> = None;
        for (index, example) in record.annex.examples.iter().enumerate() {
            let summary = scan(&matcher, example.text.as_bytes(), ScanOptions::default());
            let first = summary.matches.first().map(|hit| &hit.id);
            if let Some(other) = first.filter(|first| *first != record.id()) {
                let reason = format!("{other} is found before this record");
                let pointer = format!("/examples/{index}/text");
                let violation = Violation::warning(Part::Annex, pointer, "not-first", reason);
                let fix = "make the pattern more specific, or move the example to the other record";
                found.push(finding(path, violation.fix(fix)));
            }
            let hit_ids: BTreeSet<RecordId> = summary.matches.into_iter().map(|hit| hit.id).collect();
            everywhere = Some(match everywhere {
                Some(others) => others.intersection(&hit_ids).cloned().collect(),
                None => hit_ids,
            });
        }
        for other in everywhere
            .into_iter()
            .flatten()
            .filter(|other| other != record.id())
        {
            let Some((_, other)) = records.get(&other) else {
                continue;
            };
            if !tells_apart(record, other) && !tells_apart(other, record) {
                let reason = format!(
                    "{} is found in every example, and neither record says how to tell the two apart",
                    other.id()
                );
                let violation = Violation::warning(Part::Annex, "/examples", "found-by-another", reason);
                let fix = "add a frequently_confused_with edge with a distinction, or a narrower pattern";
                found.push(finding(path, violation.fix(fix)));
            }
        }
    }
}

/// Whether a record has an edge that tells it from another, or that makes one of them what the other leads to.
fn tells_apart(record: &Record, other: &Record) -> bool {
    let graph = &record.document.transition_graph;
    let confused = graph.frequently_confused_with.iter().map(|edge| &edge.error_id);
    let leads_to = graph.leads_to.iter().map(|edge| &edge.error_id);
    let preceded_by = graph.preceded_by.iter().map(|edge| &edge.error_id);
    let mut named = confused.chain(leads_to).chain(preceded_by);
    named.any(|id| id == other.id().as_str())
}

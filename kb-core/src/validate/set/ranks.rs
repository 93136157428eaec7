//! Whether each example finds its own record first among all of the set.

use std::collections::BTreeMap;
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
        }
    }
}

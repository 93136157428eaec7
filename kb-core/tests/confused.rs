//! Records that are confused with each other: the product's own matcher tells them apart on their examples, as each says
//! how to.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod kb_seed;

use std::collections::BTreeMap;
use std::sync::Arc;

use kb_core::ids::{RecordId, Revision};
use kb_core::matcher::Matcher;
use kb_core::record::{Record, signature_set};
use kb_core::scanner::{ScanOptions, scan};
use kb_core::transition::{EdgeKind, standing};

#[test]
fn two_thirds_of_the_records_are_joined_by_an_edge_that_says_something() {
    let standing = standing(&kb_seed::records());
    assert!(standing.records > 500);
    assert!(standing.joined * 3 >= standing.records * 2, "{standing}");
}

#[test]
fn examples_of_confused_records_find_their_own_before_the_other() {
    let records = kb_seed::records();
    let by_id: BTreeMap<&RecordId, &Record> = records.iter().map(|record| (record.id(), record)).collect();
    let (matcher, _) = Matcher::build(signature_set(records.iter().map(|record| (record, Revision(1)))));
    let matcher = Arc::new(matcher);
    let mut wrong = Vec::new();
    let (mut pairs, mut examples) = (0, 0);
    for record in &records {
        let confused = record.edges().into_iter();
        for edge in confused.filter(|edge| edge.kind == EdgeKind::FrequentlyConfusedWith) {
            let Some(other) = edge.to.as_ref().and_then(|id| by_id.get(id)) else {
                continue;
            };
            pairs += 1;
            if edge
                .distinction
                .as_deref()
                .is_none_or(|text| text.trim().is_empty())
            {
                wrong.push(format!(
                    "{} and {}: nothing says how to tell them apart",
                    record.id(),
                    other.id()
                ));
            }
            for (own, foreign) in [(record, *other), (*other, record)] {
                for (index, example) in own.annex.examples.iter().enumerate() {
                    examples += 1;
                    let found = scan(&matcher, example.text.as_bytes(), ScanOptions::default()).matches;
                    let place = |record: &Record| found.iter().position(|hit| hit.id == *record.id());
                    let first = match (place(own), place(foreign)) {
                        (Some(own), Some(foreign)) => own < foreign,
                        (own, _) => own.is_some(),
                    };
                    if !first {
                        wrong.push(format!("example {index} of {} finds {}", own.id(), foreign.id()));
                    }
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {examples} examples:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        pairs > 250 && examples > 1_000,
        "{pairs} pairs, {examples} examples"
    );
}

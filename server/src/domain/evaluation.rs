//! The small part of `cargo xtask eval` that every test run repeats: the records that ship find themselves, and
//! texts that are no error find none.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::lookup::{MatchOptions, look_up};
use crate::bundle::embedded;
use crate::feed::{Generation, offline};

fn shipped() -> &'static Arc<Generation> {
    static SHIPPED: OnceLock<Arc<Generation>> = OnceLock::new();
    SHIPPED.get_or_init(|| Arc::new(offline(embedded().unwrap()).unwrap()))
}

fn found(text: &str) -> Vec<String> {
    let answer = look_up(shipped(), text.as_bytes(), MatchOptions::default()).unwrap();
    answer
        .matches
        .into_iter()
        .map(|found| found.id.to_string())
        .collect()
}

#[test]
fn every_record_is_first_for_its_own_signature_and_examples() {
    let mut wrong = Vec::new();
    for published in shipped().records() {
        let signature = &published.record.document.signature;
        let examples = published
            .record
            .annex
            .examples
            .iter()
            .map(|example| &example.text);
        for text in examples.chain([signature]) {
            let first = found(text).into_iter().next();
            if first.as_deref() != Some(published.id().as_str()) {
                wrong.push(format!("{}: {text:?} finds {first:?}", published.id()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_no_error_finds_no_record() {
    let negatives = include_str!("../../../evaluation/negatives.jsonl");
    let mut alarms = BTreeSet::new();
    for line in negatives.lines() {
        let negative: Value = serde_json::from_str(line).unwrap();
        let (id, text) = (
            negative["id"].as_str().unwrap(),
            negative["text"].as_str().unwrap(),
        );
        let matches = found(text);
        if !matches.is_empty() {
            alarms.insert(format!("{id}: {text:?} finds {matches:?}"));
        }
    }
    assert_eq!(alarms, BTreeSet::new());
}

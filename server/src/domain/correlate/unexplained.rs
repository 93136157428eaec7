//! Refused pairs that no record explains: said, with what is known, instead of left for the reader to notice.

use kb_core::report::{Pair, Report};
use kb_core::verdict::Verdict;
use serde_json::json;

use super::evidence::Evidence;
use super::facts::pair_name;
use crate::store::{Gravity, NewFinding};

pub(super) const RULE: &str = "refused_cause_unknown";

pub(super) fn refusals(report: &Report, found: &[NewFinding]) -> Vec<NewFinding> {
    let refused = report
        .pairs
        .iter()
        .enumerate()
        .filter(|(_, pair)| pair.verdict.verdict == Verdict::Refused);
    refused
        .filter(|(_, pair)| {
            let names = names_of(pair);
            !found.iter().any(|finding| names.contains(&finding.subject))
        })
        .map(|(number, pair)| observation(number, pair))
        .collect()
}

fn names_of(pair: &Pair) -> [String; 3] {
    let (a, b) = (pair.a, pair.b);
    [
        pair_name(a, b),
        format!("direction {a}-{b}"),
        format!("direction {b}-{a}"),
    ]
}

fn observation(number: usize, pair: &Pair) -> NewFinding {
    let mut evidence = Evidence::new();
    evidence.pointer(
        &format!("/pairs/{number}/verdict/reason"),
        &json!(pair.verdict.reason),
    );
    for pointer in pair.verdict.evidence.iter().take(16) {
        evidence.pointer(pointer, &serde_json::Value::Null);
    }
    NewFinding {
        record: None,
        rule: RULE.to_owned(),
        subject: pair_name(pair.a, pair.b),
        title: "refused, cause unknown".to_owned(),
        evidence: evidence.into_json(),
        gravity: Gravity::default(),
        by_policy: None,
    }
}

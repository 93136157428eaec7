//! Each record's own signature and examples: does it come first?

use std::collections::BTreeSet;

use super::{examples, with_signature};
use crate::eval::ask::{ask, first_few, rank};
use crate::eval::knowledge::Knowledge;
use crate::eval::report::{Report, shortened};
use crate::eval::score::Groups;

pub(crate) fn judge(knowledge: &Knowledge, report: &mut Report) {
    let generation = &knowledge.generation;
    let mut groups = Groups::new(&["match", "answer"]);
    let mut wrong = 0;
    for published in generation.records() {
        let signature = &published.record.document.signature;
        let right = with_signature(generation, signature);
        let is_right = one("signature", signature, &right, knowledge, &mut groups, report);
        wrong += usize::from(!is_right);
    }
    for example in examples(generation) {
        let right = BTreeSet::from([example.record.clone()]);
        let is_right = one("example", example.text, &right, knowledge, &mut groups, report);
        wrong += usize::from(!is_right);
    }
    report.bar(
        "own signature and examples at rank 1",
        "all",
        format!("{wrong} are not"),
        wrong == 0,
    );
    report.table(
        "own",
        "Own signatures and examples",
        &groups.table("text"),
        groups.json(),
    );
}

/// Judges one text; true when a right record is the first of the answer.
pub(super) fn one(
    group: &str,
    text: &str,
    right: &BTreeSet<kb_core::ids::RecordId>,
    knowledge: &Knowledge,
    groups: &mut Groups,
    report: &mut Report,
) -> bool {
    let answer = ask(&knowledge.generation, text.as_bytes());
    let ranks = [rank(&answer.matches, right), rank(&answer.shown, right)];
    groups.add(group, true, &ranks);
    let is_right = ranks.last() == Some(&Some(0));
    if !is_right {
        let wanted: Vec<String> = right.iter().map(ToString::to_string).collect();
        report.miss(format!(
            "{group} {}: wanted {}, came {}",
            shortened(text),
            wanted.join(" or "),
            first_few(&answer.shown)
        ));
    }
    is_right
}

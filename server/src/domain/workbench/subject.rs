//! What is tried: a pattern alone, or a draft with all that recognises it.

use std::sync::Arc;

use kb_core::ids::{RecordId, Revision};
use kb_core::matcher::Matcher;
use kb_core::record::{Record, signature_set};
use kb_core::signature::{self, PatternSpec, RecordSignatures};
use kb_core::text::Violation;

use super::answer::{PatternView, Refusal};
use crate::domain::curate::loose_pattern;

/// Stands for the record that a pattern will be part of.
const NOBODY: &str = "workbench/pattern";
/// A pattern that breaks this rule may still be asked of the few pasted lines.
const NO_LITERAL: &str = "pattern/no-literal";

#[derive(Debug)]
pub enum Subject {
    Pattern(PatternSpec),
    /// A draft: its patterns, phrases, codes and signature.
    Record(Box<Record>),
}

#[derive(Debug, Default)]
pub(super) struct Prepared {
    pub(super) on_lines: Option<Arc<Matcher>>,
    /// For all others; `None` where nothing of it may be asked of so many.
    pub(super) on_corpora: Option<Arc<Matcher>>,
    pub(super) patterns: Vec<PatternView>,
    /// What is loose about patterns that could be kept.
    pub(super) findings: Vec<Violation>,
    pub(super) own: Option<RecordId>,
}

impl Prepared {
    pub(super) fn of(subject: Subject) -> Self {
        let own = match &subject {
            Subject::Pattern(_) => None,
            Subject::Record(record) => Some(record.id().clone()),
        };
        let Some(signatures) = signatures(subject) else {
            return Self::default();
        };
        let views: Vec<PatternView> = signatures.patterns.iter().map(view).collect();
        let findings = signatures.patterns.iter().filter_map(loose_pattern).collect();
        let with = |may: fn(&Refusal) -> bool| {
            let mut signatures = signatures.clone();
            let patterns = signatures.patterns.into_iter().zip(&views);
            let kept = patterns.filter(|(_, view)| view.refused.as_ref().is_none_or(may));
            signatures.patterns = kept.map(|(spec, _)| spec).collect();
            matcher(signatures)
        };
        Self {
            on_lines: with(|refusal| refusal.rule == NO_LITERAL),
            on_corpora: with(|_| false),
            patterns: views,
            findings,
            own,
        }
    }
}

fn signatures(subject: Subject) -> Option<RecordSignatures> {
    let spec = match subject {
        Subject::Record(record) => {
            return signature_set([(&*record, Revision(1))]).into_iter().next();
        }
        Subject::Pattern(spec) => spec,
    };
    Some(RecordSignatures {
        patterns: vec![spec],
        ..RecordSignatures::empty(NOBODY.parse().ok()?, Revision(1))
    })
}

fn matcher(signatures: RecordSignatures) -> Option<Arc<Matcher>> {
    let (matcher, _) = Matcher::build(vec![signatures]);
    (matcher.signal_count() > 0).then(|| Arc::new(matcher))
}

fn view(spec: &PatternSpec) -> PatternView {
    let mut view = PatternView {
        id: spec.id.clone(),
        regex: spec.regex.clone(),
        flags: spec.flags.clone(),
        captures: Vec::new(),
        literals: Vec::new(),
        ways: None,
        most_ways: None,
        refused: None,
    };
    match signature::check(spec).and_then(|facts| Ok((facts, signature::cost(spec)?))) {
        Ok((facts, cost)) => {
            view.captures = facts.captures.into_iter().map(|capture| capture.name).collect();
            let longest = facts
                .required
                .iter()
                .max_by_key(|clause| clause.iter().map(Vec::len).min());
            view.literals = longest
                .into_iter()
                .flatten()
                .map(|text| String::from_utf8_lossy(text).into_owned())
                .collect();
            view.ways = Some(cost.ways);
            view.most_ways = Some(cost.most_ways);
        }
        Err(error) => {
            view.refused = Some(Refusal {
                rule: error.rule,
                reason: error.reason,
                fix: error.help.to_owned(),
            });
        }
    }
    view
}

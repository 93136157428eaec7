//! Patterns: may they be kept, and do they recognise just what they should. Asked of the engine that reads logs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Part, Violation, lost};
use crate::annex::Annex;
use crate::ids::Revision;
use crate::matcher::{Matcher, Rejected};
use crate::record::{DOCUMENT_PATTERN, Document, Record, document_pattern};
use crate::scanner::{ScanOptions, Summary, scan};
use crate::signature::{self, PatternError, PatternSpec, Phrase, PhraseSpec, Searcher, Texts};

/// A pattern or phrase that may be kept, and where it stands.
struct Kept {
    id: String,
    part: Part,
    pointer: String,
    test: Test,
}

enum Test {
    Pattern(Searcher),
    Phrase(Phrase),
}

impl Kept {
    fn matches(&self, text: &str) -> bool {
        match &self.test {
            Test::Pattern(regex) => {
                text.lines().any(|line| regex.is_match(line.as_bytes()))
                    || regex.is_match(text.trim_end().as_bytes())
            }
            Test::Phrase(phrase) => text.lines().any(|line| phrase.stands_on(line)),
        }
    }
}

pub(super) fn check(document: &Document, annex: &Annex) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut kept = Vec::new();
    if let Some(spec) = document_pattern(document) {
        kept.extend(admit(&spec, Part::Document, "/regex", &mut found));
    }
    for (index, spec) in annex.patterns.iter().enumerate() {
        let pointer = format!("/patterns/{index}/regex");
        kept.extend(admit(spec, Part::Annex, &pointer, &mut found));
    }
    for (index, spec) in annex.phrases.iter().enumerate() {
        kept.extend(admit_phrase(spec, index, &mut found));
    }
    if !found.is_empty() {
        return found;
    }
    signature(document, annex, &kept, &mut found);
    unproven(annex, &kept, &mut found);

    let record = Record {
        document_text: String::new(),
        annex_text: String::new(),
        document: document.clone(),
        annex: annex.clone(),
    };
    let (matcher, rejected) = Matcher::build(vec![record.signatures(Revision(1))]);
    let matcher = Arc::new(matcher);
    codes(annex, &rejected, &mut found);
    examples(annex, &matcher, &mut found);
    near_misses(annex, &matcher, &mut found);
    lost::check(
        annex,
        |text| kept.iter().any(|pattern| pattern.matches(text)),
        &mut found,
    );
    found
}

fn read(matcher: &Arc<Matcher>, text: &str) -> Summary {
    scan(matcher, text.as_bytes(), ScanOptions::default())
}

fn admit(spec: &PatternSpec, part: Part, pointer: &str, found: &mut Vec<Violation>) -> Option<Kept> {
    let checked = signature::facts(spec).and_then(|_| signature::check_cost(spec));
    match checked.and_then(|()| signature::compile(spec, Texts::Any)) {
        Ok(compiled) => Some(Kept {
            id: spec.id.clone(),
            part,
            pointer: pointer.to_owned(),
            test: Test::Pattern(compiled.regex),
        }),
        Err(error) => {
            found.push(Violation::error(part, pointer, error.rule, error.reason).fix(error.help));
            None
        }
    }
}

fn admit_phrase(spec: &PhraseSpec, index: usize, found: &mut Vec<Violation>) -> Option<Kept> {
    let mut pointer = format!("/phrases/{index}");
    match Phrase::new(spec) {
        Ok(phrase) => Some(Kept {
            id: spec.id.clone(),
            part: Part::Annex,
            pointer,
            test: Test::Phrase(phrase),
        }),
        Err(PatternError { rule, reason, help }) => {
            if rule == "phrase/context" {
                pointer.push_str("/context");
            }
            found.push(Violation::error(Part::Annex, pointer, rule, reason).fix(help));
            None
        }
    }
}

fn signature(document: &Document, annex: &Annex, kept: &[Kept], found: &mut Vec<Violation>) {
    if kept.is_empty() && annex.codes.is_empty() {
        let reason = "the record has no pattern and no code, so only its own signature can recognise it";
        let violation = Violation::warning(Part::Document, "/regex", "unrecognisable", reason);
        found.push(violation.fix("add a pattern or a code"));
    }
    if !kept.is_empty() && !kept.iter().any(|pattern| pattern.matches(&document.signature)) {
        let reason = "no pattern matches the record's own signature";
        let violation = Violation::warning(Part::Document, "/signature", "misses-signature", reason);
        found.push(violation.fix("correct the pattern, or the signature"));
    }
}

fn unproven(annex: &Annex, kept: &[Kept], found: &mut Vec<Violation>) {
    if annex.examples.is_empty() && !kept.is_empty() {
        let reason = "no example shows that the patterns work";
        let violation = Violation::warning(Part::Annex, "", "no-examples", reason);
        found.push(violation.fix("add two from real logs, and a near miss"));
        return;
    }
    for pattern in kept {
        let is_proven = annex
            .examples
            .iter()
            .any(|example| pattern.matches(&example.text));
        // The contexts of phrases are tested with the engine.
        let is_new = pattern.id != DOCUMENT_PATTERN && matches!(pattern.test, Test::Pattern(_));
        if !is_proven && is_new {
            let reason = format!("no example shows what the pattern {:?} is for", pattern.id);
            let violation =
                Violation::warning(pattern.part, pattern.pointer.clone(), "unproven-pattern", reason);
            found.push(violation.fix("add an example from a real log"));
        }
    }
}

/// Codes that cannot be looked for in text; they still name the record.
fn codes(annex: &Annex, rejected: &[Rejected], found: &mut Vec<Violation>) {
    for (index, code) in annex.codes.iter().enumerate() {
        if let Some(rejected) = rejected
            .iter()
            .find(|rejected| rejected.pattern.strip_prefix("code:") == Some(code))
        {
            let pointer = format!("/codes/{index}");
            let violation =
                Violation::warning(Part::Annex, pointer, "code-not-in-text", rejected.reason.clone());
            found.push(violation.fix("write it as programs print it, or live with finding it by name only"));
        }
    }
}

fn examples(annex: &Annex, matcher: &Arc<Matcher>, found: &mut Vec<Violation>) {
    for (index, example) in annex.examples.iter().enumerate() {
        let summary = read(matcher, &example.text);
        let Some(hit) = summary.matches.first() else {
            let reason = "the record does not recognise this example";
            let pointer = format!("/examples/{index}/text");
            let violation = Violation::warning(Part::Annex, pointer, "misses-example", reason);
            found.push(violation.fix("correct a pattern, or take the example out"));
            continue;
        };
        let mut captured: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, value) in hit.folds.iter().flat_map(|fold| &fold.captures) {
            captured.entry(name).or_default().push(value);
        }
        for (name, wanted) in &example.captures {
            let values = captured.get(name.as_str()).map(Vec::as_slice).unwrap_or_default();
            if !values.contains(&wanted.as_str()) {
                let pointer = format!("/examples/{index}/captures/{name}");
                let reason = format!("captured under {name:?} is {values:?}, not {wanted:?}");
                let violation = Violation::warning(Part::Annex, pointer, "wrong-capture", reason);
                found.push(violation.fix("correct the pattern, or the value"));
            }
        }
    }
}

fn near_misses(annex: &Annex, matcher: &Arc<Matcher>, found: &mut Vec<Violation>) {
    for (index, near_miss) in annex.near_misses.iter().enumerate() {
        if let Some(hit) = read(matcher, &near_miss.text).matches.first() {
            let reason = format!("the record recognises a text that it should not: {}", hit.why);
            let pointer = format!("/near_misses/{index}/text");
            let violation = Violation::warning(Part::Annex, pointer, "near-miss-matches", reason);
            found.push(violation.fix("make the pattern or the code narrower"));
        }
    }
}

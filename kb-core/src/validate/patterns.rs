//! Patterns: may they be kept, and do they recognise what they should and nothing else.

use std::collections::BTreeMap;

use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

use super::{Part, Violation};
use crate::annex::Annex;
use crate::record::{DOCUMENT_PATTERN, Document, document_pattern};
use crate::signature::PatternSpec;

/// Largest compiled form of one pattern, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// A pattern, where it stands, and its compiled form.
struct Tried {
    id: String,
    part: Part,
    pointer: String,
    names: Vec<Option<String>>,
    regex: Regex,
}

pub(super) fn check(document: &Document, annex: &Annex) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut tried = Vec::new();
    if let Some(spec) = document_pattern(document) {
        tried.extend(admit(&spec, Part::Document, "/regex".to_owned(), &mut found));
    }
    for (index, spec) in annex.patterns.iter().enumerate() {
        tried.extend(admit(
            spec,
            Part::Annex,
            format!("/patterns/{index}/regex"),
            &mut found,
        ));
    }
    if found.is_empty() {
        signature(document, annex, &tried, &mut found);
        examples(annex, &tried, &mut found);
        near_misses(annex, &tried, &mut found);
    }
    found
}

/// Compiles a pattern that the matcher would take; otherwise says why not.
fn admit(spec: &PatternSpec, part: Part, pointer: String, found: &mut Vec<Violation>) -> Option<Tried> {
    let compiled = compile(spec);
    match compiled {
        Ok(regex) => Some(Tried {
            id: spec.id.clone(),
            part,
            pointer,
            names: capture_names(&regex, &spec.captures),
            regex,
        }),
        Err(reason) => {
            let violation = Violation::error(part, pointer, "pattern", reason);
            found.push(
                violation.fix("write Rust regex syntax; there is no look-around and no back-reference"),
            );
            None
        }
    }
}

fn compile(spec: &PatternSpec) -> Result<Regex, String> {
    let mut config = syntax::Config::new().utf8(false);
    for flag in spec.flags.chars() {
        config = match flag {
            'i' => config.case_insensitive(true),
            'm' => config.multi_line(true),
            's' => config.dot_matches_new_line(true),
            'x' => config.ignore_whitespace(true),
            other => return Err(format!("{other:?} is not a flag")),
        };
    }
    let limits = Regex::config()
        .utf8_empty(false)
        .nfa_size_limit(Some(MAX_COMPILED_BYTES));
    let mut builder = Regex::builder();
    builder.configure(limits).syntax(config);
    builder
        .build(&spec.regex)
        .map_err(|error| match error.syntax_error() {
            Some(syntax) => syntax.to_string(),
            None => error.to_string(),
        })
}

/// Names of the groups by number: their own, or the given ones for unnamed groups in order.
fn capture_names(regex: &Regex, given: &[String]) -> Vec<Option<String>> {
    let mut given = given.iter();
    let mut names: Vec<Option<String>> = Vec::new();
    for (group, own) in regex
        .group_info()
        .pattern_names(regex_automata::PatternID::ZERO)
        .enumerate()
    {
        names.push(match own {
            Some(own) => Some(own.to_owned()),
            None if group == 0 => None,
            None => given.next().cloned(),
        });
    }
    names
}

impl Tried {
    /// What the named groups hold on the first line that matches.
    fn captures(&self, text: &str) -> Option<BTreeMap<&str, String>> {
        let mut slots = self.regex.create_captures();
        for line in text.lines() {
            self.regex.search_captures(&Input::new(line), &mut slots);
            if !slots.is_match() {
                continue;
            }
            let named = self.names.iter().enumerate().filter_map(|(group, name)| {
                let span = slots.get_group(group)?;
                Some((name.as_deref()?, line.get(span.range())?.to_owned()))
            });
            return Some(named.collect());
        }
        None
    }
}

fn signature(document: &Document, annex: &Annex, tried: &[Tried], found: &mut Vec<Violation>) {
    if tried.is_empty() && annex.codes.is_empty() {
        let reason = "the record has no pattern and no code, so nothing can recognise it";
        let violation = Violation::warning(Part::Document, "/regex", "unrecognisable", reason);
        found.push(violation.fix("add a pattern or a code"));
    }
    if !tried.is_empty()
        && tried
            .iter()
            .all(|pattern| pattern.captures(&document.signature).is_none())
    {
        let reason = "no pattern matches the record's own signature";
        let violation = Violation::warning(Part::Document, "/signature", "misses-signature", reason);
        found.push(violation.fix("correct the pattern, or the signature"));
    }
}

fn examples(annex: &Annex, tried: &[Tried], found: &mut Vec<Violation>) {
    let mut proven = vec![false; tried.len()];
    for (index, example) in annex.examples.iter().enumerate() {
        let pointer = format!("/examples/{index}/text");
        let mut captured: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut is_matched = false;
        for (pattern, proven) in tried.iter().zip(&mut proven) {
            if let Some(values) = pattern.captures(&example.text) {
                *proven = true;
                is_matched = true;
                for (name, value) in values {
                    captured.entry(name).or_default().push(value);
                }
            }
        }
        if !is_matched && !tried.is_empty() {
            let reason = "no pattern of the record matches this example";
            let violation = Violation::warning(Part::Annex, pointer, "misses-example", reason);
            found.push(violation.fix("correct a pattern, or take the example out"));
            continue;
        }
        for (name, wanted) in &example.captures {
            let values = captured.get(name.as_str()).map(Vec::as_slice).unwrap_or_default();
            if !values.contains(wanted) {
                let pointer = format!("/examples/{index}/captures/{name}");
                let reason = format!("the patterns capture {values:?} under {name:?}, not {wanted:?}");
                let violation = Violation::warning(Part::Annex, pointer, "wrong-capture", reason);
                found.push(violation.fix("correct the pattern, or the value"));
            }
        }
    }
    for (pattern, proven) in tried.iter().zip(proven) {
        if !proven && pattern.id != DOCUMENT_PATTERN {
            let reason = format!("no example shows what the pattern {:?} is for", pattern.id);
            let violation =
                Violation::warning(pattern.part, pattern.pointer.clone(), "unproven-pattern", reason);
            found.push(violation.fix("add an example from a real log"));
        }
    }
    if annex.examples.is_empty() && !tried.is_empty() {
        let reason = "no example shows that the patterns work";
        let violation = Violation::warning(Part::Annex, "", "no-examples", reason);
        found.push(violation.fix("add two from real logs, and a near miss"));
    }
}

fn near_misses(annex: &Annex, tried: &[Tried], found: &mut Vec<Violation>) {
    for (index, near_miss) in annex.near_misses.iter().enumerate() {
        let hit = tried
            .iter()
            .find(|pattern| pattern.captures(&near_miss.text).is_some());
        if let Some(pattern) = hit {
            let reason = format!("the pattern {:?} matches a text that it should not", pattern.id);
            let pointer = format!("/near_misses/{index}/text");
            let violation = Violation::warning(Part::Annex, pointer, "near-miss-matches", reason);
            found.push(violation.fix("make the pattern narrower"));
        }
    }
}

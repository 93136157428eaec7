//! From a template to a record: a pattern that takes its examples, and the two texts of a record that is begun.

use std::collections::BTreeSet;
use std::sync::Arc;

use kb_core::annex::SCHEMA_VERSION;
use kb_core::ids::RecordId;
use kb_core::matcher::Matcher;
use kb_core::propose::{Proposal, propose};
use kb_core::scanner::{Event, ScanOptions};
use kb_core::text::replace_value;
use serde_json::{Value, json};

use crate::domain::curate::begun;
use crate::store::Unmatched;

const TITLE_CHARS: usize = 100;
/// Words of a line in the id that is suggested for its record.
const ID_WORDS: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub document: String,
    pub annex: String,
    /// Absent where the examples share too little for a pattern.
    pub proposal: Option<Proposal>,
}

/// Begins a record: pattern, examples, signature and title are there, what only a person knows is not.
///
/// This computes; call it off the async threads.
pub fn draft(id: &RecordId, unmatched: &Unmatched) -> Draft {
    let examples = unmatched.examples.iter().map(String::as_str);
    let proposal = propose(examples)
        .ok()
        .or_else(|| propose(unmatched.examples.first().map(String::as_str)).ok());
    let (document, _) = begun(id);
    let signature = unmatched.examples.first().unwrap_or(&unmatched.template);
    let quoted = Value::from(signature.as_str()).to_string();
    let document = replace_value(&document, "/signature", &quoted).unwrap_or(document);
    let mut annex = json!({
        "schema_version": SCHEMA_VERSION,
        "title": title(&unmatched.template),
        "examples": unmatched.examples.iter().map(|text| json!({ "text": text })).collect::<Vec<_>>(),
    });
    if let (Some(proposal), Some(annex)) = (&proposal, annex.as_object_mut()) {
        let pattern = json!([{ "id": "line", "regex": proposal.regex }]);
        annex.insert("patterns".to_owned(), pattern);
    }
    let annex = format!("{annex:#}\n");
    Draft {
        document,
        annex,
        proposal,
    }
}

/// An id for a record of these lines, of their first words.
pub fn suggested_id(template: &str) -> Option<RecordId> {
    let words = template.split_whitespace().map(|word| {
        let word = word.trim_matches(|sign: char| sign.is_ascii_punctuation() && sign != '<');
        word.to_ascii_lowercase()
    });
    let words = words.filter(|word| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()));
    let words: Vec<String> = words.take(ID_WORDS).collect();
    format!("local/{}", words.join("-")).parse().ok()
}

fn title(template: &str) -> String {
    let words = template.split_whitespace();
    let title = words
        .map(|word| if word == "<*>" { "…" } else { word })
        .collect::<Vec<_>>()
        .join(" ");
    let mut title: String = title.chars().take(TITLE_CHARS).collect();
    if let Some(first) = title.get(..1) {
        let first = first.to_ascii_uppercase();
        title.replace_range(..1, &first);
    }
    title
}

/// Records that know an example by now.
///
/// This computes; call it off the async threads.
pub fn known_as(matcher: &Arc<Matcher>, examples: &[String]) -> Vec<RecordId> {
    let mut scanner = matcher.scanner(ScanOptions {
        keep_text: false,
        ..ScanOptions::default()
    });
    let mut events = scanner.push(examples.join("\n").as_bytes());
    events.extend(scanner.finish_with_events().0);
    let records = events.into_iter().filter_map(|event| match event {
        Event::Hit(hit) => Some(hit.record),
        _ => None,
    });
    records.collect::<BTreeSet<_>>().into_iter().collect()
}

//! Ids, names and pointers inside one record.

use std::collections::BTreeSet;

use super::{Part, Violation};
use crate::annex::Annex;
use crate::ids::RecordId;
use crate::record::{DOCUMENT_PATTERN, Document};
use crate::text::steps;

/// What the whole signature is called among the patterns.
const SIGNATURE: &str = "signature";

pub(super) fn check_identity(expected: Option<&RecordId>, document: &Document) -> Vec<Violation> {
    let part = Part::Document;
    let mut found = Vec::new();
    if let Some(expected) = expected
        && *expected != document.id
    {
        let reason = format!(
            "the record is kept under {expected} and calls itself {}",
            document.id
        );
        found.push(Violation::error(part, "/id", "id-mismatch", reason).fix("use one id for both"));
    }
    let ending = document.id.as_str().rsplit('.').next();
    let misread = match ending {
        Some("ext") => Some(("id-ends-ext", "the annex of another record")),
        Some("schema") => Some(("id-ends-schema", "a JSON Schema, and passed over")),
        _ => None,
    };
    if let Some((rule, what)) = misread {
        let reason = format!("the record's file would be taken for {what}");
        found.push(Violation::error(part, "/id", rule, reason).fix("choose an id with another ending"));
    }
    let mut seen = BTreeSet::from([&document.id]);
    for (index, alias) in document.aliases.iter().enumerate() {
        if !seen.insert(alias) {
            let reason = format!("{alias} is the record's id, or stands twice");
            let pointer = format!("/aliases/{index}");
            found.push(Violation::error(part, pointer, "alias", reason).fix("take it out"));
        }
    }
    edges(document, &mut found);
    found
}

fn edges(document: &Document, found: &mut Vec<Violation>) {
    for (pointer, target) in edge_targets(document) {
        match target.parse::<RecordId>() {
            Err(error) => {
                let reason = format!("{target:?} is no record id: {error}");
                let violation = Violation::warning(Part::Document, pointer, "edge-target", reason);
                found.push(violation.fix("write the id of the record that is meant"));
            }
            Ok(id) if id == document.id => {
                let reason = "the record points at itself";
                let violation = Violation::warning(Part::Document, pointer, "edge-to-itself", reason);
                found.push(violation.fix("take it out, or name the record that is meant"));
            }
            Ok(_) => {}
        }
    }
}

pub(super) fn edge_targets(document: &Document) -> Vec<(String, &str)> {
    let graph = &document.transition_graph;
    let leads_to = graph.leads_to.iter().map(|edge| edge.error_id.as_str());
    let preceded_by = graph.preceded_by.iter().map(|edge| edge.error_id.as_str());
    let confused = graph
        .frequently_confused_with
        .iter()
        .map(|edge| edge.error_id.as_str());
    let place = |list: &str, index: usize| format!("/transition_graph/{list}/{index}/error_id");
    let leads_to = leads_to
        .enumerate()
        .map(|(i, target)| (place("leads_to", i), target));
    let preceded_by = preceded_by
        .enumerate()
        .map(|(i, target)| (place("preceded_by", i), target));
    let confused = confused
        .enumerate()
        .map(|(i, target)| (place("frequently_confused_with", i), target));
    leads_to.chain(preceded_by).chain(confused).collect()
}

pub(super) fn check_annex(document: &Document, annex: &Annex) -> Vec<Violation> {
    let mut found = Vec::new();
    let pattern_ids = annex.patterns.iter().map(|pattern| pattern.id.as_str());
    distinct(
        "/patterns",
        BTreeSet::from([DOCUMENT_PATTERN]),
        pattern_ids.clone(),
        &mut found,
    );
    let phrase_ids = annex.phrases.iter().map(|phrase| phrase.id.as_str());
    let patterns = pattern_ids.chain([DOCUMENT_PATTERN]).collect();
    distinct("/phrases", patterns, phrase_ids, &mut found);
    let rule_ids = annex.probe.iter().map(|rule| rule.id.as_str());
    distinct("/probe", BTreeSet::new(), rule_ids, &mut found);
    if annex.superseded_by.as_ref() == Some(&document.id) {
        let violation = Violation::error(
            Part::Annex,
            "/superseded_by",
            "superseded-by-itself",
            "this is the record's own id",
        );
        found.push(violation.fix("name the record that took its place"));
    }
    device_rules(annex, &mut found);
    supports(document, annex, &mut found);
    found
}

fn device_rules(annex: &Annex, found: &mut Vec<Violation>) {
    let own = annex.patterns.iter().map(|pattern| pattern.id.as_str());
    let phrases = annex.phrases.iter().map(|phrase| phrase.id.as_str());
    let known: BTreeSet<&str> = own.chain(phrases).chain([DOCUMENT_PATTERN, SIGNATURE]).collect();
    let relations = &annex.relations;
    for (list, ids) in [
        ("of_gpu", &relations.of_gpu),
        ("not_of_others", &relations.not_of_others),
    ] {
        for (index, id) in ids.iter().enumerate() {
            if !known.contains(id.as_str()) {
                let pointer = format!("/relations/{list}/{index}");
                let reason = format!("the record has no pattern {id:?}");
                let fix = "write the id of a pattern, 0 for the document's, or signature";
                found.push(Violation::error(Part::Annex, pointer, "no-pattern", reason).fix(fix));
            }
        }
    }
}

fn distinct<'a>(
    list: &str,
    mut seen: BTreeSet<&'a str>,
    ids: impl Iterator<Item = &'a str>,
    found: &mut Vec<Violation>,
) {
    for (index, id) in ids.enumerate() {
        if !seen.insert(id) {
            let reason = format!("the id {id:?} is taken");
            let pointer = format!("{list}/{index}/id");
            found.push(Violation::error(Part::Annex, pointer, "duplicate-id", reason).fix("choose another"));
        }
    }
}

fn supports(document: &Document, annex: &Annex, found: &mut Vec<Violation>) {
    // A document that was read can be written.
    let Ok(document) = serde_json::to_value(document) else {
        return;
    };
    let of_pages = annex.sources.iter().map(|source| &source.supports);
    let of_runs = annex.reproduced.iter().map(|run| &run.supports);
    let of_pages = of_pages.enumerate().map(|(at, list)| ("sources", at, list));
    let of_runs = of_runs.enumerate().map(|(at, list)| ("reproduced", at, list));
    for (from, at, supports) in of_pages.chain(of_runs) {
        for (index, supported) in supports.iter().enumerate() {
            let leads_somewhere = steps(supported).is_some() && document.pointer(supported).is_some();
            if !leads_somewhere {
                let pointer = format!("/{from}/{at}/supports/{index}");
                let reason = format!("nothing stands at {supported:?} in the document");
                let violation = Violation::warning(Part::Annex, pointer, "supports-nothing", reason);
                found.push(violation.fix("point at what the source bears out"));
            }
        }
    }
}

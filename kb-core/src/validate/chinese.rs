//! Texts that should be Chinese, and lists that should be as long as what they translate or describe.

use super::{Part, Violation};
use crate::annex::Annex;
use crate::record::Document;

pub(super) fn check_document(document: &Document) -> Vec<Violation> {
    let part = Part::Document;
    let mut found = Vec::new();
    text(
        part,
        "/signature_zh",
        document.signature_zh.as_deref(),
        &mut found,
    );
    text(
        part,
        "/root_cause_zh",
        document.root_cause_zh.as_deref(),
        &mut found,
    );
    for (index, translated) in document.workarounds_zh.iter().enumerate() {
        text(
            part,
            &format!("/workarounds_zh/{index}"),
            Some(translated),
            &mut found,
        );
    }
    let translated = document.workarounds_zh.len();
    length(
        part,
        "/workarounds_zh",
        translated,
        document.workarounds.len(),
        &mut found,
    );
    found
}

pub(super) fn check_annex(document: &Document, annex: &Annex) -> Vec<Violation> {
    let part = Part::Annex;
    let mut found = Vec::new();
    for (index, zh) in annex.dead_ends_zh.iter().enumerate() {
        text(
            part,
            &format!("/dead_ends_zh/{index}/action"),
            zh.action.as_deref(),
            &mut found,
        );
        text(
            part,
            &format!("/dead_ends_zh/{index}/why_fails"),
            zh.why_fails.as_deref(),
            &mut found,
        );
    }
    for (index, dispute) in annex.disputes.iter().enumerate() {
        let pointer = format!("/disputes/{index}/why_zh");
        text(part, &pointer, dispute.why_zh.as_deref(), &mut found);
    }
    for (index, zh) in annex.workarounds_zh.iter().enumerate() {
        text(
            part,
            &format!("/workarounds_zh/{index}/action"),
            zh.action.as_deref(),
            &mut found,
        );
        text(
            part,
            &format!("/workarounds_zh/{index}/how"),
            zh.how.as_deref(),
            &mut found,
        );
    }
    notes(document, annex, &mut found);
    length(
        part,
        "/dead_ends_zh",
        annex.dead_ends_zh.len(),
        document.dead_ends.len(),
        &mut found,
    );
    length(
        part,
        "/workarounds_zh",
        annex.workarounds_zh.len(),
        document.workarounds.len(),
        &mut found,
    );
    found
}

fn notes(document: &Document, annex: &Annex, found: &mut Vec<Violation>) {
    let part = Part::Annex;
    for (index, note) in annex.workaround_notes.iter().enumerate() {
        for (name, zh) in [("cost_zh", &note.cost_zh), ("stop_first_zh", &note.stop_first_zh)] {
            text(
                part,
                &format!("/workaround_notes/{index}/{name}"),
                zh.as_deref(),
                found,
            );
        }
    }
    let unless = annex
        .harmless
        .as_ref()
        .and_then(|harmless| harmless.unless_zh.as_deref());
    text(part, "/harmless/unless_zh", unless, found);
    let (notes, workarounds) = (annex.workaround_notes.len(), document.workarounds.len());
    if notes != 0 && notes != workarounds {
        let reason = format!("{notes} notes of {workarounds} workarounds; they belong together by position");
        found.push(
            Violation::warning(part, "/workaround_notes", "note-count", reason)
                .fix("write one for each, in order"),
        );
    }
}

/// A text is taken for Chinese when it holds a CJK ideograph (Unicode blocks CJK Unified Ideographs and extension A).
fn is_chinese(text: &str) -> bool {
    text.chars()
        .any(|c| matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'))
}

fn text(part: Part, pointer: &str, text: Option<&str>, found: &mut Vec<Violation>) {
    let Some(text) = text else {
        return;
    };
    if !text.trim().is_empty() && !is_chinese(text) {
        let reason = "the text should be Chinese and holds no Chinese character";
        found.push(Violation::warning(part, pointer, "not-chinese", reason).fix("translate it"));
    }
}

fn length(part: Part, pointer: &str, translated: usize, original: usize, found: &mut Vec<Violation>) {
    if translated != 0 && translated != original {
        let reason =
            format!("{translated} translations of {original} texts; they belong together by position");
        found.push(
            Violation::warning(part, pointer, "translation-count", reason).fix("translate each, in order"),
        );
    }
}

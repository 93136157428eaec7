//! Faults of a document's own texts and numbers.

use super::{Part, Violation};
use crate::record::{Document, VerificationTier, is_real_code};

/// With one piece of evidence or none, more confidence than this is not believed. The limit is this project's own.
const MOST_CONFIDENCE_OF_ONE: f64 = 0.3;

pub(super) fn check(document: &Document) -> Vec<Violation> {
    let mut found = Vec::new();
    actions(document, &mut found);
    words(document, &mut found);
    confidence(document, &mut found);
    days(document, &mut found);
    found
}

fn warn(pointer: impl Into<String>, rule: &'static str, reason: impl Into<String>, fix: &str) -> Violation {
    Violation::warning(Part::Document, pointer, rule, reason).fix(fix)
}

fn actions(document: &Document, found: &mut Vec<Violation>) {
    for (index, dead_end) in document.dead_ends.iter().enumerate() {
        if dead_end.action.trim().is_empty() {
            let pointer = format!("/dead_ends/{index}/action");
            found.push(warn(
                pointer,
                "empty-action",
                "the dead end does not say what people do",
                "name the action",
            ));
        }
    }
    for (index, workaround) in document.workarounds.iter().enumerate() {
        if workaround.action.trim().is_empty() {
            let pointer = format!("/workarounds/{index}/action");
            found.push(warn(
                pointer,
                "empty-action",
                "the workaround does not say what to do",
                "name the action",
            ));
        } else if workaround.how.as_ref() == Some(&workaround.action) {
            let pointer = format!("/workarounds/{index}/how");
            let fix = "say how it is done, or leave it empty";
            found.push(warn(
                pointer,
                "how-repeats-action",
                "the text is that of \"action\"",
                fix,
            ));
        }
    }
}

fn words(document: &Document, found: &mut Vec<Violation>) {
    if let Some(code) = &document.error_code
        && !is_real_code(code)
    {
        let reason = format!("{code:?} is no code that a program prints");
        let fix = "write the vendor's name of the error, or null";
        found.push(warn("/error_code", "made-up-code", reason, fix));
    }
    if let Some(tier) = &document.verification_tier
        && document.tier().is_none()
    {
        let fix = "use ai_generated, documented, reproduced, community_verified or human_reviewed";
        found.push(warn(
            "/verification_tier",
            "unknown-word",
            format!("{tier:?} is no known tier"),
            fix,
        ));
    }
    if let Some(resolvable) = &document.resolvable
        && document.resolvable().is_none()
    {
        let reason = format!("{resolvable:?} is no known answer");
        found.push(warn(
            "/resolvable",
            "unknown-word",
            reason,
            "use \"true\", \"partial\" or \"false\"",
        ));
    }
    if document.domain != document.id.domain() {
        let reason = format!("the id starts with {:?}", document.id.domain());
        found.push(warn("/domain", "domain", reason, "use one word for both"));
    }
}

fn confidence(document: &Document, found: &mut Vec<Violation>) {
    let (Some(count), Some(confidence)) = (document.evidence_count, document.confidence) else {
        return;
    };
    let reviewed = document.tier() == Some(VerificationTier::HumanReviewed);
    if count <= 1 && confidence > MOST_CONFIDENCE_OF_ONE && !reviewed {
        let reason = format!("a confidence of {confidence} rests on an evidence count of {count}");
        found.push(warn(
            "/confidence",
            "thin-evidence",
            reason,
            "find more evidence, or claim less",
        ));
    }
}

fn days(document: &Document, found: &mut Vec<Violation>) {
    // The days have the form of ISO 8601 by now, so the order of the texts is that of the days.
    if let (Some(first), Some(last)) = (&document.first_seen, &document.last_confirmed)
        && first > last
    {
        let reason = format!("it was first seen on {first}, after that");
        found.push(warn(
            "/last_confirmed",
            "days",
            reason,
            "correct one of the two days",
        ));
    }
}

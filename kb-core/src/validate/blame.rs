//! What is at fault, and what the annex disputes.

use std::collections::BTreeSet;

use super::{Part, Violation};
use crate::annex::Annex;
use crate::record::Document;
use crate::text::steps;

/// The rule that the record of an Xid or `SXid` says what is at fault.
pub(super) const NO_BLAME: &str = "no-blame";

pub(super) fn check(document: &Document, annex: &Annex) -> Vec<Violation> {
    let mut found = Vec::new();
    blame(document, annex, &mut found);
    disputes(document, annex, &mut found);
    found
}

/// Only a warning here: a record that came from elsewhere, or was saved before the key existed, stays valid. In a folder of
/// records it is an error, which [`super::check_set`] makes of it.
fn blame(document: &Document, annex: &Annex, found: &mut Vec<Violation>) {
    let code = document
        .error_code
        .iter()
        .chain(&annex.codes)
        .find(|code| is_xid(code));
    if let (Some(code), None) = (code, &annex.at_fault) {
        let reason = format!("the record of {code} does not say what is at fault");
        let fix = "add \"at_fault\" with \"who\" and \"source\"; \"unclear\" where the sources name several, or none";
        found.push(Violation::warning(Part::Annex, "/at_fault", NO_BLAME, reason).fix(fix));
    }
}

/// `Xid 79`, `SXid 20034`: what the kernel module prints of a GPU or a switch, and what a drain is decided by.
fn is_xid(code: &str) -> bool {
    let Some((family, number)) = code.trim().split_once(' ') else {
        return false;
    };
    let is_family = ["xid", "sxid"]
        .iter()
        .any(|known| family.eq_ignore_ascii_case(known));
    is_family && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// A dispute must lead to a statement that answers show: each list and text here is one of those that can be struck.
fn disputes(document: &Document, annex: &Annex, found: &mut Vec<Violation>) {
    // A document that was read can be written.
    let Ok(document) = serde_json::to_value(document) else {
        return;
    };
    let mut seen = BTreeSet::new();
    for (index, dispute) in annex.disputes.iter().enumerate() {
        let pointer = format!("/disputes/{index}/pointer");
        let disputed = &dispute.pointer;
        let steps = steps(disputed).unwrap_or_default();
        let steps: Vec<&str> = steps.iter().map(AsRef::as_ref).collect();
        let can_be_struck = matches!(
            steps.as_slice(),
            ["root_cause"] | ["workarounds" | "dead_ends", _]
        );
        let (rule, reason, fix) = if !can_be_struck {
            let reason = format!("{disputed:?} is no statement that can be disputed");
            let fix = "point at /root_cause, or at one of /workarounds or /dead_ends, such as /workarounds/0";
            ("dispute-elsewhere", reason, fix)
        } else if document.pointer(disputed).is_none() {
            let reason = format!("nothing stands at {disputed:?} in the document");
            (
                "dispute-of-nothing",
                reason,
                "count from 0, or take the dispute out",
            )
        } else if !seen.insert(disputed) {
            let reason = format!("{disputed:?} is disputed twice");
            ("dispute-twice", reason, "say all of it in one dispute")
        } else {
            continue;
        };
        found.push(Violation::error(Part::Annex, pointer, rule, reason).fix(fix));
    }
}

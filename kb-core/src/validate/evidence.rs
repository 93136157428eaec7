//! What nothing bears out.

use super::{Part, Violation};
use crate::annex::Annex;
use crate::record::{Document, VerificationTier};

/// Dead ends and workarounds without a source of their own and without one in the annex that supports them, and a tier that
/// rests on a report without naming it.
pub(super) fn check(document: &Document, annex: &Annex) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, dead_end) in document.dead_ends.iter().enumerate() {
        let pointer = format!("/dead_ends/{index}");
        claim(&pointer, &dead_end.sources, dead_end.fail_rate, annex, &mut found);
    }
    for (index, workaround) in document.workarounds.iter().enumerate() {
        let pointer = format!("/workarounds/{index}");
        claim(
            &pointer,
            &workaround.sources,
            workaround.success_rate,
            annex,
            &mut found,
        );
    }
    if document.tier() == Some(VerificationTier::Reproduced) && annex.reproduced.is_empty() {
        let reason = "no report of real hardware is named that shows it";
        let fix = "name one in the annex's \"reproduced\", or claim another tier";
        let pointer = "/verification_tier";
        found.push(Violation::error(Part::Document, pointer, "no-report", reason).fix(fix));
    }
    found
}

fn claim(pointer: &str, own: &[String], rate: Option<f64>, annex: &Annex, found: &mut Vec<Violation>) {
    let mut supports = annex.sources.iter().flat_map(|source| &source.supports);
    let supported = supports.any(|supported| covers(supported, pointer));
    if !own.is_empty() || supported {
        return;
    }
    let reason = match rate {
        Some(rate) => format!("nothing bears this out, and its rate of {rate} is a claim"),
        None => "nothing bears this out".to_owned(),
    };
    let fix = "name a source here, or in the annex's \"sources\" with this pointer under \"supports\"";
    found
        .push(Violation::warning(Part::Document, format!("{pointer}/sources"), "no-source", reason).fix(fix));
}

/// Whether a source for `supported` bears on `pointer`: the same value, or one inside it.
fn covers(supported: &str, pointer: &str) -> bool {
    supported
        .strip_prefix(pointer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

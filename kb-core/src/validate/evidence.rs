//! What nothing bears out.

use super::{Part, Violation};
use crate::annex::Annex;
use crate::record::{Document, VerificationTier};

/// What has no source of its own and none in the annex that supports it: dead ends and workarounds; of a record that calls itself
/// documented also the cause, what comes before and what follows. A confused pair rests on what each of the two prints,
/// which a test holds against their examples. And a tier that rests on a report without naming it.
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
    if document.tier() == Some(VerificationTier::Documented) {
        let graph = &document.transition_graph;
        let place = |list: &str, index: usize| format!("/transition_graph/{list}/{index}");
        let follows = (0..graph.leads_to.len()).map(|index| place("leads_to", index));
        let precedes = (0..graph.preceded_by.len()).map(|index| place("preceded_by", index));
        for pointer in std::iter::once("/root_cause".to_owned())
            .chain(follows)
            .chain(precedes)
        {
            documented(&pointer, annex, &mut found);
        }
    }
    if document.tier() == Some(VerificationTier::Reproduced) && annex.reproduced.is_empty() {
        let reason = "no report of real hardware is named that shows it";
        let fix = "name one in the annex's \"reproduced\", or claim another tier";
        let pointer = "/verification_tier";
        found.push(Violation::error(Part::Document, pointer, "no-report", reason).fix(fix));
    }
    found
}

fn documented(pointer: &str, annex: &Annex, found: &mut Vec<Violation>) {
    if !supported(pointer, annex) {
        let reason = "nothing bears this out, and the record calls itself documented";
        let fix = "name a page or log in the annex's \"sources\" with this pointer under \"supports\", or claim a weaker tier";
        found.push(Violation::warning(Part::Document, pointer, "no-source", reason).fix(fix));
    }
}

/// Whether a source of the annex bears on what stands at a pointer.
fn supported(pointer: &str, annex: &Annex) -> bool {
    let mut supports = annex.sources.iter().flat_map(|source| &source.supports);
    supports.any(|supported| covers(supported, pointer))
}

fn claim(pointer: &str, own: &[String], rate: Option<f64>, annex: &Annex, found: &mut Vec<Violation>) {
    if !own.is_empty() || supported(pointer, annex) {
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

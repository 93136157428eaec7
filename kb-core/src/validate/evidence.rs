//! What nothing bears out.

use super::{Part, Violation};
use crate::annex::Annex;
use crate::record::{Document, VerificationTier};

/// The rule that an edge to what follows cites a page or a run.
pub(super) const EDGE_NO_SOURCE: &str = "edge-no-source";

/// What has no source of its own and none in the annex that supports it: dead ends, workarounds and what follows; of a record that
/// calls itself documented also the cause and what comes before. A confused pair rests on what each of the two prints,
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
    let graph = &document.transition_graph;
    for index in 0..graph.leads_to.len() {
        follows(&format!("/transition_graph/leads_to/{index}"), annex, &mut found);
    }
    if document.tier() == Some(VerificationTier::Documented) {
        documented("/root_cause", annex, &mut found);
        for index in 0..graph.preceded_by.len() {
            documented(
                &format!("/transition_graph/preceded_by/{index}"),
                annex,
                &mut found,
            );
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

/// Only a warning here: a record that came from elsewhere keeps the edges that its author drew. In a folder of records it is
/// an error, which [`super::check_set`] makes of it.
fn follows(pointer: &str, annex: &Annex, found: &mut Vec<Violation>) {
    if !supported(pointer, annex) {
        let reason = "nothing bears out that the one leads to the other";
        let fix = "name a page in the annex's \"sources\", or a run in its \"reproduced\", with this pointer under \"supports\"; or remove the edge";
        found.push(Violation::warning(Part::Document, pointer, EDGE_NO_SOURCE, reason).fix(fix));
    }
}

fn documented(pointer: &str, annex: &Annex, found: &mut Vec<Violation>) {
    if !supported(pointer, annex) {
        let reason = "nothing bears this out, and the record calls itself documented";
        let fix = "name a page or log in the annex's \"sources\" with this pointer under \"supports\", or claim a weaker tier";
        found.push(Violation::warning(Part::Document, pointer, "no-source", reason).fix(fix));
    }
}

fn supported(pointer: &str, annex: &Annex) -> bool {
    let of_pages = annex.sources.iter().flat_map(|source| &source.supports);
    let of_runs = annex.reproduced.iter().flat_map(|run| &run.supports);
    of_pages
        .chain(of_runs)
        .any(|supported| covers(supported, pointer))
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

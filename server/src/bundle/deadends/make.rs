//! From a canon to a record.

use kb_core::ids::RecordId;
use kb_core::text::{Part, Severity, Violation};
use kb_core::validate::check_record;

use super::SYSTEM;
use super::canon::{ALL, Canon, ERROR, METADATA, VERDICT};
use super::raw::{object, quoted};
use crate::store::SeedRecord;

/// Their words for who vouches, and ours.
const TIERS: &[(&str, &str)] = &[("auto_generated", "ai_generated")];

/// Tag of records that somebody must look at.
const NEEDS_REVIEW: &str = "needs-review";

/// The record, and why somebody must look at it; or why there is none.
pub(super) fn record(
    file: &str,
    canon: &Canon<'_>,
    is_alone: bool,
) -> Result<(SeedRecord, Vec<String>), String> {
    let id: RecordId = canon
        .id
        .parse()
        .map_err(|error| format!("{:?}: {error}", canon.id))?;
    let mut reviews = Vec::new();
    let mut keep_regex = true;
    // The pattern may be one that this program does not run, or one that misses its own signature.
    let mut violations = check(&id, file, canon, is_alone, keep_regex, &reviews);
    for violation in &violations {
        if violation.part == Part::Document && violation.pointer == "/regex" {
            keep_regex &= violation.severity != Severity::Error || runs_slowly(violation);
            reviews.push(format!("{}: {}", violation.rule, violation.reason));
        } else if violation.rule == "misses-signature" {
            reviews.push(violation.reason.clone());
        }
    }
    // Compiling patterns is most of the work: once is enough where nothing changed by it.
    if !reviews.is_empty() {
        violations = check(&id, file, canon, is_alone, keep_regex, &reviews);
    }
    let broken = violations
        .into_iter()
        .find(|violation| violation.severity == Severity::Error && !runs_slowly(violation));
    if let Some(violation) = broken {
        let part = if violation.part == Part::Document {
            "document"
        } else {
            "annex"
        };
        return Err(format!("{part} {}: {}", violation.pointer, violation.reason));
    }
    let record = SeedRecord {
        document: document(canon, is_alone, keep_regex, !reviews.is_empty()),
        annex: annex(file, canon, keep_regex, &reviews),
        id,
    };
    Ok((record, reviews))
}

/// The door refuses a pattern without a literal. One of others is asked of every line, in the slow lane, until it is mended.
fn runs_slowly(violation: &Violation) -> bool {
    let is_regex = violation.part == Part::Document && violation.pointer == "/regex";
    is_regex && violation.rule == "pattern/no-literal"
}

fn check(
    id: &RecordId,
    file: &str,
    canon: &Canon<'_>,
    is_alone: bool,
    keep_regex: bool,
    reviews: &[String],
) -> Vec<Violation> {
    let document = document(canon, is_alone, keep_regex, !reviews.is_empty());
    check_record(Some(id), &document, &annex(file, canon, keep_regex, reviews))
}

fn document(canon: &Canon<'_>, is_alone: bool, keep_regex: bool, needs_review: bool) -> String {
    let raw = |value: Option<&str>| value.unwrap_or("null").to_owned();
    let error = |key| raw(canon.error.get(key));
    let verdict = |key| raw(canon.verdict.get(key));
    let aliases = if is_alone && canon.group() != canon.id {
        format!("[{}]", quoted(&canon.group()))
    } else {
        "[]".to_owned()
    };
    let members = [
        ("id", quoted(&canon.id)),
        ("signature", error("signature")),
        ("signature_zh", "null".to_owned()),
        (
            "regex",
            if keep_regex {
                error("regex")
            } else {
                "null".to_owned()
            },
        ),
        ("domain", error("domain")),
        ("category", error("category")),
        ("subcategory", "null".to_owned()),
        ("root_cause", verdict("summary")),
        ("root_cause_type", quoted("generic")),
        ("root_cause_zh", "null".to_owned()),
        ("versions", versions(canon)),
        ("os_specific", os(canon)),
        ("dead_ends", raw(canon.all.get("dead_ends"))),
        ("workarounds", raw(canon.all.get("workarounds"))),
        ("workarounds_zh", "[]".to_owned()),
        ("transition_graph", raw(canon.all.get("transition_graph"))),
        ("official_doc_url", "null".to_owned()),
        ("official_doc_section", "null".to_owned()),
        ("error_code", "null".to_owned()),
        ("verification_tier", tier(canon)),
        ("confidence", verdict("confidence")),
        ("fix_success_rate", verdict("fix_success_rate")),
        ("resolvable", verdict("resolvable")),
        ("first_seen", error("first_seen")),
        ("last_confirmed", error("last_confirmed")),
        ("last_updated", verdict("last_updated")),
        ("evidence_count", raw(canon.metadata.get("evidence_count"))),
        ("tags", tags(canon, needs_review)),
        ("locale", quoted("en")),
        ("aliases", aliases),
    ];
    let members: Vec<(&str, &str)> = members
        .iter()
        .map(|(key, value)| (*key, value.as_str()))
        .collect();
    format!("{}\n", object(&members, 0))
}

fn annex(file: &str, canon: &Canon<'_>, keep_regex: bool, reviews: &[String]) -> String {
    let raw = |value: Option<&str>| value.unwrap_or("null").to_owned();
    let mut origin = vec![
        ("system", quoted(SYSTEM)),
        ("url", raw(canon.all.get("url"))),
        ("schema_version", raw(canon.all.get("schema_version"))),
        ("file", quoted(file)),
        ("group", quoted(&canon.group())),
        ("environment", raw(canon.all.get("environment"))),
    ];
    if !keep_regex {
        origin.push(("regex", raw(canon.error.get("regex"))));
    }
    if !reviews.is_empty() {
        let reviews: Vec<String> = reviews.iter().map(|why| quoted(why)).collect();
        origin.push(("needs_review", format!("[{}]", reviews.join(", "))));
    }
    for (key, unknown) in [
        ("more", canon.all.except(ALL)),
        ("more_error", canon.error.except(ERROR)),
        ("more_verdict", canon.verdict.except(VERDICT)),
    ] {
        if !unknown.is_empty() {
            origin.push((key, object(&unknown, 2)));
        }
    }
    let origin: Vec<(&str, &str)> = origin.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let origin = object(&origin, 1);
    let provenance = object(&canon.metadata.except(METADATA), 1);
    let mut members = vec![("schema_version", "1")];
    if let Some(hardware) = canon.environment.get("hardware") {
        members.push(("hardware", hardware));
    }
    members.extend([("origin", origin.as_str()), ("provenance", provenance.as_str())]);
    format!("{}\n", object(&members, 0))
}

/// Their review status by our name where we have one.
fn tier(canon: &Canon<'_>) -> String {
    let status = canon.metadata.string("review_status").unwrap_or_default();
    let ours = TIERS.iter().find(|(theirs, _)| *theirs == status);
    quoted(ours.map_or(status.as_str(), |(_, ours)| ours))
}

pub(super) fn review_status(tier: &str) -> &str {
    let theirs = TIERS.iter().find(|(_, ours)| *ours == tier);
    theirs.map_or(tier, |(theirs, _)| theirs)
}

/// What they call a runtime, and Python beside it.
fn versions(canon: &Canon<'_>) -> String {
    let mut names = Vec::new();
    if let Some(runtime) = canon.environment.object("runtime") {
        let part = |key| runtime.string(key).unwrap_or_default();
        names.push(format!("{}{}", part("name"), part("version_range")));
    }
    names.extend(
        canon
            .environment
            .string("python")
            .map(|range| format!("python{range}")),
    );
    let entries: Vec<String> = names
        .iter()
        .map(|name| {
            format!(
                "{{\"version\": {}, \"introduced\": null, \"deprecated\": null, \"removed\": null, \
                 \"behavior_change\": null, \"status\": \"active\"}}",
                quoted(name)
            )
        })
        .collect();
    format!("[{}]", entries.join(", "))
}

fn os(canon: &Canon<'_>) -> String {
    match canon.environment.string("os").as_deref() {
        None | Some("any" | "cross-platform" | "") => "{}".to_owned(),
        Some(os) => format!("{{{}: {{}}}}", quoted(os)),
    }
}

fn tags(canon: &Canon<'_>, needs_review: bool) -> String {
    let hardware = canon.environment.object("hardware");
    let gpu = hardware.and_then(|hardware| hardware.string("gpu"));
    let mut tags: Vec<String> = canon.error.string("category").into_iter().chain(gpu).collect();
    if needs_review {
        tags.push(NEEDS_REVIEW.to_owned());
    }
    let tags: Vec<String> = tags.iter().map(|tag| quoted(tag)).collect();
    format!("[{}]", tags.join(", "))
}

//! Xids and SXids in the logs of a report that no record is about. Where the node keeps a ledger, that tells of them.

use std::cmp::Reverse;

use kb_core::ids::RecordId;
use kb_core::observation::known;
use kb_core::policy::Policy;
use kb_core::report::{Bearing, Family, Report, fact_name};
use kb_core::scanner::ScanOptions;
use kb_core::verdict::{Unrecorded, unrecorded};
use serde_json::json;

use super::evidence::Evidence;
use super::logs::{LOGS, SUBJECT};
use crate::domain::policy::names::find;
use crate::feed::Generation;
use crate::store::{Gravity, NewFinding};

/// Most that are looked at, the worst first: a forged log may have any number of them.
const MOST_LOOKED_AT: usize = 256;
/// Most findings of one report.
const MOST: usize = 32;
/// What stands in a rule between the family and the number.
const UNKNOWN: &str = "/unknown-";

/// Of another tool's logs nobody knows which machine wrote them.
pub(super) fn findings(generation: &Generation, report: &Report, policy: &Policy) -> Vec<NewFinding> {
    if report.health.is_some() || report.host.contains_key(fact_name::CONVERT_TOOLS) {
        return Vec::new();
    }
    // A record that agents know may have been withdrawn here, or never have been published.
    let is_published = |id: &RecordId| find(generation, id.as_str()).is_some();
    let mut found = unrecorded(report, policy, is_published);
    // A number that is known to be no matter of the node needs no record.
    found.retain(|one| {
        one.bearing > Bearing::Event || one.by_policy.is_some() || known(one.family, one.number).is_none()
    });
    found.sort_by_key(|one| Reverse(one.bearing));
    let found = found.into_iter().take(MOST_LOOKED_AT);
    let unexplained = found.filter(|one| !is_explained(generation, &one.text));
    unexplained.take(MOST).map(finding).collect()
}

/// Whether a record that is published here takes the line, which no agent knows.
fn is_explained(generation: &Generation, line: &str) -> bool {
    let options = ScanOptions {
        keep_text: false,
        ..ScanOptions::default()
    };
    let mut scanner = generation.matcher.scanner(options);
    scanner.feed(line.as_bytes());
    scanner.feed(b"\n");
    !scanner.finish().matches.is_empty()
}

fn finding(found: Unrecorded) -> NewFinding {
    let mut evidence = Evidence::new();
    evidence.pointer(
        &format!("{LOGS}{}/text", found.log),
        &json!({
            "line": found.line,
            "text": found.text,
            "count": found.count,
            "family": found.family.word(),
            "number": found.number,
            "device": found.device,
        }),
    );
    NewFinding {
        record: None,
        rule: rule_of(found.family, found.number),
        subject: SUBJECT.to_owned(),
        title: found.text,
        evidence: evidence.into_json(),
        gravity: Gravity {
            bearing: found.bearing,
            ..Gravity::default()
        },
        by_policy: found.by_policy,
    }
}

/// `xid/unknown-180`: each number is a finding of its own, so that a silence of one hides no other.
fn rule_of(family: Family, number: u32) -> String {
    format!("{}{UNKNOWN}{number}", family.word().to_lowercase())
}

/// The number that such a rule is about; `None` for other rules.
pub(in crate::domain) fn number_of(rule: &str) -> Option<(Family, u32)> {
    let (word, number) = rule.split_once(UNKNOWN)?;
    let mut families = [Family::Xid, Family::Sxid].into_iter();
    let family = families.find(|family| family.word().to_lowercase() == word)?;
    Some((family, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_names_its_number() {
        for (family, number, rule) in [
            (Family::Xid, 180, "xid/unknown-180"),
            (Family::Sxid, 29_999, "sxid/unknown-29999"),
        ] {
            assert_eq!(rule_of(family, number), rule);
            assert_eq!(number_of(rule), Some((family, number)));
        }
        for other in [
            "xid/79-gpu-has-fallen-off-the-bus",
            "verdict/unknown",
            "xid/unknown-x",
        ] {
            assert_eq!(number_of(other), None, "{other}");
        }
    }
}

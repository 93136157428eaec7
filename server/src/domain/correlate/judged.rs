//! What the server's own look at a report's figures and facts comes to, where the report says less: each pair that is degraded.

use kb_core::policy::Policy;
use kb_core::report::{Bearing, Pair, Report};
use kb_core::text::Json;
use kb_core::verdict::{Verdict, judged};
use serde_json::Value;

use super::evidence::Evidence;
use super::facts::pair_name;
use super::states::published;
use crate::feed::Generation;
use crate::store::{Gravity, NewFinding};

/// Pointers of one finding that are kept.
const MOST_POINTERS: usize = 16;

pub(super) fn findings(
    generation: &Generation,
    (report, body): (&Report, &Json),
    (policy, contradiction): (&Policy, Option<&(Verdict, String)>),
) -> Vec<NewFinding> {
    // Only where it decides the verdict: else the report's own words stand.
    let decides = contradiction.is_some_and(|(verdict, _)| *verdict == Verdict::Degraded);
    if !decides || !report.was_tried() {
        return Vec::new();
    }
    let by_rules = judged(report, policy);
    let pairs = report.pairs.iter().zip(&by_rules.pairs);
    let unsaid = pairs.filter(|(said, found)| {
        found.verdict.verdict == Verdict::Degraded && said.verdict.verdict < Verdict::Degraded
    });
    unsaid
        .map(|(_, found)| of_pair(generation, body, found))
        .collect()
}

fn of_pair(generation: &Generation, body: &Json, pair: &Pair) -> NewFinding {
    let verdict = &pair.verdict;
    let mut evidence = Evidence::new();
    for pointer in verdict.evidence.iter().take(MOST_POINTERS) {
        // A cell has all its samples: where it is, is enough.
        let value = body
            .pointer(pointer)
            .filter(|value| !matches!(value, Json::Object(_)));
        evidence.pointer(pointer, &value.map_or(Value::Null, Json::to_value));
    }
    let record = published(generation, verdict.record.as_ref());
    // What its record means for the node is the record's to say.
    let gravity = match &record {
        Some(_) => Gravity::default(),
        None => Gravity {
            bearing: Bearing::Warning,
            ..Gravity::default()
        },
    };
    NewFinding {
        record,
        rule: format!("pair/{}", verdict.cause.as_deref().unwrap_or_default()),
        subject: pair_name(pair.a, pair.b),
        title: verdict.reason.clone(),
        evidence: evidence.into_json(),
        gravity,
        by_policy: None,
    }
}

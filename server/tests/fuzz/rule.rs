//! Rules over reports: refused with a reason, or asked in bounded time.

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use kb_core::annex::ProbeScope;
use kb_core::report::Report;
use kb_core::text::{Json, parse_values};
use peerless::domain::correlate::{Correlator, check_expression};
use peerless::feed;
use peerless::store::SeedRecord;
use serde_json::json;

/// Pieces of rules.
pub(crate) const WORDS: &[&str] = &[
    "report.pairs",
    "pair.directions",
    "direction.can_access_peer.value",
    "gpu.memory_bytes.value",
    ".exists(x, ",
    ".all(y, ",
    ".map(z, ",
    ".filter(w, ",
    "has(report.host)",
    "size(",
    " in ",
    " ? ",
    " : ",
    "!",
    "-9223372036854775808",
    "1.0e308 * 10.0",
    "b'\\xff'",
    "r\"\"\"",
    "'显卡'",
    "[1, 2, ",
    "{'a': ",
    "((((((((",
    " && ",
    " == ",
    " % 0",
];

/// A report of two GPUs.
static REPORT: LazyLock<(Report, Json)> = LazyLock::new(|| {
    let text = include_str!("../../../fuzz/report/h200-x2-healthy.json");
    (
        serde_json::from_str(text).unwrap(),
        parse_values(text, text.len()).unwrap(),
    )
});

const DOCUMENT: &str = include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.json");
const ID: &str = "cuda/peer-access-unsupported-by-hardware";

/// Far above what the dearest rule costs that is let in, unoptimised and on a machine that does other things.
const LONGEST: Duration = Duration::from_secs(20);

/// Whatever is let in as a rule of a scope is asked about a report without a fault of the process.
pub(crate) fn check(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    for (name, scope) in [
        ("report", ProbeScope::Report),
        ("direction", ProbeScope::Direction),
    ] {
        match check_expression(scope, text) {
            Err(refusal) => assert!(
                !refusal.reason.is_empty() && !refusal.fix.is_empty(),
                "{refusal:?}"
            ),
            Ok(()) => ask(name, text),
        }
    }
}

fn ask(scope: &str, expression: &str) {
    let annex = json!({
        "schema_version": 1,
        "probe": [{"id": "fuzzed", "scope": scope, "when": expression, "evidence": [expression]}],
    });
    let record = SeedRecord {
        id: ID.parse().unwrap(),
        document: DOCUMENT.to_owned(),
        annex: annex.to_string(),
    };
    let generation = Arc::new(feed::offline(vec![record]).unwrap());
    let (report, body) = &*REPORT;
    let began = Instant::now();
    let findings =
        Correlator::new().correlate(&generation, (report, body), &kb_core::policy::Policy::default());
    assert!(
        began.elapsed() < LONGEST,
        "{:?} for {expression}",
        began.elapsed()
    );
    for finding in findings {
        serde_json::to_string(&finding.evidence).unwrap();
    }
}

//! What is found, in the form of `POST /api/v1/match`.

use kb_core::ids::RecordId;
use kb_core::scanner::{KnownComponent, Match, Order, RootCause, Summary, Unexplained, UnknownCause};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::knowledge::Knowledge;

/// What was found in a log. Empty `matches` means: no known error.
#[derive(Debug, Serialize)]
pub struct Answer {
    matches: Vec<Explained>,
    /// Always empty: candidates come from an index that the tab does not have.
    candidates: [(); 0],
    root_cause: Option<RecordId>,
    root_causes: Vec<RootCause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown_cause: Option<UnknownCause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unexplained: Option<Unexplained>,
    order: Order,
    lines_scanned: u64,
    bytes_scanned: u64,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    environment: Vec<KnownComponent>,
    kb: Box<RawValue>,
}

#[derive(Debug, Serialize)]
struct Explained {
    #[serde(flatten)]
    found: Match,
    #[serde(flatten)]
    brief: Map<String, Value>,
}

pub(crate) fn explained(summary: Summary, knowledge: &Knowledge, base_url: &str) -> Answer {
    let explain = |found: Match| {
        let mut brief = knowledge.briefs.get(&found.id).cloned().unwrap_or_default();
        if let Some(Value::String(address)) = brief.get_mut("address") {
            address.insert_str(0, base_url);
        }
        if !found.harmless && brief.contains_key("harmless_unless") {
            forget_advice(&mut brief);
        }
        Explained { found, brief }
    };
    Answer {
        matches: summary.matches.into_iter().map(explain).collect(),
        candidates: [],
        root_cause: summary.root_cause,
        root_causes: summary.root_causes,
        unknown_cause: summary.unknown_cause,
        unexplained: summary.unexplained,
        order: summary.order,
        lines_scanned: summary.lines_scanned,
        bytes_scanned: summary.bytes_scanned,
        notes: summary.notes,
        environment: summary.environment,
        kb: knowledge.kb.clone(),
    }
}

/// The driver calls a line fatal whose message the record calls harmless: the record's advice does not hold.
fn forget_advice(brief: &mut Map<String, Value>) {
    brief.insert("severity".to_owned(), "fatal".into());
    for advice in ["action", "workaround"] {
        brief.insert(advice.to_owned(), Value::Null);
    }
}

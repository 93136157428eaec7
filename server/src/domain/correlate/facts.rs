//! The report as rules see it: the JSON as sent, unknown fields included, without what could make a rule slow.
//!
//! Absent and null are the same, so that `has(x.value)` means that there is a value. Lists and maps longer than the
//! limit are absent (a rule that needs them does not apply), and so are log texts, which the matcher reads.

use std::collections::HashMap;
use std::sync::Arc;

use cel::Value as Cel;
use kb_core::annex::ProbeScope;
use kb_core::report::{Pair, Report};
use kb_core::verdict::Verdict;
use serde_json::Value;

use super::limits::MAX_LIST;
use super::logs::sentence;

/// Longest text that rules see, in bytes; names and reasons are far shorter.
const MAX_TEXT_BYTES: usize = 4 * 1024;

/// Heaviest report that rules see whole; a node of eight GPUs with all measurements has some 20,000.
const MAX_WEIGHT: usize = 200_000;

#[derive(Debug)]
pub(super) struct Facts {
    pub(super) report: Cel,
    whole: [Subject; 1],
    pairs: Vec<Subject>,
    gpus: Vec<Subject>,
    directions: Vec<Subject>,
}

#[derive(Debug)]
pub(super) struct Subject {
    /// `report`, `pair 0-1`, `gpu 3`, `direction 0-1`.
    pub(super) name: String,
    pub(super) pointer: String,
    pub(super) variables: Vec<(&'static str, Cel)>,
    /// What the report itself says is wrong with it.
    pub(super) said: Option<String>,
}

impl Facts {
    pub(super) fn of(report: &Report, body: &Value) -> Self {
        let mut pairs = Vec::new();
        let mut directions = Vec::new();
        for (number, pair) in report.pairs.iter().enumerate() {
            let pointer = format!("/pairs/{number}");
            let Some(pair_value) = body.pointer(&pointer).and_then(convert) else {
                continue;
            };
            for (at, direction) in pair.directions.iter().enumerate() {
                let pointer = format!("{pointer}/directions/{at}");
                let Some(value) = body.pointer(&pointer).and_then(convert) else {
                    continue;
                };
                directions.push(Subject {
                    name: format!("direction {}-{}", direction.initiator, direction.owner),
                    pointer,
                    variables: vec![("pair", pair_value.clone()), ("direction", value)],
                    said: reason_of(pair),
                });
            }
            pairs.push(Subject {
                name: pair_name(pair.a, pair.b),
                pointer,
                variables: vec![("pair", pair_value)],
                said: reason_of(pair),
            });
        }
        let gpus = (0..report.gpus.len()).filter_map(|number| {
            let pointer = format!("/gpus/{number}");
            let value = body.pointer(&pointer).and_then(convert)?;
            Some(Subject {
                name: format!("gpu {number}"),
                pointer,
                variables: vec![("gpu", value)],
                said: None,
            })
        });
        Self {
            whole: [Subject {
                name: "report".to_owned(),
                pointer: String::new(),
                variables: Vec::new(),
                said: match report.failures.as_slice() {
                    // Of several nobody knows which one a rule means.
                    [only] => Some(sentence(only)),
                    _ => None,
                },
            }],
            gpus: gpus.collect(),
            report: whole(body),
            pairs,
            directions,
        }
    }

    pub(super) fn subjects(&self, scope: ProbeScope) -> &[Subject] {
        match scope {
            ProbeScope::Report => &self.whole,
            ProbeScope::Pair => &self.pairs,
            ProbeScope::Gpu => &self.gpus,
            ProbeScope::Direction => &self.directions,
        }
    }
}

/// The whole report, without measurements where it is too large with them, and nothing where it still is.
fn whole(body: &Value) -> Cel {
    if weight(body) <= MAX_WEIGHT {
        return convert(body).unwrap_or(Cel::Null);
    }
    let mut smaller = body.clone();
    if let Value::Object(members) = &mut smaller {
        members.remove("measurements");
        members.remove("logs");
    }
    if weight(&smaller) <= MAX_WEIGHT {
        convert(&smaller).unwrap_or(Cel::Null)
    } else {
        Cel::Null
    }
}

/// What copying a value costs: its values, with long texts counted as several.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + text.len() / 64,
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(|value| 1 + weight(value)).sum::<usize>(),
    }
}

fn reason_of(pair: &Pair) -> Option<String> {
    let reason = pair.verdict.reason.trim();
    let is_said = pair.verdict.verdict != Verdict::Healthy && !reason.is_empty();
    is_said.then(|| reason.to_owned())
}

pub(super) fn pair_name(a: u32, b: u32) -> String {
    format!("pair {a}-{b}")
}

/// A JSON value for rules; `None` for null and for what is too large.
fn convert(value: &Value) -> Option<Cel> {
    match value {
        Value::Null => None,
        Value::Bool(bool) => Some(Cel::Bool(*bool)),
        // Whole numbers are `int` whatever their size in JSON, so that `x == 0` means what it says.
        Value::Number(number) => number
            .as_i64()
            .map(Cel::Int)
            .or_else(|| number.as_f64().map(Cel::Float)),
        Value::String(text) => (text.len() <= MAX_TEXT_BYTES).then(|| Cel::from(text.as_str())),
        Value::Array(items) => {
            let converted = || items.iter().filter_map(convert).collect::<Vec<Cel>>();
            (items.len() <= MAX_LIST).then(|| Cel::List(Arc::new(converted())))
        }
        Value::Object(members) => {
            if members.len() > MAX_LIST {
                return None;
            }
            let converted = members
                .iter()
                .filter_map(|(key, value)| Some((key.clone(), convert(value)?)));
            Some(Cel::from(converted.collect::<HashMap<String, Cel>>()))
        }
    }
}

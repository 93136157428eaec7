//! The report as rules see it: the JSON as sent, unknown fields included, without what could make a rule slow, and without what no rule
//! reads.
//!
//! Absent and null are the same, so that `has(x.value)` means that there is a value. Lists and maps longer than the
//! limit are absent (a rule that needs them does not apply), and so are log texts, which the matcher reads.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cel::common::types::{CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString};
use cel::common::value::{CowVal, Val};
use cel::context::VariableResolver;
use kb_core::annex::ProbeScope;
use kb_core::report::{Pair, Report};
use kb_core::text::Json;
use kb_core::verdict::Verdict;

use super::limits::MAX_LIST;
use super::logs::sentence;
use super::reads::Reads;

/// A value as rules see it. Its texts are those of the JSON.
type Seen<'j> = Box<dyn Val + 'j>;

/// Longest text that rules see, in bytes; names and reasons are far shorter.
const MAX_TEXT_BYTES: usize = 4 * 1024;

/// Heaviest report that rules see whole; a node of eight GPUs with all measurements has some 20,000.
const MAX_WEIGHT: usize = 200_000;

/// The report is converted once, and pairs, GPUs and directions are lent from it: a report of eight GPUs has 20,000 values.
#[derive(Debug)]
pub(super) struct Facts<'j> {
    report: Seen<'j>,
    /// Values, by their pointers, that the report as rules see it lacks: it is too large.
    apart: BTreeMap<String, Seen<'j>>,
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
    /// Names of variables and pointers to their values.
    variables: Vec<(&'static str, String)>,
    /// What the report itself says is wrong with it.
    pub(super) said: Option<String>,
}

/// The variables of one subject, and `report`.
pub(super) struct Variables<'f> {
    report: &'f dyn Val,
    others: Vec<(&'static str, &'f dyn Val)>,
}

impl VariableResolver for Variables<'_> {
    fn resolve<'b>(&'b self, variable: &str) -> Option<CowVal<'b, 'b>> {
        if variable == "report" {
            return Some(CowVal::Borrowed(self.report));
        }
        let (_, value) = self.others.iter().find(|(name, _)| *name == variable)?;
        Some(CowVal::Borrowed(*value))
    }
}

impl<'j> Facts<'j> {
    /// As far as rules that read so much see it.
    pub(super) fn of(report: &Report, body: &'j Json, reads: &Reads) -> Self {
        let mut facts = Self {
            report: whole(body, reads),
            apart: BTreeMap::new(),
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
            pairs: Vec::new(),
            gpus: Vec::new(),
            directions: Vec::new(),
        };
        for (number, pair) in report.pairs.iter().enumerate() {
            let pointer = format!("/pairs/{number}");
            if !facts.has((body, reads), &pointer) {
                continue;
            }
            for (at, direction) in pair.directions.iter().enumerate() {
                let of_direction = format!("{pointer}/directions/{at}");
                if !facts.has((body, reads), &of_direction) {
                    continue;
                }
                facts.directions.push(Subject {
                    name: format!("direction {}-{}", direction.initiator, direction.owner),
                    pointer: of_direction.clone(),
                    variables: vec![("pair", pointer.clone()), ("direction", of_direction)],
                    said: reason_of(pair),
                });
            }
            facts.pairs.push(Subject {
                name: pair_name(pair.a, pair.b),
                pointer: pointer.clone(),
                variables: vec![("pair", pointer)],
                said: reason_of(pair),
            });
        }
        for number in 0..report.gpus.len() {
            let pointer = format!("/gpus/{number}");
            if facts.has((body, reads), &pointer) {
                facts.gpus.push(Subject {
                    name: format!("gpu {number}"),
                    pointer: pointer.clone(),
                    variables: vec![("gpu", pointer)],
                    said: None,
                });
            }
        }
        facts
    }

    pub(super) fn subjects(&self, scope: ProbeScope) -> &[Subject] {
        match scope {
            ProbeScope::Report => &self.whole,
            ProbeScope::Pair => &self.pairs,
            ProbeScope::Gpu => &self.gpus,
            ProbeScope::Direction => &self.directions,
        }
    }

    pub(super) fn variables<'f>(&'f self, subject: &'f Subject) -> Variables<'f> {
        let lent = subject
            .variables
            .iter()
            .filter_map(|(name, pointer)| Some((*name, self.at(pointer)?)));
        Variables {
            report: &*self.report,
            others: lent.collect(),
        }
    }

    fn at<'f>(&'f self, pointer: &'f str) -> Option<&'f dyn Val> {
        match self.apart.get(pointer) {
            Some(value) => Some(&**value),
            None => at(&*self.report, pointer),
        }
    }

    /// Whether rules can see the value at this pointer. One that the report as they see it lacks is converted by itself.
    fn has(&mut self, (body, reads): (&'j Json, &Reads), pointer: &str) -> bool {
        if is_complete(&*self.report, body, pointer) {
            return true;
        }
        let value = body.pointer(pointer);
        let value = value.and_then(|value| seen(value, reads.below(pointer)));
        let has = value.is_some();
        self.apart.extend(value.map(|value| (pointer.to_owned(), value)));
        has
    }
}

/// The value at a pointer into what [`seen`] made.
fn at<'f>(value: &'f dyn Val, pointer: &'f str) -> Option<&'f dyn Val> {
    pointer.split('/').skip(1).try_fold(value, |value, part| {
        if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
            return map.inner().get(&CelMapKey::from(part)).map(|value| &**value);
        }
        let list = value.downcast_ref::<CelList<'_>>()?;
        list.inner()
            .get(part.parse::<usize>().ok()?)
            .map(|value| &**value)
    })
}

/// Whether a value is there, and no list on the way to it lacks an item, which would move all behind it.
fn is_complete(seen: &dyn Val, body: &Json, pointer: &str) -> bool {
    let slashes = pointer.match_indices('/').map(|(at, _)| at).skip(1);
    let mut on_the_way = slashes.filter_map(|end| pointer.get(..end));
    let has_all = |above: &str| match (at(seen, above), body.pointer(above)) {
        (Some(seen), Some(Json::Array(items))) => seen
            .downcast_ref::<CelList<'_>>()
            .is_some_and(|list| list.inner().len() == items.len()),
        (seen, _) => seen.is_some(),
    };
    on_the_way.all(has_all) && at(seen, pointer).is_some()
}

/// The whole report, without measurements where it is too large with them, and nothing where it still is.
fn whole<'j>(body: &'j Json, reads: &Reads) -> Seen<'j> {
    let nothing = || -> Seen<'_> { Box::new(CelNull) };
    let all = weight(body);
    if all <= MAX_WEIGHT {
        return seen(body, Some(reads)).unwrap_or_else(nothing);
    }
    let Json::Object(members) = body else {
        return nothing();
    };
    let is_left_out = |key: &str| matches!(key, "measurements" | "logs");
    let left_out = members.iter().filter(|(key, _)| is_left_out(key));
    if all - left_out.map(|(_, value)| 1 + weight(value)).sum::<usize>() > MAX_WEIGHT {
        return nothing();
    }
    map(members.iter().filter(|(key, _)| !is_left_out(key)), Some(reads))
}

/// What copying a value costs: its values, with long texts counted as several.
fn weight(value: &Json) -> usize {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => 1,
        Json::Text(text) => 1 + text.len() / 64,
        Json::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Json::Object(members) => 1 + members.iter().map(|(_, value)| 1 + weight(value)).sum::<usize>(),
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

/// A JSON value for rules that read so much of it, or all of it; `None` for null and for what is too large.
fn seen<'j>(value: &'j Json, reads: Option<&Reads>) -> Option<Seen<'j>> {
    Some(match value {
        Json::Bool(bool) => Box::new(CelBool::from(*bool)),
        // Whole numbers are `int` whatever their size in JSON, so that `x == 0` means what it says.
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Box::new(CelInt::from(whole)),
            None => Box::new(CelDouble::from(number.as_f64()?)),
        },
        Json::Text(text) if text.len() <= MAX_TEXT_BYTES => Box::new(CelString::from(&**text)),
        Json::Array(items) if items.len() <= MAX_LIST => {
            let of_each = reads.and_then(Reads::items);
            let items: Vec<Seen<'_>> = items.iter().filter_map(|item| seen(item, of_each)).collect();
            Box::new(CelList::from(items))
        }
        Json::Object(members) if members.len() <= MAX_LIST => map(members.iter(), reads),
        Json::Null | Json::Text(_) | Json::Array(_) | Json::Object(_) => return None,
    })
}

fn map<'j>(members: impl Iterator<Item = &'j (Arc<str>, Json)>, reads: Option<&Reads>) -> Seen<'j> {
    let read = reads.and_then(Reads::members);
    let seen = members.filter_map(|(key, value)| {
        let of_member = match read {
            Some(read) => Some(read.get(&**key)?),
            None => None,
        };
        Some((CelMapKey::from(&**key), seen(value, of_member)?))
    });
    Box::new(CelMap::from(seen.collect::<HashMap<CelMapKey<'_>, Seen<'_>>>()))
}

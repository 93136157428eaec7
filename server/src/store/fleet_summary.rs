//! What is kept of each node as its reports come, so that lists and counts of a fleet read no report.

use kb_core::ids::RecordId;
use kb_core::report::{Bearing, Ruled};
use kb_core::severity::{Action, Severity};
use kb_core::verdict::Verdict;
use serde::Serialize;
use serde::de::{DeserializeOwned, IntoDeserializer as _, value};
use time::OffsetDateTime;

use super::Handling;

/// Longest name of a model, a driver, a rule or a finding that summaries keep, in characters.
pub const SUMMARY_NAME_CHARACTERS: usize = 200;
/// Longest title of a finding that summaries keep, in characters.
pub const SUMMARY_TITLE_CHARACTERS: usize = 500;
/// Findings of a node that are kept open, the worst first, and as many that have ended.
pub const SUMMARY_FINDINGS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSummary {
    /// The verdict that stands, see [`super::standing`].
    pub verdict: Verdict,
    /// End of the run that showed this verdict first.
    pub since: OffsetDateTime,
    /// End of the latest run.
    pub heard_at: OffsetDateTime,
    /// The report that stands is of a stand-in for the driver.
    pub simulated: bool,
    /// GPUs of the report that stands.
    pub gpus: u32,
    /// Model of the GPUs, as a report named it last.
    pub model: Option<String>,
    /// Version of the driver, as a report named it last.
    pub driver: Option<String>,
    /// The worst of what is open.
    pub cause: Option<Cause>,
    /// What to do first about it; `None` where the verdict asks for something and no record says what.
    pub action: Option<Action>,
    /// Version of the records and the policy that decided; `None` where it was not noted.
    pub rule_set: Option<String>,
    /// Open findings that the site's policy makes milder.
    pub milder: u32,
}

/// What is worst of what is open on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The record that explains it; `None`: no known one does.
    pub record: Option<RecordId>,
    pub rule: String,
}

/// What reports of a node show, from the first report to the last that did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeFinding {
    /// Names it on its node: the record's id, else `rule:` and the rule.
    pub name: String,
    pub record: Option<RecordId>,
    pub rule: String,
    pub title: String,
    /// GPUs, pairs and the like that it is about, in the report that shows most.
    pub subjects: u32,
    pub severity: Option<Severity>,
    pub action: Option<Action>,
    pub bearing: Bearing,
    pub simulated: bool,
    /// The report that stands or the latest one shows it.
    pub is_open: bool,
    /// End of the first run that showed it, ever.
    pub first_at: OffsetDateTime,
    /// End of the first run that showed it since it was over last.
    pub opened_at: OffsetDateTime,
    pub last_at: OffsetDateTime,
    /// When a report came that ended it.
    pub ended_at: Option<OffsetDateTime>,
    pub reports: u32,
    /// What the site's policy made of it; none where the records decided.
    pub by_policy: Option<Ruled>,
    /// Who looks after it.
    pub owner: Option<String>,
    /// What was done about it last; it counts no longer where it has come again since, or its time is over.
    pub handling: Option<Handling>,
}

/// The word of a value of a small vocabulary, as JSON has it.
pub fn word<T: Serialize>(value: T) -> String {
    let json = serde_json::to_value(value).ok();
    json.and_then(|json| json.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// The value of a word; `None` where the vocabulary has no such word.
pub fn of_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    let deserializer: value::StrDeserializer<'_, value::Error> = word.into_deserializer();
    T::deserialize(deserializer).ok()
}

pub fn cut(text: &str, characters: usize) -> &str {
    match text.char_indices().nth(characters) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

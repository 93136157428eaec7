//! An answer as programs get it: each match with its record in short, so that acting on it needs no second request.

use std::sync::Arc;

use kb_core::annex::{Action, Blame, Severity, WorkaroundKind, WorkaroundNote, WorkaroundScope};
use kb_core::ids::RecordId;
use kb_core::record::{Record, VerificationTier, Workaround};
use kb_core::scanner::{KnownComponent, Match, Order, RootCause, Unexplained, UnknownCause};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::lookup::{Candidate, MatchAnswer};
use crate::feed::{Generation, PublishedRecord};
use peerless_search::KnowledgeStamp;

/// Most bytes of whole records in one answer. Records have 256 KiB at most, and typically 10 KiB.
const MAX_RECORD_BYTES: usize = 2 << 20;

/// What was found in a text. Empty `matches` means: no known error.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExplainedAnswer {
    /// Records that stand in the text, best first; those that do not apply to the environment last.
    pub matches: Vec<ExplainedMatch>,
    /// Records that may be meant, shown apart.
    pub candidates: Vec<Candidate>,
    /// The first of `root_causes`.
    #[schema(value_type = Option<String>)]
    pub root_cause: Option<RecordId>,
    /// Matches that no earlier match leads to, in order.
    pub root_causes: Vec<RootCause>,
    /// An error that no record knows and that stands before `root_causes`: only where these do not explain the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_cause: Option<UnknownCause>,
    /// Lines that look like errors and that no record explains; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unexplained: Option<Unexplained>,
    /// What "earlier" means in this answer.
    pub order: Order,
    /// Lines read.
    pub lines_scanned: u64,
    /// Bytes read.
    pub bytes_scanned: u64,
    /// What was cut, capped or left out, in plain sentences.
    pub notes: Vec<String>,
    /// What is known of where the text was written: what was given, and what the text itself says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<KnownComponent>,
    /// Which state of the knowledge answered.
    pub kb: KnowledgeStamp,
}

impl ExplainedAnswer {
    /// Whether something was found that is not harmless.
    pub fn has_error(&self) -> bool {
        self.matches.iter().any(|explained| !explained.found.harmless)
    }

    /// Whether something looks like an error and no record explains it.
    pub fn has_unexplained(&self) -> bool {
        self.unexplained.is_some() || self.unknown_cause.is_some()
    }
}

/// A record that stands in the text, and what it says in short.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExplainedMatch {
    /// Where and why it matched.
    #[serde(flatten)]
    pub found: Match,
    /// What the record says; absent in answers of servers that do not say it.
    #[serde(flatten)]
    pub brief: Option<Brief>,
    /// The whole record, where it was asked for.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub record: Option<WholeRecord>,
}

/// A record in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Brief {
    /// What is wrong, in a few words; `null` where the record has no title.
    #[serde(default)]
    pub title: Option<String>,
    /// The same in Chinese.
    #[serde(default)]
    pub title_zh: Option<String>,
    /// The message by which people know the error.
    pub signature: String,
    /// How bad it is; `null` where the record does not say, as for the next three. `fatal` where the driver calls a line of the match
    /// fatal that the record calls harmless; `action` and `workaround` are then `null`.
    #[schema(value_type = Option<String>)]
    pub severity: Option<Severity>,
    /// What to do first.
    #[schema(value_type = Option<String>)]
    pub action: Option<Action>,
    /// What is at fault.
    #[schema(value_type = Option<String>)]
    pub at_fault: Option<Blame>,
    /// Where the message is harmless: when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harmless_unless: Option<String>,
    /// What the record rests on.
    #[schema(value_type = Option<String>)]
    pub tier: Option<VerificationTier>,
    /// Its page: a whole address, or a path where no server is known.
    pub address: String,
    /// What works best, as the record has it.
    pub workaround: Option<BriefWorkaround>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BriefWorkaround {
    /// In a sentence.
    pub action: String,
    /// The commands or steps, where the record has more than the sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// What the step does to the error: `repairs`, `avoids`, `diagnoses` or `hides`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub kind: Option<WorkaroundKind>,
    /// What the step touches: `none`, `job`, `gpu`, `node` or `fabric`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub scope: Option<WorkaroundScope>,
    /// What is given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// What must be stopped first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_first: Option<String>,
}

/// A record's two texts.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WholeRecord {
    /// The document as stored, on one line.
    #[schema(value_type = Object)]
    pub document: Box<RawValue>,
    /// What Peerless adds.
    #[schema(value_type = Object)]
    pub ext: Box<RawValue>,
}

/// How much of a record each match carries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expand {
    /// The record in short.
    #[default]
    Brief,
    /// The whole record, too.
    Record,
}

#[derive(Debug, Clone)]
pub struct Explaining {
    pub generation: Arc<Generation>,
    /// What addresses begin with; they are paths where it is absent.
    pub base_url: Option<String>,
    pub expand: Expand,
}

pub fn explain(answer: MatchAnswer, with: &Explaining) -> ExplainedAnswer {
    let mut notes = answer.notes;
    let mut left = MAX_RECORD_BYTES;
    let mut without: usize = 0;
    let matches = answer.matches.into_iter().map(|found| {
        let published = with.generation.record(&found.id);
        let brief = published.map(|published| brief(&published.record, with.base_url.as_deref()));
        let brief = brief.map(|brief| brief.of(&found));
        let record = match (with.expand, published) {
            (Expand::Record, Some(published)) => {
                let whole = whole(published, &mut left);
                without += usize::from(whole.is_none());
                whole
            }
            _ => None,
        };
        ExplainedMatch { found, brief, record }
    });
    let matches = matches.collect();
    if without > 0 {
        notes.push(format!(
            "{without} matches are without their record: an answer holds {MAX_RECORD_BYTES} bytes of records; \
             read them one by one at /api/v1/records/ID"
        ));
    }
    ExplainedAnswer {
        matches,
        candidates: answer.candidates,
        root_cause: answer.root_cause,
        root_causes: answer.root_causes,
        unknown_cause: answer.unknown_cause,
        unexplained: answer.unexplained,
        order: answer.order,
        lines_scanned: answer.lines_scanned,
        bytes_scanned: answer.bytes_scanned,
        notes,
        environment: answer.environment,
        kb: answer.kb,
    }
}

impl Brief {
    /// Of a match. Where the driver calls a line fatal whose message the record calls harmless, the record's advice does not hold.
    fn of(self, found: &Match) -> Self {
        let is_worse = !found.harmless && self.harmless_unless.is_some();
        if !is_worse {
            return self;
        }
        Self {
            severity: Some(Severity::Fatal),
            action: None,
            workaround: None,
            ..self
        }
    }
}

pub(super) fn brief(record: &Record, base_url: Option<&str>) -> Brief {
    let document = &record.document;
    Brief {
        title: record.annex.title.clone(),
        title_zh: record.annex.title_zh.clone(),
        signature: document.signature.clone(),
        severity: record.annex.severity,
        action: record.annex.action,
        at_fault: record.annex.at_fault.as_ref().map(|at_fault| at_fault.who),
        harmless_unless: record
            .annex
            .harmless
            .as_ref()
            .map(|harmless| harmless.unless.clone()),
        tier: document.tier(),
        address: format!("{}/r/{}", base_url.unwrap_or_default(), record.id()),
        // Disputed advice stands last, and is never the first thing to try.
        workaround: record
            .workarounds()
            .into_iter()
            .find(|advised| advised.dispute.is_none())
            .and_then(|advised| brief_workaround(advised.item, record.workaround_note(advised.position))),
    }
}

/// The seeds repeat `action` as `how`, or leave `action` empty where `how` says it all.
fn brief_workaround(workaround: &Workaround, note: Option<&WorkaroundNote>) -> Option<BriefWorkaround> {
    let action = workaround.action.trim();
    let how = workaround.how.as_deref().map(str::trim).unwrap_or_default();
    match (action, how) {
        ("", "") => None,
        ("", only) | (only, "") => Some((only, None)),
        (action, how) => Some((action, (action != how).then(|| how.to_owned()))),
    }
    .map(|(action, how)| BriefWorkaround {
        action: action.to_owned(),
        how,
        kind: note.map(|note| note.kind),
        scope: note.map(|note| note.scope),
        cost: note.and_then(|note| note.cost.clone()),
        stop_first: note.and_then(|note| note.stop_first.clone()),
    })
}

fn whole(published: &PublishedRecord, left: &mut usize) -> Option<WholeRecord> {
    let record = &published.record;
    let bytes = record.document_text.len() + record.annex_text.len();
    // An answer may be a line of ndjson. Line breaks in JSON stand between values only: in strings they are escaped.
    let raw = |text: &str| RawValue::from_string(text.trim().replace(['\n', '\r'], " ")).ok();
    *left = left.checked_sub(bytes)?;
    Some(WholeRecord {
        document: raw(&record.document_text)?,
        ext: raw(&record.annex_text)?,
    })
}

//! What the workbench tells.

use std::collections::BTreeMap;
use std::sync::Arc;

use kb_core::ids::{NodeId, RecordId, ReportId};
use kb_core::matcher::Matcher;
use kb_core::propose::Proposal;
use kb_core::scanner::Hit;
use kb_core::text::Violation;
use serde::Serialize;
use utoipa::ToSchema;

use super::look::{each_hit, line_of};
use super::rule::RuleAnswer;
use crate::domain::curate::Alike;
use crate::domain::work_time::WorkTime;
use peerless_search::KnowledgeStamp;

const MOST_SHOWN: usize = 20;
const MOST_CHARACTERS: usize = 400;

/// What a pattern or a draft would take.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkbenchAnswer)]
pub struct Answer {
    /// Which state of the knowledge answered.
    pub kb: KnowledgeStamp,
    /// A pattern for the lines, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposal>,
    /// Why there is no such pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_proposal: Option<String>,
    /// The patterns that were tried.
    pub patterns: Vec<PatternView>,
    /// What is loose about them, by the rules of the gate in front of publishing.
    #[schema(value_type = Vec<Object>)]
    pub findings: Vec<Violation>,
    /// Published records that may say the same as a draft; absent where none was sent. They keep nothing from being published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alike: Option<Vec<Alike>>,
    /// The pasted lines.
    pub lines: Vec<LineView>,
    /// Examples of records that it takes; absent where nothing could be asked of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples: Option<Found>,
    /// Near misses of records that it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near_misses: Option<Found>,
    /// Lines of healthy runs that it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clean: Option<Found>,
    /// Lines of further sources that it takes.
    pub sources: Vec<SourceView>,
    /// What a rule finds in kept reports, where one was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleAnswer>,
}

impl Answer {
    pub(super) fn of(kb: KnowledgeStamp) -> Self {
        Self {
            kb,
            proposal: None,
            no_proposal: None,
            patterns: Vec::new(),
            findings: Vec::new(),
            alike: None,
            lines: Vec::new(),
            examples: None,
            near_misses: None,
            clean: None,
            sources: Vec::new(),
            rule: None,
        }
    }
}

/// A pattern that was tried.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TriedPattern)]
pub struct PatternView {
    /// Its id; `0` is the document's.
    pub id: String,
    /// Its text.
    pub regex: String,
    /// Its flags.
    pub flags: String,
    /// Names of its captures.
    pub captures: Vec<String>,
    /// Every match holds one of these texts, in ASCII lower case; they find the lines that are worth a look.
    pub literals: Vec<String>,
    /// Ways to go on that each byte of a text made against it keeps open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ways: Option<usize>,
    /// A pattern with more is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_ways: Option<usize>,
    /// Why it may be in no record; such a pattern is asked of nothing but the pasted lines, or of nothing at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
}

/// Why a pattern may be in no record.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PatternRefusal)]
pub struct Refusal {
    /// Stable name of the rule.
    pub rule: &'static str,
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub fix: String,
}

/// A pasted line.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PastedLine)]
pub struct LineView {
    /// Its number, from 1.
    pub line: u64,
    /// Its text, up to 400 characters.
    pub text: String,
    /// The pattern, phrase or code that takes it; absent where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<String>,
    /// Captured values.
    pub captures: BTreeMap<String, String>,
    /// Only generic words were found, which count beside words of the record's domain.
    pub is_generic: bool,
    /// Published records that take it now.
    #[schema(value_type = Vec<String>)]
    pub taken_by: Vec<RecordId>,
}

impl LineView {
    pub(super) fn of(line: u64, text: &str) -> Self {
        Self {
            line,
            text: shown(text),
            taken: None,
            captures: BTreeMap::new(),
            is_generic: false,
            taken_by: Vec::new(),
        }
    }

    /// A hit that counts stands before one of generic words.
    pub(super) fn take(&mut self, hit: &Hit, is_generic: bool) {
        if self.taken.is_none() || (self.is_generic && !is_generic) {
            self.taken = Some(hit.pattern.clone());
            self.captures.clone_from(&hit.captures);
            self.is_generic = is_generic;
        }
    }
}

/// What was found in one place.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = FoundLines)]
pub struct Found {
    /// Lines that it takes, of those that were looked at.
    pub count: u64,
    /// The first of them.
    pub lines: Vec<Taken>,
    /// How far was looked.
    pub looked_at: LookedAt,
}

/// How far was looked.
#[derive(Debug, Serialize, ToSchema)]
pub struct LookedAt {
    /// Texts: examples, logs.
    pub texts: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Whether that is all there is.
    pub is_complete: bool,
}

impl Default for LookedAt {
    fn default() -> Self {
        Self {
            texts: 0,
            bytes: 0,
            is_complete: true,
        }
    }
}

/// A line that it takes.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = TakenLine)]
pub struct Taken {
    /// The record whose text it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub record: Option<RecordId>,
    /// The text is the draft's own, as it is published.
    pub is_own: bool,
    /// The node whose log it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub node: Option<NodeId>,
    /// The report that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub report: Option<ReportId>,
    /// Where the text stands in the annex or the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Its line in that text, from 1.
    pub line: u64,
    /// The line, up to 400 characters.
    pub text: String,
    /// The pattern, phrase or code that takes it.
    pub pattern: String,
    /// Captured values.
    pub captures: BTreeMap<String, String>,
    /// Only generic words were found, which count beside words of the record's domain.
    pub is_generic: bool,
}

/// Lines of a further source.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SourceLines)]
pub struct SourceView {
    /// `reports`: log lines of kept reports, newest first.
    pub source: &'static str,
    /// What was found there.
    #[serde(flatten)]
    pub found: Found,
}

impl Found {
    /// Counts a text in which nothing can be found.
    pub(super) fn pass(&mut self, text: &str) {
        self.looked_at.texts += 1;
        self.looked_at.bytes += text.len() as u64;
    }

    pub(super) fn look(
        &mut self,
        matcher: &Arc<Matcher>,
        text: &str,
        time: &WorkTime,
        place: impl Fn(&mut Taken),
    ) {
        if time.check().is_err() {
            self.looked_at.is_complete = false;
            return;
        }
        let is_whole = each_hit(matcher, text, time, |hit, is_generic| {
            self.count += 1;
            if self.lines.len() < MOST_SHOWN {
                let mut taken = Taken {
                    line: hit.line,
                    text: shown(line_of(text, hit)),
                    pattern: hit.pattern.clone(),
                    captures: hit.captures.clone(),
                    is_generic,
                    ..Taken::default()
                };
                place(&mut taken);
                self.lines.push(taken);
            }
        });
        self.looked_at.texts += 1;
        if is_whole {
            self.looked_at.bytes += text.len() as u64;
        } else {
            self.looked_at.is_complete = false;
        }
    }
}

fn shown(line: &str) -> String {
    match line.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

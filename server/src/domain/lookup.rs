//! What is this error? A text or a stream goes in, the records that explain it come out.
//!
//! The matcher decides; where it knows nothing, search suggests. Nothing of the text is logged or kept: the answer
//! carries the lines that prove it, and then it is gone.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use kb_core::ids::{RecordId, Revision};
use kb_core::intake::{Intake, NotText};
use kb_core::reason::{Why, WhyCode};
use kb_core::render;
use kb_core::scanner::{
    self, EnvironmentError, Event, KnownComponent, Match, MatchedLine, Order, RootCause, ScanOptions,
    Scanner, Summary, Unexplained, UnknownCause, errors_and_harmless,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::excerpt::Excerpt;
use super::hits::Hits;
use super::work_time::{self, OutOfTime, WorkTime};
use crate::feed::Generation;
use peerless_search::{KnowledgeStamp, SearchIndex};

const MAX_SUGGESTIONS: usize = 5;
/// Suggestions that are asked for: those that the matcher saw too take their place among the others by them.
const ASKED_SUGGESTIONS: usize = 25;

/// Longest text of one item of a batch, in bytes.
pub const MAX_ITEM_BYTES: usize = 64 * 1024;
pub const MAX_ITEMS: usize = 1_000;

#[derive(Debug, Clone, Default)]
pub struct MatchOptions {
    /// Versions and models where the text was written, by component: `driver` -> `550.54.14`.
    pub environment: BTreeMap<String, String>,
    /// Leave the text of lines out of the answer.
    pub without_text: bool,
}

pub struct Matching {
    generation: Arc<Generation>,
    scanner: Scanner,
    excerpt: Excerpt,
    intake: Intake,
    refused: Option<EnvironmentError>,
}

/// Why there is no answer: one would be a lie about what was not read, or about another machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// The environment names what no record knows.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    #[error(transparent)]
    NotText(#[from] NotText),
    /// The text of a batch item is too long; the others are answered.
    #[error("the text has {0} bytes, an item may have {MAX_ITEM_BYTES}: send it to /api/v1/match")]
    ItemTooLong(usize),
    /// The work took more time of the processor than it may.
    #[error(transparent)]
    OutOfTime(#[from] OutOfTime),
}

/// What was found in a text. Empty `matches` means: no known error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MatchAnswer {
    /// Records that stand in the text, best first; those that do not apply to the environment last.
    pub matches: Vec<Match>,
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

impl MatchAnswer {
    /// Whether something was found that is not harmless.
    pub fn has_error(&self) -> bool {
        errors_and_harmless(&self.matches).0 > 0
    }

    /// Whether something looks like an error and no record explains it.
    pub fn has_unexplained(&self) -> bool {
        self.unexplained.is_some() || self.unknown_cause.is_some()
    }
}

/// A record that may be meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Candidate {
    /// The record.
    #[schema(value_type = String)]
    pub id: RecordId,
    /// Its revision.
    #[schema(value_type = u32)]
    pub revision: Revision,
    /// Its signature.
    pub signature: String,
    /// Who suggests it.
    pub by: SuggestedBy,
    /// Share of the text that it explains, 0 to 1, ordinal.
    pub score: f32,
    /// Where it stands, if the matcher saw it on a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<MatchedLine>,
    /// Why it is no match.
    pub why: String,
    /// The kind of reason; absent in answers of older servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_code: Option<WhyCode>,
    /// The reason as data; absent in an answer that was read from JSON.
    #[serde(skip)]
    pub reason: Option<Why>,
}

/// Who suggests a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuggestedBy {
    /// The matcher saw its words or number, and nothing that says this is meant.
    Matcher,
    /// The text shares most of its rare words with the record.
    Search,
}

impl Matching {
    /// Starts reading a text with the knowledge of one generation, whatever is swapped in meanwhile. An environment that
    /// no record knows is refused at the end, and by [`Matching::check`].
    pub fn start(generation: Arc<Generation>, options: MatchOptions) -> Self {
        let refused = check_environment(&generation, &options.environment).err();
        let scanner = generation.matcher.scanner(ScanOptions {
            environment: options.environment,
            keep_text: !options.without_text,
            report_candidates: false,
        });
        Self {
            generation,
            scanner,
            excerpt: Excerpt::default(),
            intake: Intake::default(),
            refused,
        }
    }

    /// Why there will be no answer, as far as that is known by now.
    pub fn check(&self) -> Result<(), LookupError> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone().into());
        }
        self.intake.refused().map_or(Ok(()), |why| Err(why.into()))
    }

    /// Takes the next bytes and gives the hits on the lines that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let text = self.intake.push(bytes);
        self.excerpt.push(&text);
        self.scanner.push(&text)
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        let text = self.intake.push(bytes);
        self.excerpt.push(&text);
        self.scanner.feed(&text);
    }

    /// Estimated memory of what was found so far, in bytes.
    pub fn memory_usage(&self) -> usize {
        self.scanner.memory_usage()
    }

    pub fn finish(self) -> Result<MatchAnswer, LookupError> {
        self.finish_with_events().map(|(_, answer)| answer)
    }

    /// As [`Self::finish`], and notes the hits on a last line without an end.
    pub fn finish_noting(self, hits: &mut Hits) -> Result<MatchAnswer, LookupError> {
        let (events, answer) = self.finish_with_events()?;
        hits.note(&events);
        Ok(answer)
    }

    /// Ends the text; gives the hits on a last line without an end, and the answer. What is no text never gets "no known error".
    pub fn finish_with_events(mut self) -> Result<(Vec<Event>, MatchAnswer), LookupError> {
        self.check()?;
        let rest = self.intake.end();
        self.excerpt.push(&rest);
        let mut events = self.scanner.push(&rest);
        let (last, mut summary) = self.scanner.finish_with_events();
        events.extend(last);
        if errors_and_harmless(&summary.matches).0 == 0 {
            self.intake.judge()?;
        }
        summary.notes.extend(self.intake.notes());
        Ok((events, answer(&self.generation, summary, &self.excerpt)))
    }
}

/// Refuses an environment that names what no record of the generation knows, or versions that cannot be compared.
pub fn check_environment(
    generation: &Generation,
    environment: &BTreeMap<String, String>,
) -> Result<(), EnvironmentError> {
    scanner::check_environment(environment, &generation.matcher)
}

pub fn look_up(
    generation: &Arc<Generation>,
    text: &[u8],
    options: MatchOptions,
) -> Result<MatchAnswer, LookupError> {
    let mut matching = Matching::start(Arc::clone(generation), options);
    matching.feed(text);
    matching.finish()
}

/// As [`look_up`], for as long as the processor may work for it.
pub fn look_up_within(
    generation: &Arc<Generation>,
    text: &[u8],
    options: MatchOptions,
    time: &WorkTime,
) -> Result<MatchAnswer, LookupError> {
    let mut matching = Matching::start(Arc::clone(generation), options);
    for piece in text.chunks(work_time::PIECE) {
        matching.feed(piece);
        time.check()?;
    }
    matching.finish()
}

/// One item of a batch.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchItem {
    /// The text.
    pub text: String,
    /// Versions and models where it was written.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// What was pasted must not reach a log by way of a debug print.
impl fmt::Debug for Matching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matching")
            .field("seq", &self.generation.seq)
            .field("excerpt", &self.excerpt)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for BatchItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchItem")
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}

/// Looks up one item of a batch. Callers keep the order and give each item its own error.
pub fn look_up_item(
    generation: &Arc<Generation>,
    item: BatchItem,
    time: &WorkTime,
) -> Result<MatchAnswer, LookupError> {
    time.check()?;
    if item.text.len() > MAX_ITEM_BYTES {
        return Err(LookupError::ItemTooLong(item.text.len()));
    }
    let options = MatchOptions {
        environment: item.environment,
        without_text: false,
    };
    look_up_within(generation, item.text.as_bytes(), options, time)
}

fn answer(generation: &Generation, summary: Summary, excerpt: &Excerpt) -> MatchAnswer {
    let mut candidates: Vec<Candidate> = summary
        .candidates
        .into_iter()
        .map(|candidate| from_matcher(generation, candidate))
        .collect();
    if errors_and_harmless(&summary.matches).0 == 0 {
        let mut suggested = from_search(generation, excerpt);
        suggested.retain(|candidate| summary.matches.iter().all(|found| found.id != candidate.id));
        for candidate in &mut candidates {
            let by_search = suggested.iter().position(|other| other.id == candidate.id);
            candidate.score = by_search.map_or_else(
                || SearchIndex::unnamed_score(candidate.score),
                |at| suggested.remove(at).score,
            );
        }
        candidates.extend(suggested.into_iter().take(MAX_SUGGESTIONS));
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
    }
    MatchAnswer {
        matches: summary.matches,
        candidates,
        root_cause: summary.root_cause,
        root_causes: summary.root_causes,
        unknown_cause: summary.unknown_cause,
        unexplained: summary.unexplained,
        order: summary.order,
        lines_scanned: summary.lines_scanned,
        bytes_scanned: summary.bytes_scanned,
        notes: summary.notes,
        environment: summary.environment,
        kb: KnowledgeStamp { seq: generation.seq },
    }
}

fn from_matcher(generation: &Generation, candidate: scanner::Candidate) -> Candidate {
    let published = generation.record(&candidate.id);
    Candidate {
        signature: published
            .map(|published| published.record.document.signature.clone())
            .unwrap_or_default(),
        id: candidate.id,
        revision: candidate.revision,
        by: SuggestedBy::Matcher,
        score: candidate.score,
        line: Some(candidate.line),
        why: candidate.why,
        why_code: candidate.why_code,
        reason: candidate.reason,
    }
}

fn from_search(generation: &Generation, excerpt: &Excerpt) -> Vec<Candidate> {
    let suggested = match generation.index.candidates(&excerpt.text(), ASKED_SUGGESTIONS) {
        Ok(suggested) => suggested,
        Err(error) => {
            // Suggestions are an extra: without them the answer is still right.
            tracing::error!(%error, "no candidates, the index failed");
            return Vec::new();
        }
    };
    suggested
        .into_iter()
        .filter_map(|candidate| {
            let published = generation.record(&candidate.id)?;
            let words = candidate.words;
            let why = Why::SharedWords { words };
            Some(Candidate {
                id: candidate.id,
                revision: published.revision,
                signature: candidate.signature,
                by: SuggestedBy::Search,
                score: candidate.score,
                line: None,
                why: render::why(&why),
                why_code: Some(why.code()),
                reason: Some(why),
            })
        })
        .collect()
}

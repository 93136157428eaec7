//! A match and a candidate as the result page shows them.

use std::collections::BTreeMap;

use kb_core::ids::RecordId;
use kb_core::scanner::{Applies, Match, MatchedLine, errors_and_harmless};

use crate::domain::lookup::{Candidate, MatchAnswer};
use crate::domain::suspects::{self, FIND_OUT};
use crate::feed::Generation;
use crate::render::advice::{Advice, Objection, Text};
use crate::render::i18n::{Locale, lookup::Words, reason};
use crate::render::record::texts;
use crate::render::record::tier::Tier;
use crate::render::words::{Link, Mark, Row, Tone, record_href, severity};
use crate::web::pages::evidence::{LogLine, visible};

/// Longest line that stands over a match, in characters.
const OWN_CHARS: usize = 300;
/// Dead ends and workarounds shown of each match; the record has the rest.
const ADVICE_SHOWN: usize = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MatchView {
    pub id: String,
    pub href: String,
    /// `First cause, line 12`.
    pub place: String,
    pub title: Option<Text>,
    /// The first line of it, as it was pasted.
    pub own: Text,
    /// The record's signature, a sample of somewhere else's, where it is not what was pasted.
    pub signature: Option<Text>,
    pub severity: Option<Mark>,
    pub tier: Tier,
    /// `On 12 lines`.
    pub count: String,
    pub applies: Mark,
    pub score: String,
    /// Where the message is harmless: when it is not.
    pub unless: Option<Text>,
    pub root_cause: Option<Text>,
    pub root_cause_dispute: Option<Objection>,
    /// What may have caused it and the agent can tell apart.
    pub suspects: Vec<SuspectView>,
    pub find_out: String,
    pub lines: Vec<LogLine>,
    /// Captured values with where they stand.
    pub captures: Vec<Row>,
    pub dead_ends: Vec<Advice>,
    pub workarounds: Vec<Advice>,
    pub more: String,
    /// From this cause to the last that follows from it in this text; empty where nothing does.
    pub chain: Vec<ChainStep>,
    /// Where the graph shows how the first leads to the last.
    pub way_href: Option<String>,
    pub why: Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SuspectView {
    pub link: Link,
    pub condition: Option<Text>,
}

/// A match on the way from first cause to symptom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChainStep {
    /// Its place on this page, by its id.
    pub link: Link,
    pub own: Text,
    /// `line 12`.
    pub place: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CandidateView {
    pub id: String,
    pub href: String,
    pub title: Option<Text>,
    pub signature: Text,
    pub tier: Option<Tier>,
    pub why: Text,
    /// Where it stands, if on a line.
    pub lines: Vec<LogLine>,
}

/// The matches in the order of the page: causes first as they stand in the text, then what follows from them.
pub(super) fn in_order(answer: &MatchAnswer) -> Vec<&Match> {
    let causes = answer
        .root_causes
        .iter()
        .filter_map(|cause| answer.matches.iter().find(|m| m.id == cause.id));
    let mut ordered: Vec<&Match> = Vec::new();
    for found in causes.chain(&answer.matches) {
        if !ordered.iter().any(|known| known.id == found.id) {
            ordered.push(found);
        }
    }
    ordered
}

pub(super) fn view(
    generation: &Generation,
    answer: &MatchAnswer,
    found: &Match,
    position: &[&Match],
    locale: Locale,
) -> MatchView {
    let language = locale.language;
    let own_words = Words::of(language);
    let published = generation.record(&found.id);
    let record = published.map(|published| &published.record);
    let tier = record.map_or_else(
        || Tier::named("", language.words()),
        |record| Tier::of(&record.document, language.words()),
    );
    // As a program printed it: its translation describes the error and is no sample.
    let sample = record.map(|record| Text::new(record.document.signature.as_str()));
    let own = own_line(found)
        .or_else(|| record.map(|record| texts::signature(record, language).0))
        .unwrap_or_else(|| Text::new(found.id.as_str()));
    let mut dead_ends = record
        .map(|record| texts::dead_ends(record, language, &tier))
        .unwrap_or_default();
    let mut workarounds = record
        .map(|record| texts::workarounds(record, language, &tier))
        .unwrap_or_default();
    let more = more(dead_ends.len(), workarounds.len(), own_words);
    dead_ends.truncate(ADVICE_SHOWN);
    workarounds.truncate(ADVICE_SHOWN);
    MatchView {
        href: locale.href(record_href(found.id.as_str())),
        place: place(answer, found, own_words),
        title: record.and_then(|record| texts::title(record, language)),
        signature: sample.filter(|sample| !own.text.contains(sample.text.trim())),
        own,
        severity: record
            .and_then(|record| record.annex.severity)
            .map(|word| severity(word, language)),
        tier,
        count: own_words.on_lines(found.count),
        applies: applies(found.applies, own_words),
        score: own_words.score(&format!("{:.2}", found.score)),
        unless: record.and_then(|record| texts::harmless_unless(record, language)),
        root_cause: record.map(|record| texts::root_cause(record, language)),
        root_cause_dispute: record.and_then(|record| texts::root_cause_dispute(record, language)),
        suspects: suspects(generation, answer, found, locale),
        find_out: own_words.find_out(&format!("`{FIND_OUT}`")),
        lines: lines(found, own_words),
        captures: captures(found, own_words),
        dead_ends,
        workarounds,
        more,
        chain: chain(answer, &found.id, position, own_words),
        way_href: way_href(generation, answer, &found.id, locale),
        why: reason::told(found.reason.as_ref(), &found.why, language),
        id: found.id.to_string(),
    }
}

fn suspects(
    generation: &Generation,
    answer: &MatchAnswer,
    found: &Match,
    locale: Locale,
) -> Vec<SuspectView> {
    let suspects = suspects::of(generation, answer, &found.id).into_iter();
    suspects
        .map(|suspect| SuspectView {
            link: Link {
                href: locale.href(record_href(suspect.id.as_str())),
                text: suspect.id.to_string(),
            },
            condition: Text::filled(suspect.condition.as_deref()),
        })
        .collect()
}

pub(super) fn candidate(generation: &Generation, candidate: &Candidate, locale: Locale) -> CandidateView {
    let language = locale.language;
    let published = generation.record(&candidate.id);
    CandidateView {
        id: candidate.id.to_string(),
        href: locale.href(record_href(candidate.id.as_str())),
        title: published.and_then(|published| texts::title(&published.record, language)),
        signature: published.map_or_else(
            || Text::new(candidate.signature.as_str()),
            |published| texts::signature(&published.record, language).0,
        ),
        tier: published.map(|published| Tier::of(&published.record.document, language.words())),
        why: reason::told(candidate.reason.as_ref(), &candidate.why, language),
        lines: candidate.line.iter().map(line).collect(),
    }
}

fn place(answer: &MatchAnswer, found: &Match, words: &Words) -> String {
    let line = first_line(found);
    if found.harmless {
        return words.harmless_at(line);
    }
    let alone = errors_and_harmless(&answer.matches).0 == 1;
    if answer.root_cause.as_ref() == Some(&found.id) {
        return if alone {
            words.at_line(line)
        } else {
            words.first_cause(line)
        };
    }
    if answer.root_causes.iter().any(|cause| cause.id == found.id) {
        return words.another_cause(line);
    }
    let leader = answer
        .root_causes
        .iter()
        .find(|cause| cause.chain.contains(&found.id));
    leader.map_or_else(
        || words.at_line(line),
        |cause| words.follows_from(cause.id.as_str(), line),
    )
}

fn first_line(found: &Match) -> u64 {
    found.lines.first().map_or(0, |line| line.line)
}

/// The first line of a match without the blanks around it; of a long one the part that matched.
fn own_line(found: &Match) -> Option<Text> {
    let marked = found.lines.first()?.text.as_ref()?;
    let matched = marked
        .text
        .get(marked.mark_start as usize..marked.mark_end as usize);
    let line = if marked.text.trim().chars().count() <= OWN_CHARS {
        marked.text.trim()
    } else {
        matched.unwrap_or(&marked.text).trim()
    };
    let mut own: String = visible(line).chars().take(OWN_CHARS).collect();
    if line.chars().count() > OWN_CHARS {
        own.push('…');
    }
    (!own.is_empty()).then(|| Text::new(own))
}

fn applies(applies: Applies, words: &Words) -> Mark {
    let (tone, sign, label) = match applies {
        Applies::Yes => (Tone::Good, "✓", words.fits),
        Applies::Unknown => (Tone::Unknown, "?", words.not_compared),
        Applies::No => (Tone::Warn, "△", words.elsewhere),
    };
    Mark { tone, sign, label }
}

fn line(line: &MatchedLine) -> LogLine {
    match &line.text {
        Some(marked) => LogLine::new(
            line.line,
            &marked.text,
            marked.mark_start as usize,
            marked.mark_end as usize,
        ),
        None => LogLine::new(line.line, "", 0, 0),
    }
}

/// The first lines and the last, with a gap that says how many are between.
fn lines(found: &Match, words: &Words) -> Vec<LogLine> {
    let mut lines: Vec<LogLine> = found.lines.iter().map(line).collect();
    let left_out = found.count.saturating_sub(lines.len() as u64);
    if left_out > 0 && !lines.is_empty() {
        let gap = LogLine::gap(words.more_like_this(left_out));
        lines.insert(lines.len() - 1, gap);
    }
    lines
}

/// Captured values; with several sets of values each set is told with its number of lines.
fn captures(found: &Match, words: &Words) -> Vec<Row> {
    let filled: Vec<_> = found
        .folds
        .iter()
        .filter(|fold| !fold.captures.is_empty())
        .collect();
    if let [only] = filled.as_slice() {
        return only
            .captures
            .iter()
            .map(|(name, value)| Row::new(name, value))
            .collect();
    }
    let mut rows: Vec<Row> = filled
        .iter()
        .map(|fold| Row::new(words.line_count(fold.count), joined(&fold.captures)))
        .collect();
    if found.overflow > 0 {
        rows.push(Row::new(words.line_count(found.overflow), words.other_values));
    }
    rows
}

fn joined(captures: &BTreeMap<String, String>) -> String {
    captures
        .iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn more(dead_ends: usize, workarounds: usize, words: &Words) -> String {
    let mut more = Vec::new();
    if dead_ends > ADVICE_SHOWN {
        more.push(words.more_dead_ends((dead_ends - ADVICE_SHOWN) as u64));
    }
    if workarounds > ADVICE_SHOWN {
        more.push(words.more_workarounds((workarounds - ADVICE_SHOWN) as u64));
    }
    more.join(words.list_comma)
}

/// A cause and what it leads to in this text, as links within the page.
fn chain(answer: &MatchAnswer, id: &RecordId, position: &[&Match], words: &Words) -> Vec<ChainStep> {
    let step = |follower: &RecordId| {
        let (index, found) = position
            .iter()
            .enumerate()
            .find(|(_, found)| found.id == *follower)?;
        Some(ChainStep {
            link: Link {
                href: format!("#match-{}", index + 1),
                text: follower.to_string(),
            },
            own: own_line(found).unwrap_or_else(|| Text::new(follower.as_str())),
            place: words.step_line(first_line(found)),
        })
    };
    let steps: Vec<ChainStep> = caused(answer, id).iter().filter_map(step).collect();
    if steps.len() > 1 { steps } else { Vec::new() }
}

fn way_href(generation: &Generation, answer: &MatchAnswer, id: &RecordId, locale: Locale) -> Option<String> {
    let last = caused(answer, id).last().filter(|last| *last != id)?;
    let ways = generation.graph.paths(id, last, &[]).ok()?;
    ways.steps?;
    Some(locale.href(format!("/graph/path?from={id}&to={last}")))
}

fn caused<'a>(answer: &'a MatchAnswer, id: &RecordId) -> &'a [RecordId] {
    let cause = answer.root_causes.iter().find(|cause| cause.id == *id);
    cause.map_or(&[], |cause| cause.chain.as_slice())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use crate::domain::lookup::{MatchOptions, look_up};
    use crate::feed::samples::{PEER_ACCESS, generation_of};
    use crate::render::i18n::Language;

    #[test]
    fn a_sample_is_what_a_program_printed_in_either_language() {
        let generation = generation_of(&[(PEER_ACCESS.0.to_owned(), PEER_ACCESS.1.to_owned())]);
        let text = b"CUDA error: peer access is not supported between these two devices";
        let answer = look_up(&generation, text, MatchOptions::default()).unwrap();
        let found = &answer.matches[0];
        for language in [Language::English, Language::Chinese] {
            let view = view(&generation, &answer, found, &[found], language.into());
            let sample = view.signature.unwrap().text;
            assert!(sample.starts_with("RuntimeError: CUDA error: "), "{sample}");
        }
    }
}

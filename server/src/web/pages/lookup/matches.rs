//! A match and a candidate as the result page shows them.

use kb_core::ids::RecordId;
use kb_core::scanner::{Match, MatchedLine};

use crate::domain::lookup::{Candidate, MatchAnswer};
use crate::domain::suspects::{self, FIND_OUT};
use crate::feed::Generation;
use crate::render::advice::{Advice, Objection, Text};
use crate::render::answer::environment;
use crate::render::answer::faults::{self, Fault, first_line};
use crate::render::i18n::{Locale, lookup::Words, reason, terms};
use crate::render::record::first::{FirstThing, first_thing};
use crate::render::record::texts;
use crate::render::record::tier::Tier;
use crate::render::words::{Link, Mark, record_href};
use crate::web::pages::evidence::{LogLine, visible};

/// Longest line that stands over a match, in characters.
const OWN_CHARS: usize = 300;
/// Dead ends and workarounds shown of each match; the record has the rest.
const ADVICE_SHOWN: usize = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MatchView {
    pub fault: Fault,
    pub href: String,
    /// Without a title the line is the heading.
    pub has_title: bool,
    /// The first line of it, as it was pasted.
    pub own: Text,
    /// The record's signature, a sample of somewhere else's, where it is not what was pasted.
    pub signature: Option<Text>,
    pub tier: Tier,
    /// `On 12 lines`.
    pub count: String,
    /// Whether the record is about this environment, where it names versions.
    pub applies: Option<Mark>,
    pub first: Option<FirstThing>,
    /// The step in a word, where the record has no workaround.
    pub step: Option<&'static str>,
    /// The record calls it harmless, and the driver calls this line fatal.
    pub is_worse: bool,
    /// Where the message is harmless: when it is not.
    pub unless: Option<Text>,
    pub root_cause: Option<Text>,
    pub root_cause_dispute: Option<Objection>,
    /// What may have caused it and the agent can tell apart.
    pub suspects: Vec<SuspectView>,
    pub find_out: String,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChainStep {
    pub link: Link,
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
    pub lines: Vec<LogLine>,
}

pub(super) fn view(
    generation: &Generation,
    answer: &MatchAnswer,
    found: &Match,
    fault: Fault,
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
    let own = own_line(found, fault.line)
        .or_else(|| record.map(|record| texts::signature(record, language).0))
        .unwrap_or_else(|| Text::new(found.id.as_str()));
    let mut dead_ends = record
        .map(|record| texts::dead_ends(record, language, &tier))
        .unwrap_or_default();
    let mut workarounds = record
        .map(|record| texts::workarounds(record, language, &tier))
        .unwrap_or_default();
    let is_worse = record.is_some_and(|record| faults::is_worse(found, record));
    if is_worse {
        workarounds.clear();
        dead_ends.clear();
    }
    let first = record.and_then(|record| first_thing(record, &workarounds));
    let step = record.and_then(|record| record.annex.action);
    let more = more(dead_ends.len(), workarounds.len(), own_words);
    dead_ends.truncate(ADVICE_SHOWN);
    workarounds.truncate(ADVICE_SHOWN);
    MatchView {
        href: locale.href(record_href(found.id.as_str())),
        has_title: record.is_some_and(|record| texts::title(record, language).is_some()),
        signature: sample.filter(|sample| !own.text.contains(sample.text.trim())),
        own,
        tier,
        count: own_words.on_lines(found.count),
        applies: environment::applies(generation, found, locale),
        step: step
            .filter(|_| first.is_none() && !is_worse)
            .map(|step| terms::Words::of(language).action(step)),
        first,
        is_worse,
        unless: record
            .filter(|_| !is_worse)
            .and_then(|record| texts::harmless_unless(record, language)),
        root_cause: record
            .filter(|_| !is_worse)
            .map(|record| texts::root_cause(record, language)),
        root_cause_dispute: record
            .filter(|_| !is_worse)
            .and_then(|record| texts::root_cause_dispute(record, language)),
        suspects: suspects(generation, answer, found, locale),
        find_out: own_words.find_out(&format!("`{FIND_OUT}`")),
        dead_ends,
        workarounds,
        more,
        chain: chain(answer, &found.id, position, own_words),
        way_href: way_href(generation, answer, &found.id, locale),
        why: reason::told(found.reason.as_ref(), &found.why, language),
        fault,
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

/// The line that names a match without the blanks around it, or its first; of a long one the part that matched.
fn own_line(found: &Match, line: u64) -> Option<Text> {
    let named = found.lines.iter().find(|matched| matched.line == line);
    let marked = named.or(found.lines.first())?.text.as_ref()?;
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
            place: words.step_line(first_line(answer, found)),
        })
    };
    let steps: Vec<ChainStep> = faults::chain(answer, id).iter().filter_map(step).collect();
    if steps.len() > 1 { steps } else { Vec::new() }
}

fn way_href(generation: &Generation, answer: &MatchAnswer, id: &RecordId, locale: Locale) -> Option<String> {
    let last = faults::chain(answer, id).last().filter(|last| *last != id)?;
    let ways = generation.graph.paths(id, last, &[]).ok()?;
    ways.steps?;
    Some(locale.href(format!("/graph/path?from={id}&to={last}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use crate::domain::hits::Hits;
    use crate::domain::lookup::{MatchOptions, look_up};
    use crate::feed::samples::{PEER_ACCESS, generation_of};
    use crate::render::i18n::Language;

    #[test]
    fn a_sample_is_what_a_program_printed_in_either_language() {
        let generation = generation_of(&[(PEER_ACCESS.0.to_owned(), PEER_ACCESS.1.to_owned())]);
        let text = b"CUDA error: peer access is not supported between these two devices";
        let answer = look_up(&generation, text, MatchOptions::default()).unwrap();
        let hits = Hits::default();
        let found = &answer.matches[0];
        for language in [Language::English, Language::Chinese] {
            let locale = Locale::from(language);
            let fault = faults::faults(&generation, &answer, &[found], &hits, locale).remove(0);
            let view = view(&generation, &answer, found, fault, &[found], locale);
            let sample = view.signature.unwrap().text;
            assert!(sample.starts_with("RuntimeError: CUDA error: "), "{sample}");
        }
    }
}

//! A row for each fault of an answer: what it is, where it stands, what it led to, how bad it is and whose.

use kb_core::annex::Severity;
use kb_core::ids::RecordId;
use kb_core::record::Record;
use kb_core::scanner::{Match, RootCause, errors_and_harmless};

use super::origin::{self, Origin};
use crate::domain::hits::Hits;
use crate::domain::lookup::MatchAnswer;
use crate::domain::whose::whose;
use crate::feed::Generation;
use crate::render::advice::Text;
use crate::render::i18n::{Locale, answer::Words, lookup};
use crate::render::record::texts;
use crate::render::words::{Mark, grouped, severity};

const MOST_NAMED: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub id: RecordId,
    /// From 1, in the order of the page.
    pub number: usize,
    pub title: Text,
    /// The line that names it: of a cause the first by its time, else the first of the text.
    pub line: u64,
    /// On how many lines it stands, where that is more than one.
    pub count: Option<String>,
    pub origin: Origin,
    /// Host, rank and GPU in words.
    pub places: Vec<String>,
    pub role: Role,
    /// `First cause`, `Because of 1`.
    pub relation: String,
    pub led_to: Vec<usize>,
    pub severity: Option<Mark>,
    pub whose: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Alone,
    FirstCause,
    AnotherCause,
    /// It follows from the fault with this number.
    Follows(usize),
    /// It is another reading of the line on which the fault with this number stands.
    SameLine(usize),
    /// It tells of nothing lost.
    Notice,
    /// No cause, and nothing in the text is known to lead to it.
    Unplaced,
    Harmless,
}

/// The matches in the order of the page: causes as they stand in the text, then what follows from them, then harmless ones.
pub fn in_order(answer: &MatchAnswer) -> Vec<&Match> {
    let causes = answer
        .root_causes
        .iter()
        .filter_map(|cause| answer.matches.iter().find(|found| found.id == cause.id));
    let mut ordered: Vec<&Match> = Vec::new();
    for found in causes.chain(&answer.matches) {
        if !ordered.iter().any(|known| known.id == found.id) {
            ordered.push(found);
        }
    }
    ordered.sort_by_key(|found| found.harmless);
    ordered
}

/// Whether the record calls the message harmless, and the driver calls this line of it fatal.
pub fn is_worse(found: &Match, record: &Record) -> bool {
    !found.harmless && record.annex.harmless.is_some()
}

/// Where a match stands first: of a cause by its time, else in the text.
pub fn first_line(answer: &MatchAnswer, found: &Match) -> u64 {
    let cause = cause(answer, &found.id);
    let first = found.lines.first().map(|line| line.line);
    cause.map(|cause| cause.line).or(first).unwrap_or_default()
}

fn cause<'a>(answer: &'a MatchAnswer, id: &RecordId) -> Option<&'a RootCause> {
    answer.root_causes.iter().find(|cause| cause.id == *id)
}

pub fn faults(
    generation: &Generation,
    answer: &MatchAnswer,
    ordered: &[&Match],
    hits: &Hits,
    locale: Locale,
) -> Vec<Fault> {
    let number_of = |id: &RecordId| ordered.iter().position(|found| found.id == *id).map(|at| at + 1);
    let row = |(at, found): (usize, &&Match)| {
        let (language, words) = (locale.language, Words::of(locale.language));
        let record = generation.record(&found.id).map(|published| &published.record);
        let is_notice = record.is_some_and(Record::is_notice);
        let role = role(answer, found, is_notice, number_of);
        let led_to: Vec<usize> = chain(answer, &found.id)
            .iter()
            .filter(|id| **id != found.id)
            .filter_map(number_of)
            .collect();
        let line = first_line(answer, found);
        let mut origin = origin::of(found, line, hits.of(&found.id));
        origin.begin_with(cause(answer, &found.id).and_then(|cause| cause.host.as_deref()));
        let is_worse = record.is_some_and(|record| is_worse(found, record));
        let title = record.map_or_else(
            || Text::new(found.id.as_str()),
            |record| texts::heading(record, language),
        );
        Fault {
            id: found.id.clone(),
            number: at + 1,
            title: if is_worse {
                Text::new(words.called_fatal(&title.text))
            } else {
                title
            },
            line,
            count: (found.count > 1).then(|| format!("×{}", grouped(found.count))),
            places: places(&origin, words),
            origin,
            role,
            relation: behind_unknown(answer, &found.id, role, words)
                .unwrap_or_else(|| relation(role, &led_to, locale)),
            led_to,
            severity: record
                .and_then(|record| record.annex.severity)
                .map(|word| if is_worse { Severity::Fatal } else { word })
                .map(|word| severity(word, language)),
            whose: record
                .filter(|_| !is_worse)
                .and_then(whose)
                .map(|whose| words.whose(whose)),
        }
    };
    ordered.iter().enumerate().map(row).collect()
}

fn role(
    answer: &MatchAnswer,
    found: &Match,
    is_notice: bool,
    number_of: impl Fn(&RecordId) -> Option<usize>,
) -> Role {
    if found.harmless {
        return Role::Harmless;
    }
    if errors_and_harmless(&answer.matches).0 == 1 {
        return Role::Alone;
    }
    if answer.root_cause.as_ref() == Some(&found.id) {
        return Role::FirstCause;
    }
    if answer.root_causes.iter().any(|cause| cause.id == found.id) {
        return Role::AnotherCause;
    }
    let leader = answer
        .root_causes
        .iter()
        .find(|cause| cause.chain.contains(&found.id));
    if let Some(number) = leader.and_then(|cause| number_of(&cause.id)) {
        return Role::Follows(number);
    }
    let line = first_line(answer, found);
    let on_line = answer.root_causes.iter().find(|cause| cause.line == line);
    match on_line.and_then(|cause| number_of(&cause.id)) {
        Some(number) => Role::SameLine(number),
        None if is_notice => Role::Notice,
        None => Role::Unplaced,
    }
}

/// A cause and what it leads to; empty for what is no cause.
pub fn chain<'a>(answer: &'a MatchAnswer, id: &RecordId) -> &'a [RecordId] {
    cause(answer, id).map_or(&[], |cause| cause.chain.as_slice())
}

/// What a first cause is where an error that no record knows stands before it.
fn behind_unknown(answer: &MatchAnswer, id: &RecordId, role: Role, words: &Words) -> Option<String> {
    answer.unknown_cause.as_ref()?;
    match cause(answer, id)?.behind_line {
        Some(line) => Some(words.because_of_line(line)),
        None => (role == Role::FirstCause).then(|| words.another_cause.to_owned()),
    }
}

fn relation(role: Role, led_to: &[usize], locale: Locale) -> String {
    let words = Words::of(locale.language);
    let own = match role {
        Role::Alone | Role::Notice | Role::Unplaced => String::new(),
        Role::SameLine(number) => words.same_line(&number.to_string()),
        Role::FirstCause => words.first_cause.to_owned(),
        Role::AnotherCause => words.another_cause.to_owned(),
        Role::Follows(number) => words.because_of(&number.to_string()),
        Role::Harmless => words.harmless.to_owned(),
    };
    if led_to.is_empty() || own.is_empty() {
        return own;
    }
    let comma = lookup::Words::of(locale.language).list_comma;
    format!(
        "{own}{comma}{}",
        words.led_to(&numbers(led_to.iter().copied(), locale))
    )
}

/// `2, 3, 4`, with `…` where there are many.
pub fn numbers(all: impl ExactSizeIterator<Item = usize>, locale: Locale) -> String {
    let comma = lookup::Words::of(locale.language).list_comma;
    let are_more = all.len() > MOST_NAMED;
    let named: Vec<String> = all
        .take(MOST_NAMED)
        .map(|number| grouped(number as u64))
        .collect();
    let end = if are_more { " …" } else { "" };
    format!("{}{end}", named.join(comma))
}

fn places(origin: &Origin, words: &Words) -> Vec<String> {
    let listed = |all: &[String]| match all {
        [] => None,
        [one, two, _, ..] => Some(format!("{one}, {two} …")),
        few => Some(few.join(", ")),
    };
    let host = listed(&origin.hosts);
    let rank = listed(&origin.ranks).map(|ranks| words.of_rank(&ranks));
    let gpu = listed(&origin.gpus).map(|gpus| format!("GPU {gpus}"));
    [host, rank, gpu].into_iter().flatten().collect()
}

//! An answer in one paragraph: how much was read, what came first, what it led to, what is harmless, what is not known. Of an answer that
//! was shared the server says what it finds on the shared lines, and what whoever shared it says is told as that.

use super::faults::{Fault, Role, numbers};
use super::unknown::Unknown;
use crate::domain::lookup::MatchAnswer;
use crate::domain::shared::Shared;
use crate::render::answer_text::unknown::named;
use crate::render::i18n::{Locale, answer::Words, lookup, shared};
use crate::render::words::bytes;
use kb_core::scanner::{Order, UnknownCause, UnknownPart};

pub fn sentences(
    answer: &MatchAnswer,
    faults: &[Fault],
    unknown: &Unknown,
    shared: Option<&Shared>,
    locale: Locale,
) -> Vec<String> {
    let words = Words::of(locale.language);
    let mut said = match shared {
        Some(shared) => claims(answer, shared, locale),
        None => vec![words.read(answer.lines_scanned, &bytes(answer.bytes_scanned))],
    };
    let cause = faults
        .iter()
        .find(|fault| matches!(fault.role, Role::FirstCause | Role::Alone));
    if let Some(unknown) = &answer.unknown_cause {
        said.extend(what_no_record_knows(unknown, locale));
    }
    if let Some(cause) = cause {
        said.push(match &answer.unknown_cause {
            Some(unknown) if unknown.wrapped_by.as_ref() == Some(&cause.id) => {
                words.tells_only(&cause.title.text, cause.line)
            }
            Some(_) => words.also_found(&cause.title.text, cause.line),
            None => what_came_first(cause, locale),
        });
        if !cause.led_to.is_empty() {
            let which = numbers(cause.led_to.iter().copied(), locale);
            said.push(words.it_led_to(cause.led_to.len() as u64, &which));
        }
    }
    let mut of_role = |role: Role, tell: &dyn Fn(u64, &str) -> String| {
        let of: Vec<usize> = faults
            .iter()
            .filter(|fault| fault.role == role)
            .map(|fault| fault.number)
            .collect();
        if !of.is_empty() {
            said.push(tell(of.len() as u64, &numbers(of.iter().copied(), locale)));
        }
    };
    of_role(Role::AnotherCause, &|count, which| {
        words.other_causes(count, which)
    });
    of_role(Role::Unplaced, &|count, which| words.unplaced(count, which));
    of_role(Role::Harmless, &|count, which| words.are_harmless(count, which));
    match shared {
        Some(shared) => said.extend(not_known_of_shared(unknown, shared, locale)),
        None => said.push(not_known(unknown, locale)),
    }
    if !answer.candidates.is_empty() && cause.is_some() {
        said.push(words.may_be_meant(answer.candidates.len() as u64));
    }
    if faults.len() > 1 {
        let own = lookup::Words::of(locale.language);
        let order = match answer.order {
            Order::Time => own.by_time,
            Order::TimeByClock => own.by_clock,
            Order::Line => own.by_place,
        };
        said.push(words.sentence(order));
    }
    said
}

/// What whoever shared an answer says of its text, and how much of that the server has seen.
fn claims(answer: &MatchAnswer, shared: &Shared, locale: Locale) -> Vec<String> {
    let words = shared::Words::of(locale.language);
    let mut said = vec![words.read(answer.lines_scanned, &bytes(answer.bytes_scanned))];
    let claimed = shared.claimed_cause(answer);
    let claimed = claimed
        .into_iter()
        .flat_map(|claimed| what_no_record_knows(claimed, locale));
    said.extend(claimed.map(|claim| format!("{} {claim}", words.said)));
    said.push(words.saw(shared.marked.len() as u64));
    said
}

/// The same of lines that tell of errors: the shared ones were read here, and of others whoever shared this speaks.
fn not_known_of_shared(unknown: &Unknown, shared: &Shared, locale: Locale) -> [String; 2] {
    let words = shared::Words::of(locale.language);
    let own = match unknown {
        Unknown::Lines { numbers, .. } if !numbers.is_empty() => not_known(unknown, locale),
        Unknown::Lines { are_more: false, .. } => words.none_unknown.to_owned(),
        Unknown::Lines { are_more: true, .. } | Unknown::NotLooked => words.not_all_looked.to_owned(),
    };
    let of_others = match (shared.looked, shared.are_more_unknown) {
        (false, _) => words.others_unsaid,
        (true, true) => words.others_more,
        (true, false) => words.others_none,
    };
    [own, of_others.to_owned()]
}

fn what_no_record_knows(unknown: &UnknownCause, locale: Locale) -> Vec<String> {
    let words = Words::of(locale.language);
    let error = named(unknown);
    match unknown.part {
        UnknownPart::Interrupted => vec![words.interrupted(unknown.line, &error)],
        UnknownPart::Ended => {
            let rank = unknown.writer.rank.as_deref().map(|rank| words.of_rank(rank));
            let process = || Some(words.of_process(unknown.writer.process.as_deref()?));
            let ended = rank.or_else(process).map(|who| words.it_ended(&who));
            std::iter::once(words.unknown_cause(unknown.line, &error))
                .chain(ended)
                .collect()
        }
        _ => vec![words.unknown_raised(unknown.line, &error)],
    }
}

fn what_came_first(cause: &Fault, locale: Locale) -> String {
    let words = Words::of(locale.language);
    let comma = lookup::Words::of(locale.language).list_comma;
    let mut at: Vec<&str> = cause.origin.time.as_deref().into_iter().collect();
    at.extend(cause.places.iter().map(String::as_str));
    let (title, at) = (cause.title.text.as_str(), at.join(comma));
    match (cause.role == Role::Alone, at.is_empty()) {
        (true, true) => words.only(title, cause.line),
        (true, false) => words.only_at(title, cause.line, &at),
        (false, true) => words.cause(title, cause.line),
        (false, false) => words.cause_at(title, cause.line, &at),
    }
}

fn not_known(unknown: &Unknown, locale: Locale) -> String {
    let words = Words::of(locale.language);
    match unknown {
        Unknown::NotLooked => words.not_looked.to_owned(),
        Unknown::Lines {
            numbers: lines,
            are_more,
        } if lines.is_empty() => {
            let none = if *are_more {
                words.none_unknown_so_far
            } else {
                words.none_unknown
            };
            none.to_owned()
        }
        Unknown::Lines {
            numbers: lines,
            are_more,
        } => {
            let which = lines
                .iter()
                .map(|line| usize::try_from(*line).unwrap_or(usize::MAX));
            let (count, which) = (lines.len() as u64, numbers(which, locale));
            if *are_more {
                words.unknown_and_more(count, &which)
            } else {
                words.unknown(count, &which)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_counted_as_far_as_it_was_looked_at() {
        let told = |lines: &[u64], are_more: bool| {
            let numbers = lines.iter().copied().collect();
            not_known(&Unknown::Lines { numbers, are_more }, Locale::ENGLISH)
        };
        assert!(told(&[], false).starts_with("No other line looks like an error."));
        assert!(told(&[], true).ends_with("Not all lines were looked at."));
        assert!(told(&[3], false).starts_with("Not known: line 3 looks like an error"));
        assert!(told(&[3], true).starts_with("Not known: line 3 looks like an error"));
        assert!(told(&[3, 5], true).starts_with("Not known: at least 2 more messages look like errors"));
    }
}

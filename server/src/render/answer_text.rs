//! An answer as plain text, for curl and the command line: first cause, the line that proves it, what to do and what not.

use std::fmt::Write as _;

use kb_core::annex::{Dispute, WorkaroundNote};
use kb_core::ids::RecordId;
use kb_core::record::Record;
use kb_core::scanner::{Applies, Match, MatchedLine, RootCause, errors_and_harmless};
use kb_core::terminal::harmless;
use serde::Serialize;

use crate::domain::lookup::{Candidate, MatchAnswer};
use crate::domain::suspects::{self, FIND_OUT};
use crate::feed::Generation;
use crate::render::i18n::{Language, terms};

/// Lines that no record explains, shown with their text.
const MOST_UNEXPLAINED: usize = 8;

/// Renders an answer; links begin with `base_url`, and are left out where there is no server.
pub fn render(answer: &MatchAnswer, generation: &Generation, base_url: Option<&str>) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail, here and below.
    let _ = write_answer(&mut text, answer, generation, base_url);
    text
}

fn write_answer(
    text: &mut String,
    answer: &MatchAnswer,
    generation: &Generation,
    base_url: Option<&str>,
) -> std::fmt::Result {
    if let Some(unknown) = &answer.unknown_cause {
        writeln!(text, "{}\n", unknown::line(unknown))?;
    }
    let (errors, harmless_ones) = errors_and_harmless(&answer.matches);
    if errors == 0 {
        writeln!(text, "No known error in {} lines.", answer.lines_scanned)?;
        write_unexplained(text, answer)?;
    }
    match harmless_ones {
        0 => {}
        1 => writeln!(text, "1 known message is harmless.\n")?,
        more => writeln!(text, "{more} known messages are harmless.\n")?,
    }
    for found in &answer.matches {
        let cause = answer.root_causes.iter().find(|cause| cause.id == found.id);
        let cause = cause.filter(|_| answer.matches.len() > 1);
        let published = generation.record(&found.id);
        let is_fatal =
            !found.harmless && published.is_some_and(|published| published.record.annex.harmless.is_some());
        let is_notice =
            !found.harmless && !is_fatal && published.is_some_and(|published| published.record.is_notice());
        let title = published.and_then(|published| published.record.annex.title.as_deref());
        // The title says that the message is harmless.
        let shown = title.filter(|_| !is_fatal);
        let role = answer_role(answer, found);
        write_match(text, found, shown, &role, is_notice)?;
        if is_fatal {
            write_fatal(text, title)?;
        }
        if let Some(cause) = cause {
            write_cause(text, cause)?;
        }
        if let Some(published) = published {
            if !is_fatal {
                write_weight(text, &published.record)?;
                write_record(text, &published.record)?;
            }
            write_suspects(text, answer, generation, &found.id)?;
        }
        if let Some(base_url) = base_url {
            writeln!(text, "  {base_url}/r/{}", found.id)?;
        }
        writeln!(text)?;
    }
    if !answer.candidates.is_empty() {
        writeln!(text, "Perhaps meant:")?;
    }
    for candidate in &answer.candidates {
        write_candidate(text, candidate)?;
    }
    if let Some(unexplained) = &answer.unexplained
        && errors > 0
    {
        writeln!(text, "Note: {}", unexplained.sentence())?;
    }
    for note in &answer.notes {
        writeln!(text, "Note: {note}")?;
    }
    Ok(())
}

/// Without it "no known error" would read as if nothing had happened.
fn write_unexplained(text: &mut String, answer: &MatchAnswer) -> std::fmt::Result {
    let Some(unexplained) = &answer.unexplained else {
        return Ok(());
    };
    writeln!(text, "But {}.", unexplained.sentence())?;
    for line in unexplained.lines.iter().take(MOST_UNEXPLAINED) {
        let shown = line.text.as_deref().unwrap_or_default();
        writeln!(text, "  {:>6}: {}", line.line, harmless(shown))?;
    }
    Ok(())
}

/// What a match is among those of its text.
fn answer_role(answer: &MatchAnswer, found: &Match) -> String {
    let cause = answer.root_causes.iter().find(|cause| cause.id == found.id);
    match (cause, &answer.unknown_cause) {
        (
            Some(RootCause {
                behind_line: Some(line),
                ..
            }),
            _,
        ) => format!("  (tells only of line {line})"),
        (Some(_), None) if answer.matches.len() > 1 => "  (first cause)".to_owned(),
        _ => String::new(),
    }
}

/// In place of a record whose advice is for the harmless form of a message.
fn write_fatal(text: &mut String, title: Option<&str>) -> std::fmt::Result {
    writeln!(
        text,
        "  The driver calls it fatal, or a program ended with it: what its record says of harmless messages does not hold here."
    )?;
    if let Some(title) = title {
        writeln!(
            text,
            "  Its record, of the form that is not fatal: {}",
            harmless(title)
        )?;
    }
    writeln!(text, "  Severity: fatal")
}

fn write_match(
    text: &mut String,
    found: &Match,
    title: Option<&str>,
    cause: &str,
    is_notice: bool,
) -> std::fmt::Result {
    let notice = if found.harmless {
        "  (harmless)"
    } else if is_notice {
        "  (a notice, no fault by itself)"
    } else {
        ""
    };
    let applies = match found.applies {
        Applies::No => "  (does not apply to this environment)",
        Applies::Yes | Applies::Unknown => "",
    };
    let wraps = found
        .wraps
        .as_ref()
        .map_or_else(String::new, |inner| format!("  (wraps {inner})"));
    let lines = if found.count == 1 { "line" } else { "lines" };
    writeln!(
        text,
        "{}  {}, {} {lines}{notice}{cause}{wraps}{applies}",
        found.id, found.revision, found.count
    )?;
    if let Some(title) = title {
        writeln!(text, "  {}", harmless(title))?;
    }
    found.lines.iter().try_for_each(|line| write_line(text, line))?;
    writeln!(text, "  Found: {}", harmless(&found.why))
}

/// How bad it is, what to do first and who vouches for it, in the words that the JSON of records has for them.
fn write_weight(text: &mut String, record: &Record) -> std::fmt::Result {
    let named = [
        ("Severity", record.annex.severity.and_then(word)),
        ("Action", record.annex.action.and_then(word)),
        (
            "At fault",
            record
                .annex
                .at_fault
                .as_ref()
                .and_then(|at_fault| word(at_fault.who)),
        ),
        ("Tier", record.document.tier().and_then(word)),
    ];
    let told = named
        .into_iter()
        .filter_map(|(name, word)| Some(format!("{name}: {}", word?)));
    let told: Vec<String> = told.collect();
    if told.is_empty() {
        return Ok(());
    }
    writeln!(text, "  {}", told.join("  "))
}

fn word(value: impl Serialize) -> Option<String> {
    let value = serde_json::to_value(value).ok()?;
    value.as_str().map(str::to_owned)
}

fn write_cause(text: &mut String, cause: &RootCause) -> std::fmt::Result {
    if cause.chain.len() > 1 {
        let chain: Vec<&str> = cause.chain.iter().map(RecordId::as_str).collect();
        writeln!(text, "  Chain: {}", chain.join(" -> "))?;
    }
    let host = cause.host.as_deref().map(harmless);
    let host = host.map_or_else(String::new, |host| format!(" on {host}"));
    writeln!(text, "  Cause{host}: {}", cause.why)
}

fn write_line(text: &mut String, line: &MatchedLine) -> std::fmt::Result {
    let shown = line.text.as_ref().map_or("", |marked| marked.text.as_str());
    writeln!(text, "  {:>6}: {}", line.line, harmless(shown))?;
    for part in &line.parts {
        let shown = part.text.as_ref().map_or("", |marked| marked.text.as_str());
        writeln!(text, "  {:>6}: {}", part.line, harmless(shown))?;
    }
    Ok(())
}

fn write_record(text: &mut String, record: &Record) -> std::fmt::Result {
    if let Some(known) = &record.annex.harmless {
        writeln!(text, "  Harmless, unless: {}", harmless(&known.unless))?;
    }
    writeln!(text, "  Why: {}", record.document.root_cause)?;
    write_dispute(text, record.dispute("/root_cause"))?;
    for advised in record.workarounds() {
        let verb = if advised.dispute.is_some() {
            "Disputed advice"
        } else {
            "Do"
        };
        write_advice(text, verb, &advised.item.action, advised.item.how.as_deref())?;
        write_note(text, record.workaround_note(advised.position))?;
        write_dispute(text, advised.dispute)?;
    }
    for advised in record.dead_ends() {
        let verb = if advised.dispute.is_some() {
            "Disputed warning"
        } else {
            "Do not"
        };
        write_advice(
            text,
            verb,
            &advised.item.action,
            advised.item.why_fails.as_deref(),
        )?;
        write_dispute(text, advised.dispute)?;
    }
    Ok(())
}

fn write_note(text: &mut String, note: Option<&WorkaroundNote>) -> std::fmt::Result {
    let Some(note) = note else {
        return Ok(());
    };
    let words = terms::Words::of(Language::English);
    let cost = note.cost.as_deref().map(harmless);
    let kind = words.workaround_kind(note.kind, cost.as_deref());
    writeln!(text, "      ({kind}; {})", words.workaround_scope(note.scope))?;
    if let Some(stopped) = &note.stop_first {
        writeln!(text, "      Stop first: {}", harmless(stopped))?;
    }
    Ok(())
}

fn write_dispute(text: &mut String, dispute: Option<&Dispute>) -> std::fmt::Result {
    let Some(dispute) = dispute else {
        return Ok(());
    };
    writeln!(
        text,
        "      Disputed: {} ({})",
        harmless(dispute.why.trim()),
        harmless(&dispute.source)
    )
}

fn write_suspects(
    text: &mut String,
    answer: &MatchAnswer,
    generation: &Generation,
    id: &RecordId,
) -> std::fmt::Result {
    let suspects = suspects::of(generation, answer, id);
    if suspects.is_empty() {
        return Ok(());
    }
    writeln!(text, "  May come from:")?;
    for suspect in suspects {
        let condition = suspect.condition.as_deref().map(harmless).unwrap_or_default();
        writeln!(text, "{}", format!("    {}  {condition}", suspect.id).trim_end())?;
    }
    writeln!(text, "  Find out which: {FIND_OUT}")
}

/// What to do, with the commands below it. The seeds leave `action` empty where the rest says it all.
fn write_advice(text: &mut String, verb: &str, action: &str, more: Option<&str>) -> std::fmt::Result {
    // The seeds repeat the action as the way to do it.
    let more = more.map(str::trim_end);
    let more = more.filter(|more| !more.is_empty() && more.trim() != action.trim());
    let (action, more) = match more {
        Some(more) if action.trim().is_empty() => (more, None),
        more => (action, more),
    };
    writeln!(text, "  {verb}: {}", action.trim())?;
    // Its lines are commands to copy: they stay lines.
    for line in more.unwrap_or_default().lines() {
        let line = format!("      {}", harmless(line));
        writeln!(text, "{}", line.trim_end())?;
    }
    Ok(())
}

fn write_candidate(text: &mut String, candidate: &Candidate) -> std::fmt::Result {
    writeln!(text, "  {}  {}", candidate.id, candidate.signature)?;
    writeln!(text, "         {}", candidate.why)
}

pub(super) mod unknown;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;

//! Hits of a search as plain text, for the command line and for language models, which pay for each word.

use std::fmt::Write as _;

use kb_core::terminal::harmless;
use serde::Serialize;

use crate::feed::Generation;
use peerless_search::SearchAnswer;

/// Longest signature shown, in characters: some are whole tracebacks.
const MOST_SIGNATURE: usize = 160;

pub fn render(answer: &SearchAnswer, generation: &Generation) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_answer(&mut text, answer, generation);
    text
}

fn write_answer(text: &mut String, answer: &SearchAnswer, generation: &Generation) -> std::fmt::Result {
    if answer.hits.is_empty() {
        writeln!(text, "No record has these words.")?;
    } else if answer.near {
        writeln!(
            text,
            "No record has half of these words; the nearest {} of {}:",
            answer.hits.len(),
            answer.total
        )?;
    } else {
        writeln!(
            text,
            "{} of {} records, best first:",
            answer.hits.len(),
            answer.total
        )?;
    }
    for hit in &answer.hits {
        let record = generation.record(&hit.id).map(|published| &published.record);
        let severity = record.and_then(|record| word(record.annex.severity?));
        let action = record.and_then(|record| word(record.annex.action?));
        let weight: Vec<String> = [severity, action].into_iter().flatten().collect();
        let weight = if weight.is_empty() {
            String::new()
        } else {
            format!("  [{}]", weight.join(", "))
        };
        writeln!(text, "{}{weight}", hit.id)?;
        if let Some(title) = &hit.title {
            writeln!(text, "    {}", harmless(title))?;
        }
        writeln!(text, "    {}", shortened(&hit.signature))?;
    }
    if !answer.unknown.is_empty() {
        let unknown: Vec<String> = answer.unknown.iter().map(|word| harmless(word)).collect();
        writeln!(text, "Passed over, as no record has them: {}", unknown.join(", "))?;
    }
    for read_as in &answer.read_as {
        writeln!(
            text,
            "Taken for another word: {} -> {}",
            harmless(&read_as.typed),
            read_as.meant.join(", ")
        )?;
    }
    if let Some(cursor) = &answer.next_cursor {
        writeln!(text, "For more: cursor {cursor}")?;
    }
    Ok(())
}

fn shortened(signature: &str) -> String {
    let line = harmless(signature.lines().next().unwrap_or_default());
    match line.char_indices().nth(MOST_SIGNATURE) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

fn word(value: impl Serialize) -> Option<String> {
    let value = serde_json::to_value(value).ok()?;
    value.as_str().map(str::to_owned)
}

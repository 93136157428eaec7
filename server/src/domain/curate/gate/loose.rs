//! Patterns that are loose by themselves, whatever stands beside them.

use kb_core::ids::Revision;
use kb_core::record::Record;
use kb_core::signature::{self, PatternFacts, PatternSpec};
use kb_core::text::{Part, Violation};

use crate::clean::PROGRESS;

/// Rules of patterns that keep a record from being published, wherever it comes from.
const LOOSE: [&str; 2] = ["pattern/no-literal", "pattern/too-costly"];
/// Letters that a pattern's literals have together, at least. Of 2,286 patterns that ship the least have 5.
const LEAST_LETTERS: usize = 5;

/// Patterns that each line would have to be asked, that cost too much, or that ask for next to nothing. Records that come
/// from elsewhere have such; one that cannot be compiled takes nothing, and is told by its rules.
pub(super) fn loose(record: &Record) -> Vec<Violation> {
    let patterns = record.signatures(Revision(1)).patterns;
    patterns.iter().filter_map(loose_pattern).collect()
}

pub fn loose_pattern(spec: &PatternSpec) -> Option<Violation> {
    match signature::check(spec) {
        Err(error) if LOOSE.contains(&error.rule) => {
            let reason = format!("pattern {}: {}", spec.id, error.reason);
            let violation = Violation::error(Part::Document, "/regex", error.rule, reason);
            Some(violation.fix(error.help))
        }
        Err(_) => None,
        Ok(facts) if letters(&facts) < LEAST_LETTERS => {
            let reason = format!(
                "pattern {}: the words that stand in all of its matches have {} letters together",
                spec.id,
                letters(&facts)
            );
            let violation = Violation::error(Part::Document, "/regex", "gate/short", reason);
            Some(violation.fix("add words that the error line always has"))
        }
        Ok(_) => {
            let line = signature::first_match(spec, PROGRESS.lines())?;
            let reason = format!(
                "pattern {} matches a line by which healthy training tells its progress: {line:?}",
                spec.id
            );
            let violation = Violation::error(Part::Document, "/regex", "gate/healthy-line", reason);
            Some(violation.fix("narrow the pattern, so that it needs words of the error itself"))
        }
    }
}

/// Letters that stand in every match. One beyond ASCII, such as a Chinese one, says as much as two.
fn letters(facts: &PatternFacts) -> usize {
    let shortest = |clause: &Vec<Vec<u8>>| {
        let weights = clause.iter().map(|text| {
            let text = String::from_utf8_lossy(text);
            text.chars()
                .map(|letter| 1 + usize::from(!letter.is_ascii()))
                .sum()
        });
        weights.min().unwrap_or(0)
    };
    facts.required.iter().map(shortest).sum()
}

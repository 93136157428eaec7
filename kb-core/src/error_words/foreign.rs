//! Whether a word of another language tells of an error. Each reads a bounded part of the line.

use super::buts::{before_but, behind_but};
use super::denials::{ends_with_none, is_denied_joined, is_denied_parted};
use super::script::Script::{self, Compound, Joined, Parted, Whole};
use super::searches::is_for_errors;
use super::timeouts::is_setting;
use super::zeros::{is_none_behind, is_zero_before};

/// What is read before and behind a word, in bytes.
const AROUND: usize = 96;
/// Ends of a word that is short; with others it is another word.
const WHOLE_ENDS: [&str; 4] = ["", "si", "lar", "lari"];
/// Ends of the German word; with others it is the name of something that deals with errors: `fehlerfrei`, `Fehlerkorrektur`.
const GERMAN_ENDS: [&str; 7] = ["", "n", "s", "haft", "hafte", "meldung", "code"];
/// Dashes between two parts of a message.
const DASHES: [&str; 3] = [" - ", " – ", " — "];

impl Script {
    /// Whether a word of it may stand where one begins, or does not.
    pub(super) fn may_stand(self, begins: bool) -> bool {
        !matches!(self, Parted | Whole) || begins
    }

    /// Whether the word at `from..to` tells of an error. The letters of the line are folded (see [`super::fold`]).
    pub(super) fn tells(self, line: &str, from: usize, to: usize) -> bool {
        let clause = line.get(..from).unwrap_or_default();
        let clause = clause
            .get(clause.ceil_char_boundary(from.saturating_sub(AROUND))..)
            .unwrap_or_default();
        let clause = clause.rsplit(ends_clause).next().unwrap_or_default();
        let before = self.last_part(clause);
        // `erro 0`: some words have the blank behind them.
        let word = line.get(from..to).unwrap_or_default().trim_end();
        let behind = line.get(from + word.len()..).unwrap_or_default();
        let behind = behind
            .get(..behind.floor_char_boundary(AROUND))
            .unwrap_or_default();
        let behind = behind.split(ends_clause).next().unwrap_or_default();
        let behind = before_but(behind);
        let end = match self {
            Joined => 0,
            Parted | Whole | Compound => behind
                .find(|letter: char| !letter.is_alphanumeric())
                .unwrap_or(behind.len()),
        };
        let (end, behind) = behind.split_at(end);
        let is_denied = match self {
            Joined => is_denied_joined(word, before, behind),
            Parted | Whole | Compound => is_denied_parted(word, before, behind),
        };
        !self.is_other(end)
            && !is_denied
            && !is_for_errors(self, word, before, behind)
            && !is_zero_before(clause)
            && !is_none_behind(behind)
            && !is_setting(word, before, behind)
    }

    /// Whether a word with this end is another one.
    fn is_other(self, end: &str) -> bool {
        let is = |ends: &[&str]| ends.iter().any(|known| end.eq_ignore_ascii_case(known));
        match self {
            Compound => !is(&GERMAN_ENDS),
            Whole => !is(&WHOLE_ENDS),
            Joined | Parted => false,
        }
    }

    /// The end of a clause that may belong to the word behind it: a colon, a dash, a bracket or a "but" parts the rest from it. In
    /// `GPU nie odpowiada: błąd sterownika` the `nie` does not deny the error.
    fn last_part(self, clause: &str) -> &str {
        let part = clause.rsplit([':', '：']).next().unwrap_or_default();
        let part = DASHES
            .iter()
            .fold(part, |part, dash| part.rsplit(*dash).next().unwrap_or_default());
        let part = behind_but(part);
        let Some((at, bracket)) = part.char_indices().rfind(|(_, letter)| is_bracket(*letter)) else {
            return part;
        };
        // Chinese writes a remark between a word and what it denies: `未发现（不可纠正）错误`.
        let is_remark = || {
            let front = part.get(..at).unwrap_or_default();
            matches!(bracket, ')' | '）') || ends_with_none(front)
        };
        if self == Joined && is_remark() {
            return part;
        }
        part.get(at + bracket.len_utf8()..).unwrap_or_default()
    }
}

fn is_bracket(letter: char) -> bool {
    matches!(letter, '(' | ')' | '（' | '）')
}

/// A point is part of a number or a name, too.
fn ends_clause(letter: char) -> bool {
    matches!(
        letter,
        ',' | ';' | '，' | '；' | '。' | '、' | '！' | '？' | '،' | '؛' | '\n'
    )
}

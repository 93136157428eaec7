//! Whether a line looks like an error: the words that tell of one, and what around them says that there is none.

mod beside;
mod buts;
mod counts;
mod denials;
mod events;
mod fold;
mod foreign;
mod found;
mod glog;
mod languages;
mod level;
mod messages;
mod not_a_number;
mod partly_up;
mod phrases;
mod ports;
mod script;
mod searches;
mod shortfall;
mod states;
#[cfg(test)]
mod tests;
mod timeouts;
mod tokens;
mod wrong;
mod zeros;

use std::borrow::Cow;
use std::cell::LazyCell;

use counts::counts_none;
pub(crate) use found::find_error_word;
use found::{Found, Kind};
pub(crate) use level::Level;
use level::Levels;

/// Beginnings of words that tell of an error.
const ERRORS: [&str; 81] = [
    "error",
    "fail",
    "fatal",
    "fault",
    "panic",
    "exception",
    "abort",
    "xid",
    "timed out",
    "timeout",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unable",
    "refused",
    "denied",
    "lost",
    "corrupt",
    "invalid",
    "illegal",
    "segfault",
    "killed",
    "assert",
    "nvrm:",
    "not found",
    "no such",
    "out of memory",
    "mismatch",
    "unsupported",
    "not supported",
    "uncorrectable",
    "hung",
    "undefined",
    // Of the kernel: a bug of its own, a task or a processor that does not go on, heat.
    "bug:",
    "kernel bug",
    "oops",
    "blocked for more",
    "lockup",
    "deadlock",
    "stuck for",
    "stall",
    "remounting",
    "nobody cared",
    "disabling irq",
    "unknown reason",
    "warning: cpu:",
    "[#1]",
    "call trace",
    "disappeared",
    "died",
    "no route to",
    "broken pipe",
    "connection reset",
    "no space left",
    "stale file",
    "hardware protection",
    "overheat",
    "high temperature",
    "too high",
    "unplugged",
    "insufficient",
    "will reset",
    "link down",
    "is down",
    "went down",
    "critical",
    "unhealthy",
    "degraded",
    "missing",
    "crash",
    "terminated",
    "unreachable",
    "unresponsive",
    "not responding",
    "violation",
    "incompatible",
    "rejected",
    "exhausted",
    // A cell of nvidia-smi, and a result of AMD's RVS.
    "err!",
    "pass: false",
];
/// What stands before a word and how the text goes on from it, where the word tells of no error.
const NONE: [(&str, &str); 6] = [
    ("no ", "error"),
    ("without ", "error"),
    ("no ", "fault"),
    ("libgpg-", "error"),
    ("", "nvrm: loading"),
    ("", "invalidation"),
];
/// Names of settings as well as words of errors.
const SETTINGS: [&str; 2] = ["timeout", "panic"];
/// How the name of a setting ends: its unit.
const UNITS: [&str; 6] = ["", "ms", "msec", "sec", "secs", "seconds"];
/// A setting is read up to here, in bytes.
const SETTING_BYTES: usize = 64;
/// Values that are no message: `timeout: none`, the beginning of `N/A`.
const VALUES: [&str; 6] = ["none", "null", "true", "false", "default", "n"];

const UNHEALTHY: &str = "unhealthy";
/// Words before it that say that something is so now: `Marking device unhealthy`, `the device will go unhealthy`.
const MARKS: [&str; 12] = [
    "mark", "marked", "marking", "as", "is", "are", "became", "become", "went", "go", "now", "device",
];
/// Words before it that are read.
const MARKED_BEFORE: usize = 2;
/// Most signs behind it where it is the last word of its line: a line may repeat it, and have signs without end.
const SIGNS_BEHIND: usize = 64;

/// Whether a line may tell of an error: it has such a word at the beginning of one of its own, or as an exception's name ends, and
/// neither its number nor its level says that it is none.
///
/// `columns` tells where the line names columns of a table, which are no words of an error; it is asked only where that matters.
pub(crate) fn looks_like_error(line: &str, columns: impl FnOnce() -> Vec<usize>) -> bool {
    let columns = LazyCell::new(columns);
    let is_column = |at: usize| {
        let rest = line.get(at..).unwrap_or_default();
        rest.starts_with("XIDER") && columns.contains(&at)
    };
    let folded = fold::folded(line);
    let is_folded = matches!(folded, Cow::Owned(_));
    let tells = |text: &str, found: Found, levels: &mut Levels<'_>| {
        let Found { from, to, kind } = found;
        let begins = begins(text, from);
        match kind {
            Kind::State(when) => {
                let text = text.as_bytes();
                when.may_stand(text, from, begins) && when.tells(text, from, to)
            }
            Kind::Foreign(script) => {
                script.may_stand(begins)
                    && levels.until(from) != Some(Level::Info)
                    && script.tells(text, from, to)
            }
            Kind::Error => {
                begins
                    && !is_phrase_of_none(text, from)
                    && !is_column(from)
                    && !is_setting(text, from, to)
                    && !counts_none(text, from, to)
                    // A word that is a level itself counts although the line begins with a milder one: `INFO … ERROR: x failed` is
                    // the line of another program that the first one passes on.
                    && (levels.until(from) != Some(Level::Info) || is_marked(text, from, to))
            }
        }
    };
    // Levels are asked for in the order of the places, which each of the two begins anew.
    let any = |text: &str, is_of: fn(&Found) -> bool| {
        let mut levels = Levels::new(text.as_bytes());
        let mut of_ascii = found::ascii(text.as_bytes()).filter(is_of);
        if of_ascii.any(|found| tells(text, found, &mut levels)) {
            return true;
        }
        let mut levels = Levels::new(text.as_bytes());
        let mut of_wide = found::wide(text.as_bytes()).filter(is_of);
        of_wide.any(|found| tells(text, found, &mut levels))
    };
    // What is no word of another language is told by the case of its letters, too, and is read as it stands.
    if is_folded {
        any(line, |found| !is_foreign(found)) || any(&folded, is_foreign)
    } else {
        any(line, |_| true)
    }
}

fn is_foreign(found: &Found) -> bool {
    matches!(found.kind, Kind::Foreign(_))
}

/// Whether a word, or a further word of a name, begins here.
fn begins(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    before.is_none_or(|before| !before.is_alphanumeric()) || is_hump(text.as_bytes(), at)
}

/// Whether something was found to be unhealthy: device plugins and node agents say so in lines of information.
fn is_marked(line: &str, from: usize, to: usize) -> bool {
    let word = line.get(from..to).unwrap_or_default();
    if !word.eq_ignore_ascii_case(UNHEALTHY) {
        return false;
    }
    let before = line.get(..from).unwrap_or_default();
    let mut before = before.rsplit(|letter: char| !letter.is_alphanumeric());
    let near = before
        .by_ref()
        .filter(|word| !word.is_empty())
        .take(MARKED_BEFORE);
    let mut behind = line.get(to..).unwrap_or_default().chars();
    let is_near_end =
        !behind.by_ref().take(SIGNS_BEHIND).any(char::is_alphanumeric) && behind.next().is_none();
    is_near_end
        || near
            .into_iter()
            .any(|word| MARKS.iter().any(|mark| word.eq_ignore_ascii_case(mark)))
}

/// Whether a further word of a name begins here: `RuntimeError`, `cudaErrorUnknown`, `OOMError`; not `DEFAULT`.
fn is_hump(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    let is_lower = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_lowercase);
    text.get(at).is_some_and(u8::is_ascii_uppercase) && (is_lower(before) || is_lower(text.get(at + 1)))
}

fn is_phrase_of_none(line: &str, at: usize) -> bool {
    let line = line.as_bytes();
    let (before, rest) = (
        line.get(..at).unwrap_or_default(),
        line.get(at..).unwrap_or_default(),
    );
    NONE.iter().any(|(first, then)| {
        let start = before.len().checked_sub(first.len());
        let is = |text: &[u8], word: &str| {
            text.get(..word.len())
                .is_some_and(|text| text.eq_ignore_ascii_case(word.as_bytes()))
        };
        let begins = |start: usize| {
            let before = start.checked_sub(1).and_then(|before| line.get(before));
            first.is_empty() || before.is_none_or(|before| !before.is_ascii_alphanumeric())
        };
        is(rest, then)
            && start.is_some_and(|start| begins(start) && is(before.get(start..).unwrap_or_default(), first))
    })
}

/// Whether a value is given to the word: `timeout: 900`, `TIMEOUT(ms): 600000`, `panic=1`. `panic: send on closed channel` is a
/// message, and so is all else behind a colon that is no number.
fn is_setting(line: &str, from: usize, to: usize) -> bool {
    let word = line.get(from..to).unwrap_or_default();
    if !SETTINGS.iter().any(|setting| word.eq_ignore_ascii_case(setting)) {
        return false;
    }
    let rest = line.get(to..).unwrap_or_default();
    let rest = rest
        .get(..rest.floor_char_boundary(SETTING_BYTES))
        .unwrap_or_default();
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let behind = rest.trim_start_matches(is_name);
    let name = rest.get(..rest.len() - behind.len()).unwrap_or_default();
    let is_count = name.ends_with("count") || name.ends_with("total");
    let is_unit = UNITS.iter().any(|unit| name.eq_ignore_ascii_case(unit));
    if is_count || !(is_unit || name.starts_with('_')) {
        return false;
    }
    let behind = behind.strip_prefix(['"', '\'']).unwrap_or(behind).trim_start();
    if behind.starts_with(['=', '(']) {
        return true;
    }
    let Some(value) = behind.strip_prefix(':') else {
        return false;
    };
    let value = value.trim_start().trim_start_matches(['-', '"', '<', '(']);
    let end = value.find(|letter| !is_name(letter)).unwrap_or(value.len());
    let first = value.get(..end).unwrap_or_default();
    let is_value = VALUES.iter().any(|known| first.eq_ignore_ascii_case(known));
    first.starts_with(|letter: char| letter.is_ascii_digit()) || is_value
}

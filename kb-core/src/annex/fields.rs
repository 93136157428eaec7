//! The annex's keys and types, as a table. The format is our own, so it is strict where it knows a key.

use super::SCHEMA_VERSION;
use super::notes::{WorkaroundKind, WorkaroundScope};
use super::probe::{MAX_EXPRESSION_BYTES, MAX_RULES, ProbeScope};
use super::{Action, Blame, Severity};
use crate::text::checks::{day, record_id, report_id, url};
use crate::text::shape::{Field, Shape};
use crate::text::steps;

/// More items than any record of the kind has; a guard against nonsense, not a style rule.
const MOST: usize = 1_000;
/// Most patterns, examples and conditions on the environment: each costs time when a record is saved or matched.
const MOST_TRIED: usize = 64;
/// Most pages; each is held against each claim of the document.
const MOST_SOURCES: usize = 256;
const MOST_NUMBERS: usize = 16;
/// Longest window between related hits: a day.
const LONGEST_WINDOW_SECONDS: u32 = 86_400;

/// Longest title, in characters: a heading of one line.
const MAX_TITLE_CHARS: usize = 70;
/// Most queries of one record, and the longest, in characters: what one types into a search box.
const MOST_ASKED: usize = 16;
const MAX_QUERY_CHARS: usize = 60;

const TEXT_OR_NULL: Shape = Shape::OrNull(&Shape::Text);
const URL_OR_NULL: Shape = Shape::OrNull(&Shape::Checked("url", url));
const RECORD_IDS: Shape = Shape::List(MOST, &Shape::Checked("id", record_id));

const PATTERN_IDS: Shape = Shape::List(MOST_TRIED, &Shape::Checked("name", name));

pub(super) static ANNEX: Shape = Shape::Object(&[
    Field::required("schema_version", Shape::Version(SCHEMA_VERSION)),
    Field::optional("title", Shape::OrNull(&Shape::Checked("title", title))),
    Field::optional("title_zh", Shape::OrNull(&Shape::Checked("title", title))),
    Field::optional(
        "asked_as",
        Shape::List(MOST_ASKED, &Shape::Checked("query", query)),
    ),
    Field::optional("codes", Shape::List(MOST, &Shape::Checked("code", code))),
    Field::optional("patterns", Shape::List(MOST_TRIED, &PATTERN)),
    Field::optional("phrases", Shape::List(MOST_TRIED, &PHRASE)),
    Field::optional("examples", Shape::List(MOST_TRIED, &EXAMPLE)),
    Field::optional("near_misses", Shape::List(MOST_TRIED, &NEAR_MISS)),
    Field::optional("applies_to", Shape::List(MOST_TRIED, &APPLIES_TO)),
    Field::optional("severity", Shape::OrNull(&Shape::Word(Severity::WORDS))),
    Field::optional("action", Shape::OrNull(&Shape::Word(Action::WORDS))),
    Field::optional("at_fault", Shape::OrNull(&AT_FAULT)),
    Field::optional("harmless", Shape::OrNull(&HARMLESS)),
    Field::optional("workaround_notes", Shape::List(MOST, &WORKAROUND_NOTE)),
    Field::optional("disputes", Shape::List(MOST, &DISPUTE)),
    Field::optional("probe", Shape::List(MAX_RULES, &PROBE)),
    Field::optional("relations", RELATIONS),
    Field::optional("sources", Shape::List(MOST_SOURCES, &SOURCE)),
    Field::optional("reproduced", Shape::List(MOST_TRIED, &REPRODUCTION)),
    Field::optional("dead_ends_zh", Shape::List(MOST, &DEAD_END_ZH)),
    Field::optional("workarounds_zh", Shape::List(MOST, &WORKAROUND_ZH)),
    Field::optional("superseded_by", Shape::OrNull(&Shape::Checked("id", record_id))),
    Field::optional("origin", Shape::OrNull(&ORIGIN)),
    Field::optional("provenance", Shape::AnyObject),
    Field::optional("hardware", Shape::AnyObject),
]);

static PATTERN: Shape = Shape::Object(&[
    Field::required("id", Shape::Checked("name", name)),
    Field::required("regex", Shape::FilledText),
    Field::optional("flags", Shape::Text),
    Field::optional("captures", Shape::List(MOST_TRIED, &Shape::Text)),
]);

static PHRASE: Shape = Shape::Object(&[
    Field::required("id", Shape::Checked("name", name)),
    Field::required("context", Shape::FilledText),
    Field::optional("text", Shape::FilledText),
    Field::optional("numbers", Shape::List(MOST_NUMBERS, &Shape::Whole(u32::MAX))),
]);

static EXAMPLE: Shape = Shape::Object(&[
    Field::required("text", Shape::FilledText),
    Field::optional("source", URL_OR_NULL),
    Field::optional("captures", Shape::Map(&Shape::Text)),
]);

static NEAR_MISS: Shape = Shape::Object(&[
    Field::required("text", Shape::FilledText),
    Field::optional("why", TEXT_OR_NULL),
    Field::optional("source", URL_OR_NULL),
]);

static APPLIES_TO: Shape = Shape::Object(&[
    Field::required("component", Shape::Checked("name", name)),
    Field::optional("introduced", TEXT_OR_NULL),
    Field::optional("fixed", TEXT_OR_NULL),
    Field::optional("last_affected", TEXT_OR_NULL),
    Field::optional("any_of", Shape::List(MOST, &Shape::Text)),
]);

static PROBE: Shape = Shape::Object(&[
    Field::required("id", Shape::Checked("name", name)),
    Field::required("scope", Shape::Word(ProbeScope::WORDS)),
    Field::required("when", Shape::Checked("expression", expression)),
    Field::optional(
        "evidence",
        Shape::List(MAX_RULES, &Shape::Checked("expression", expression)),
    ),
]);

const RELATIONS: Shape = Shape::Object(&[
    Field::optional("cancels", RECORD_IDS),
    Field::optional("only_alone", Shape::Bool),
    Field::optional("wraps_others", Shape::Bool),
    Field::optional("only_with", RECORD_IDS),
    Field::optional(
        "window_seconds",
        Shape::OrNull(&Shape::Whole(LONGEST_WINDOW_SECONDS)),
    ),
    Field::optional("of_gpu", PATTERN_IDS),
    Field::optional("not_of_others", PATTERN_IDS),
]);

static SOURCE: Shape = Shape::Object(&[
    Field::required("url", Shape::Checked("url", url)),
    Field::required("read_on", Shape::Checked("day", day)),
    Field::optional(
        "supports",
        Shape::List(MOST_TRIED, &Shape::Checked("pointer", pointer)),
    ),
    Field::optional("note", TEXT_OR_NULL),
]);

static REPRODUCTION: Shape = Shape::Object(&[
    Field::required("report", Shape::Checked("id", report_id)),
    Field::required("on", Shape::Checked("day", day)),
    Field::required("hardware", Shape::FilledText),
    Field::optional("output", Shape::OrNull(&Shape::Checked("name", name))),
    Field::optional(
        "supports",
        Shape::List(MOST_TRIED, &Shape::Checked("pointer", pointer)),
    ),
    Field::optional("note", TEXT_OR_NULL),
]);

static AT_FAULT: Shape = Shape::Object(&[
    Field::required("who", Shape::Word(Blame::WORDS)),
    Field::required("source", Shape::Checked("url", url)),
    Field::optional("note", TEXT_OR_NULL),
]);

static HARMLESS: Shape = Shape::Object(&[
    Field::required("unless", Shape::FilledText),
    Field::optional("unless_zh", TEXT_OR_NULL),
]);

static WORKAROUND_NOTE: Shape = Shape::Object(&[
    Field::required("kind", Shape::Word(WorkaroundKind::WORDS)),
    Field::required("scope", Shape::Word(WorkaroundScope::WORDS)),
    Field::optional("cost", TEXT_OR_NULL),
    Field::optional("cost_zh", TEXT_OR_NULL),
    Field::optional("stop_first", TEXT_OR_NULL),
    Field::optional("stop_first_zh", TEXT_OR_NULL),
]);

static DISPUTE: Shape = Shape::Object(&[
    Field::required("pointer", Shape::Checked("pointer", pointer)),
    Field::required("why", Shape::FilledText),
    Field::optional("why_zh", TEXT_OR_NULL),
    Field::required("source", Shape::Checked("url", url)),
]);

static DEAD_END_ZH: Shape = Shape::Object(&[
    Field::optional("action", TEXT_OR_NULL),
    Field::optional("why_fails", TEXT_OR_NULL),
]);

static WORKAROUND_ZH: Shape = Shape::Object(&[
    Field::optional("action", TEXT_OR_NULL),
    Field::optional("how", TEXT_OR_NULL),
]);

static ORIGIN: Shape = Shape::Object(&[
    Field::required("system", Shape::FilledText),
    Field::optional("url", URL_OR_NULL),
]);

/// A code is printable, trimmed, and short enough for an address.
fn code(text: &str) -> Result<(), String> {
    let printable = text.chars().all(|c| !c.is_control());
    if text.is_empty() || text.trim() != text || text.len() > 200 || !printable {
        return Err(format!(
            "{text:?} is not a code: 1 to 200 printable bytes without white space around them"
        ));
    }
    Ok(())
}

fn title(text: &str) -> Result<(), String> {
    line(text, "title", MAX_TITLE_CHARS)
}

fn query(text: &str) -> Result<(), String> {
    line(text, "query", MAX_QUERY_CHARS)
}

fn line(text: &str, what: &str, most_chars: usize) -> Result<(), String> {
    let length = text.chars().count();
    let printable = text.chars().all(|c| !c.is_control());
    if text.trim() != text || !(1..=most_chars).contains(&length) || !printable {
        return Err(format!(
            "{text:?} is not a {what}: 1 to {most_chars} printable characters without white space around them"
        ));
    }
    Ok(())
}

fn name(text: &str) -> Result<(), String> {
    let plain = text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    if text.is_empty() || text.len() > 64 || !plain {
        return Err(format!(
            "{text:?} is not a name: 1 to 64 letters, digits, '.', '_' and '-'"
        ));
    }
    Ok(())
}

fn expression(text: &str) -> Result<(), String> {
    if text.trim().is_empty() || text.len() > MAX_EXPRESSION_BYTES {
        return Err(format!(
            "an expression has 1 to {MAX_EXPRESSION_BYTES} bytes, this one has {}",
            text.len()
        ));
    }
    Ok(())
}

fn pointer(text: &str) -> Result<(), String> {
    match steps(text) {
        Some(_) => Ok(()),
        None => Err(format!("{text:?} is not a JSON pointer such as /workarounds/0")),
    }
}

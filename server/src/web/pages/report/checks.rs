//! What was checked between two GPUs, direction by direction.

use kb_core::report::{Check, Direction, Fact, Mismatch, P2pStatus, Pair};
use kb_core::verdict::Verdict;

use super::facts::{FactView, code, read, record, shown};
use crate::render::advice::Text;
use crate::render::i18n::{Language, Locale, report::Words, terms};
use crate::render::words::{Link, Mark, Row, bytes, outcome, seconds, verdict};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairView {
    /// Id of its place on the page.
    pub anchor: String,
    /// `GPU 0 and GPU 1`.
    pub title: String,
    pub verdict: Mark,
    pub reason: String,
    pub fix: Option<String>,
    pub record: Option<Link>,
    /// True where the refusal is as expected.
    pub information: bool,
    /// True where the reader must look.
    pub open: bool,
    /// What joins the two, and the cause.
    pub rows: Vec<Row>,
    /// What was read about the way between the two.
    pub facts: Vec<FactView>,
    pub directions: Vec<DirectionView>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectionView {
    /// `GPU 0 reaches into GPU 1`.
    pub title: String,
    /// `Checks, GPU 0 reaches into GPU 1`.
    pub checks_title: String,
    pub rows: Vec<Row>,
    pub checks: Vec<CheckView>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckView {
    pub rung: u8,
    pub name: String,
    /// What moved the bytes.
    pub engine: &'static str,
    pub outcome: Mark,
    /// Why, call and code, where data differed.
    pub why: Vec<Text>,
    pub checked_by: String,
    /// Bytes compared, and over which stretch of the memory.
    pub bytes: String,
    pub time: String,
    pub rerun: bool,
}

/// Link to a pair's place on the page.
pub(super) fn anchor_link(a: u32, b: u32) -> String {
    format!("#pair-{a}-{b}")
}

pub(super) fn pair(pair: &Pair, locale: Locale) -> PairView {
    let (language, words) = (locale.language, Words::of(locale.language));
    PairView {
        anchor: format!("pair-{}-{}", pair.a, pair.b),
        title: words.pair_of(&pair.a.to_string(), &pair.b.to_string()),
        verdict: verdict(pair.verdict.verdict, language),
        reason: pair.verdict.reason.clone(),
        fix: pair.verdict.fix.clone(),
        record: pair.verdict.record.as_ref().map(|id| record(id, locale)),
        information: pair.verdict.information,
        open: pair.verdict.verdict != Verdict::Healthy && !pair.verdict.information,
        rows: pair_rows(pair, language),
        facts: read(&pair.facts),
        directions: pair
            .directions
            .iter()
            .map(|of_pair| direction(of_pair, language))
            .collect(),
    }
}

/// `copies (3)`.
fn proven(rung: u8, words: &Words) -> String {
    let name = match rung {
        1 => words.rung_granted,
        2 => words.rung_enabling,
        3 => words.rung_copies,
        4 => words.rung_kernels,
        5 => words.rung_same_time,
        6 => words.rung_process,
        7 => words.rung_nccl,
        _ => return rung.to_string(),
    };
    format!("{name} ({rung})")
}

fn pair_rows(pair: &Pair, language: Language) -> Vec<Row> {
    let words = Words::of(language);
    let mut rows = Vec::new();
    if let Some(cause) = &pair.verdict.cause {
        rows.push(Row::new(words.cause, cause.replace('_', " ")));
    }
    if !pair.verdict.beside.is_empty() {
        let beside = pair.verdict.beside.join(", ").replace('_', " ");
        rows.push(Row::new(words.beside, beside));
    }
    if !pair.verdict.proven_rungs.is_empty() {
        let rungs = pair.verdict.proven_rungs.iter();
        let rungs: Vec<String> = rungs.map(|rung| proven(*rung, words)).collect();
        rows.push(Row::new(words.proven, rungs.join(", ")));
    }
    rows.push(Row::new(
        words.links,
        shown(&pair.nvlinks, language, ToString::to_string),
    ));
    rows.push(Row::new(
        words.switch,
        shown(&pair.nvswitch, language, |yes| yes_or_no(*yes, language)),
    ));
    rows.push(Row::new(
        words.ancestor,
        shown(&pair.common_ancestor, language, Clone::clone),
    ));
    rows
}

fn direction(direction: &Direction, language: Language) -> DirectionView {
    let words = Words::of(language);
    let title = words.reaches(&direction.initiator.to_string(), &direction.owner.to_string());
    DirectionView {
        checks_title: words.checks_of(&title),
        title,
        rows: direction_rows(direction, language),
        checks: direction
            .checks
            .iter()
            .map(|of_direction| check(of_direction, language))
            .collect(),
    }
}

fn direction_rows(direction: &Direction, language: Language) -> Vec<Row> {
    let (words, terms) = (Words::of(language), terms::Words::of(language));
    let nvml = &direction.nvml;
    let status =
        |fact: &Fact<P2pStatus>| shown(fact, language, |status| terms.p2p_status(*status).to_owned());
    let mut rows = vec![
        Row::new(
            words.grants,
            shown(&direction.can_access_peer, language, |yes| {
                yes_or_no(*yes, language)
            }),
        ),
        Row::new(words.nvml_read, status(&nvml.read)),
        Row::new(words.nvml_write, status(&nvml.write)),
        Row::new("NVML NVLink", status(&nvml.nvlink)),
        Row::new(words.nvml_atomics, status(&nvml.atomics)),
        Row::new("NVML PCI", status(&nvml.pci)),
    ];
    for (name, fact) in &direction.cuda_attributes {
        rows.push(Row::new(
            format!("CUDA {}", name.replace('_', " ")),
            shown(fact, language, ToString::to_string),
        ));
    }
    rows
}

fn yes_or_no(yes: bool, language: Language) -> String {
    terms::Words::of(language).yes_or_no(yes).to_owned()
}

fn check(check: &Check, language: Language) -> CheckView {
    CheckView {
        rung: check.rung,
        name: check.name.clone(),
        engine: terms::Words::of(language).engine(check.engine),
        outcome: outcome(check.outcome, language),
        why: why(check, language),
        checked_by: check.checked_by.replace('_', " "),
        bytes: data(check, language),
        time: seconds(check.seconds),
        rerun: check.rerun,
    }
}

/// `4.0 KiB in 16 windows over 100.0 GiB`; empty where nothing was compared.
fn data(check: &Check, language: Language) -> String {
    match (check.bytes, check.windows) {
        (0, _) => String::new(),
        (compared, 0 | 1) => bytes(compared),
        (compared, windows) => {
            let (compared, spread) = (bytes(compared), bytes(check.spread_bytes));
            Words::of(language).windows(&compared, &windows.to_string(), &spread)
        }
    }
}

fn why(check: &Check, language: Language) -> Vec<Text> {
    let mut lines: Vec<String> = check.reason.iter().cloned().collect();
    let code = code(check.code_name.as_deref(), check.code, language);
    match (&check.call, code.is_empty()) {
        (Some(call), true) => lines.push(call.clone()),
        (Some(call), false) => lines.push(format!("{call}: {code}")),
        (None, false) => lines.push(code),
        (None, true) => {}
    }
    lines.extend(check.mismatch.map(|found| mismatch(found, language)));
    lines.into_iter().map(Text::new).collect()
}

fn mismatch(mismatch: Mismatch, language: Language) -> String {
    let words = Words::of(language);
    let place = if mismatch.in_guard {
        words.in_guard
    } else {
        words.in_data
    };
    let (wrong, first) = (mismatch.words.to_string(), mismatch.first_offset.to_string());
    let mut text = words.wrong_words(&wrong, place, &first);
    if mismatch.untouched {
        text.push_str(words.untouched);
    }
    match mismatch.writer_sees_it {
        Some(true) => text.push_str(words.only_writer_sees),
        Some(false) => text.push_str(words.nobody_sees),
        None => {}
    }
    text
}

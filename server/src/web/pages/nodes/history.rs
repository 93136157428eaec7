//! The verdicts of a node's last reports as a strip, drawn here; the table of reports behind it has the same in words.

use super::report_href;
use crate::render::i18n::Locale;
use crate::render::i18n::fleet::Words;
use crate::render::words::{Mark, moment, verdict};
use crate::store::ReportListing;

/// Reports that are drawn at most.
const DRAWN: usize = 30;
/// Width of a report's bar with the gap behind it.
const STEP: usize = 20;
const BAR_WIDTH: usize = 16;
const HEIGHT: usize = 40;
/// Height that each step from the best verdict adds.
const RISE: usize = 6;
const LEAST: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strip {
    pub label: String,
    pub width: usize,
    pub height: usize,
    pub bars: Vec<Bar>,
}

/// A report: the worse its verdict, the taller its bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    pub x: usize,
    pub y: usize,
    pub width: usize,
    pub height: usize,
    pub href: String,
    pub verdict: Mark,
    /// When its run ended, and its verdict.
    pub title: String,
}

/// `reports` come newest first; the strip goes from old to new.
pub(super) fn strip(reports: &[ReportListing], locale: Locale) -> Strip {
    let newest = reports.get(..reports.len().min(DRAWN)).unwrap_or_default();
    let bars: Vec<Bar> = newest
        .iter()
        .rev()
        .enumerate()
        .map(|(place, report)| bar(place, report, locale))
        .collect();
    Strip {
        label: Words::of(locale.language).strip(bars.len() as u64),
        width: bars.len() * STEP,
        height: HEIGHT,
        bars,
    }
}

fn bar(place: usize, report: &ReportListing, locale: Locale) -> Bar {
    let mark = verdict(report.verdict, locale.language);
    let better = kb_core::verdict::Verdict::ALL
        .into_iter()
        .filter(|other| *other < report.verdict);
    let height = (LEAST + better.count() * RISE).min(HEIGHT);
    Bar {
        x: place * STEP,
        y: HEIGHT - height,
        width: BAR_WIDTH,
        height,
        href: report_href(report, locale),
        title: format!("{}: {}", moment(report.ended()), mark.label),
        verdict: mark,
    }
}

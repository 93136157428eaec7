//! The pair matrix (row reaches into column) and matrices of measured values.

use std::collections::BTreeSet;

use kb_core::baseline::{Reviewed, Standing};
use kb_core::report::{Direction, Gap, Measurement, Outcome, Pair, Report};
use kb_core::verdict::Verdict;

use super::checks::anchor_link;
use super::{compared, times, titles};
use crate::render::i18n::{Language, report::Words, terms};
use crate::render::words::Mark;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    pub columns: Vec<String>,
    pub rows: Vec<MatrixRow>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixRow {
    pub label: String,
    pub cells: Vec<Cell>,
}

/// What one GPU's reach into another's memory came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub class: &'static str,
    /// Sign, for readers who do not see colours.
    pub sign: &'static str,
    pub word: &'static str,
    pub href: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasurementView {
    /// What was measured, how, at which size.
    pub title: String,
    /// The lowest and the highest of its cells, with the unit; empty where there is none.
    pub span: String,
    /// How it stands beside figures of its kind, where that is worse than normal.
    pub standing: Option<Mark>,
    /// What it was held against, a line each.
    pub compared: Vec<String>,
    /// Unit, what a cell is, and how long taking it took.
    pub caption: String,
    pub columns: Vec<String>,
    pub rows: Vec<ValueRow>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueRow {
    pub label: String,
    pub cells: Vec<ValueCell>,
}

/// A measured value, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueCell {
    pub class: &'static str,
    pub text: String,
    pub title: String,
}

impl ValueCell {
    pub(super) fn nothing() -> Self {
        Self {
            class: "cell-self",
            text: "–".to_owned(),
            title: String::new(),
        }
    }

    /// Where something was to be measured and was not.
    pub(super) fn missing(gap: Option<&Gap>, language: Language) -> Self {
        let (words, terms) = (Words::of(language), terms::Words::of(language));
        Self {
            class: "cell-unknown",
            text: gap.map_or(words.none, |gap| terms.gap_kind(gap.kind)).to_owned(),
            title: gap.map(|gap| gap.reason.clone()).unwrap_or_default(),
        }
    }
}

pub(super) fn pairs(report: &Report, words: &Words) -> Option<Matrix> {
    if report.pairs.is_empty() {
        return None;
    }
    let indices: Vec<u32> = (0..report.gpus.len())
        .filter_map(|index| u32::try_from(index).ok())
        .collect();
    let row = |initiator: &u32| MatrixRow {
        label: label(*initiator),
        cells: indices
            .iter()
            .map(|owner| cell(report, *initiator, *owner, words))
            .collect(),
    };
    Some(Matrix {
        columns: indices.iter().copied().map(label).collect(),
        rows: indices.iter().map(row).collect(),
    })
}

fn label(index: u32) -> String {
    format!("GPU {index}")
}

fn cell(report: &Report, initiator: u32, owner: u32, words: &Words) -> Cell {
    if initiator == owner {
        return Cell {
            class: "cell-self",
            sign: "",
            word: "–",
            href: None,
        };
    }
    let (a, b) = (initiator.min(owner), initiator.max(owner));
    let Some(pair) = report.pairs.iter().find(|pair| pair.a == a && pair.b == b) else {
        return Cell {
            class: "cell-unknown",
            sign: "?",
            word: words.not_checked,
            href: None,
        };
    };
    let direction = pair
        .directions
        .iter()
        .find(|d| d.initiator == initiator && d.owner == owner);
    let (class, sign, word) = match seen(pair, direction) {
        Verdict::Healthy => ("cell-good", "✓", words.works),
        Verdict::Degraded => ("cell-warn", "△", words.degraded),
        Verdict::Refused => ("cell-bad", "⊘", words.refused),
        Verdict::Broken => ("cell-bad", "✗", words.broken),
        Verdict::Unknown | Verdict::NoFaultSeen => ("cell-unknown", "?", words.unknown),
    };
    Cell {
        class,
        sign,
        word,
        href: Some(anchor_link(a, b)),
    }
}

/// What a direction shows by itself. The pair has its worse direction's verdict: one cell may be fine and its mirror not.
fn seen(pair: &Pair, direction: Option<&Direction>) -> Verdict {
    let verdict = pair.verdict.verdict;
    if verdict == Verdict::Healthy {
        return Verdict::Healthy;
    }
    let Some(direction) = direction else {
        return Verdict::Unknown;
    };
    let any = |wanted: &[Outcome]| {
        direction
            .checks
            .iter()
            .any(|check| wanted.contains(&check.outcome))
    };
    if any(&[Outcome::Fail, Outcome::Hang]) {
        return if direction.can_access_peer.value == Some(false) {
            Verdict::Refused
        } else {
            Verdict::Broken
        };
    }
    if direction.can_access_peer.value == Some(false) {
        return Verdict::Refused;
    }
    if any(&[Outcome::PassAlone]) {
        return Verdict::Degraded;
    }
    let passed = any(&[Outcome::Pass]);
    match (passed, verdict) {
        (true, Verdict::Degraded) => Verdict::Degraded,
        (true, Verdict::Refused | Verdict::Broken) => Verdict::Healthy,
        _ => Verdict::Unknown,
    }
}

/// A matrix of medians; none without cells. Ends without cells make no row or column: host to eight GPUs is one row.
pub(super) fn measurement(
    report: &Report,
    (item, figures): (&Measurement, &[&Reviewed]),
    language: Language,
) -> Option<MeasurementView> {
    if item.cells.is_empty() || report.gpus.is_empty() {
        return None;
    }
    let words = Words::of(language);
    let sources: BTreeSet<Option<u32>> = item.cells.iter().map(|cell| cell.source).collect();
    let destinations: BTreeSet<Option<u32>> = item.cells.iter().map(|cell| cell.destination).collect();
    let name = |place: &Option<u32>| place.map_or_else(|| titles::no_gpu(item, words).to_owned(), label);
    let row = |source: &Option<u32>| ValueRow {
        label: name(source),
        cells: destinations
            .iter()
            .map(|destination| value((item, figures), *source, *destination, language))
            .collect(),
    };
    let taken = item.taken.map(|taken| times::taken(taken, words));
    Some(MeasurementView {
        title: titles::of(item, words),
        span: span(item, words),
        standing: compared::tag(figures, language),
        compared: compared::lines(item, figures, language),
        caption: words.median_means(&item.unit) + &taken.unwrap_or_default(),
        columns: destinations.iter().map(name).collect(),
        rows: sources.iter().map(row).collect(),
    })
}

/// `391.2 to 396.4 GB/s`, so that nobody has to open fifty matrices to find the odd one.
fn span(item: &Measurement, words: &Words) -> String {
    let mut medians: Vec<f64> = item
        .cells
        .iter()
        .filter_map(|cell| median(&cell.samples))
        .collect();
    medians.sort_by(f64::total_cmp);
    let (Some(lowest), Some(highest)) = (medians.first(), medians.last()) else {
        return String::new();
    };
    let (lowest, highest) = (format!("{lowest:.1}"), format!("{highest:.1}"));
    if lowest == highest {
        format!("{lowest} {}", item.unit)
    } else {
        words.span(&lowest, &highest, &item.unit)
    }
}

fn value(
    (item, figures): (&Measurement, &[&Reviewed]),
    source: Option<u32>,
    destination: Option<u32>,
    language: Language,
) -> ValueCell {
    let mut cells = item.cells.iter().enumerate();
    let found = cells.find(|(_, cell)| cell.source == source && cell.destination == destination);
    let Some((place, cell)) = found else {
        return ValueCell::nothing();
    };
    let words = Words::of(language);
    let reviewed = figures.iter().find(|reviewed| reviewed.figure.cell == place);
    let (class, sign) = match reviewed.map(|reviewed| reviewed.standing()) {
        Some(Standing::Low) => ("cell-bad", "▽ "),
        Some(Standing::Watch) => ("cell-warn", "△ "),
        Some(Standing::Normal | Standing::NotCompared) | None => ("", ""),
    };
    match median(&cell.samples) {
        Some(median) => ValueCell {
            class,
            text: format!("{sign}{median:.1}"),
            title: words.samples(cell.samples.len() as u64),
        },
        None => ValueCell::missing(cell.gap.as_ref(), language),
    }
}

fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = samples
        .iter()
        .copied()
        .filter(|sample| sample.is_finite())
        .collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = sorted.get(middle).copied()?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = sorted.get(middle.checked_sub(1)?).copied()?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use kb_core::report;

    #[test]
    fn the_median_stands_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[f64::NAN]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    fn real() -> Report {
        let bytes = include_bytes!("../../../../../kb-core/tests/data/reports/h200-x2-bench.json");
        serde_json::from_slice(bytes).unwrap()
    }

    #[test]
    fn an_end_that_no_cell_has_makes_no_row() {
        let report = real();
        let of = |metric: &str| {
            let item = report.measurements.iter().find(|item| item.metric == metric);
            measurement(&report, (item.unwrap(), &[]), Language::English).unwrap()
        };
        let heads = |view: &MeasurementView| {
            let rows: Vec<String> = view.rows.iter().map(|row| row.label.clone()).collect();
            (rows.join("|"), view.columns.join("|"))
        };
        let both = "GPU 0|GPU 1".to_owned();
        assert_eq!(heads(&of("d2d_bandwidth")), (both.clone(), both.clone()));
        assert_eq!(heads(&of("h2d_bandwidth")), ("Host".to_owned(), both.clone()));
        assert_eq!(
            heads(&of("all_to_one_bandwidth")),
            ("All others".to_owned(), both)
        );
        assert_eq!(of("d2d_bandwidth").rows[1].cells[1], ValueCell::nothing());
    }

    #[test]
    fn the_span_is_of_the_medians() {
        let mut item = real().measurements[0].clone();
        let words = Words::of(Language::English);
        let cell = |samples: Vec<f64>| report::Cell::new(Some(0), Some(1), Ok(samples));
        item.cells = vec![cell(vec![1.0, 9.0, 2.0]), cell(vec![3.0])];
        assert_eq!(span(&item, words), "2.0 to 3.0 GB/s");
        item.cells.truncate(1);
        assert_eq!(span(&item, words), "2.0 GB/s");
        item.cells.clear();
        assert_eq!(span(&item, words), "");
    }
}

//! Measurements beside figures of their kind: what stands out, and what each measurement was held against.

use kb_core::baseline::{Against, Compared, Outlier, Reviewed, Standing, Subject, Unplaced};
use kb_core::report::{Measurement, Report};

use super::titles;
use crate::domain::baseline::Review;
use crate::render::i18n::{Language, baseline::Words, report};
use crate::render::words::{Mark, Tone};

/// What stands above all measurements.
#[derive(Debug, Clone)]
pub struct ComparedView {
    pub words: &'static Words,
    /// Whom they are held against.
    pub cohort: String,
    pub outliers: Vec<OutlierView>,
}

/// The node, a GPU or a pair that is apart from its like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlierView {
    pub subject: String,
    pub standing: Mark,
    /// Its tests, the worst first.
    pub tests: Vec<String>,
}

const SHOWN_TESTS: usize = 5;

/// `None` where nothing was measured.
pub(super) fn view(review: &Review, report: &Report, language: Language) -> Option<ComparedView> {
    if review.figures.is_empty() {
        return None;
    }
    let words = Words::of(language);
    let cohort = match &review.cohort {
        Ok(cohort) => words.cohort(
            &cohort.model,
            &cohort.driver_branch.to_string(),
            u64::from(review.peers),
        ),
        Err(why) => words.no_cohort(unplaced(*why, words)),
    };
    let outliers = review.outliers.iter();
    Some(ComparedView {
        words,
        cohort,
        outliers: outliers.map(|found| outlier(found, report, language)).collect(),
    })
}

fn unplaced(why: Unplaced, words: &Words) -> &'static str {
    match why {
        Unplaced::NoGpu => words.no_gpu,
        Unplaced::NoModel => words.no_model,
        Unplaced::SeveralModels => words.several_models,
        Unplaced::NoDriver => words.no_driver,
    }
}

fn outlier(outlier: &Outlier, report: &Report, language: Language) -> OutlierView {
    let words = Words::of(language);
    let subject = match outlier.subject {
        Subject::Node => words.node.to_owned(),
        Subject::Gpu { gpu } => words.gpu(&gpu.to_string()),
        Subject::Pair { a, b } => words.pair(&a.to_string(), &b.to_string()),
    };
    let tests = outlier.tests.iter().take(SHOWN_TESTS).filter_map(|test| {
        let measured = report.measurements.get(test.measurement)?;
        let title = titles::of(measured, report::Words::of(language));
        Some(words.test(&percent(test.difference), &title))
    });
    OutlierView {
        subject,
        standing: mark(outlier.standing, words),
        tests: tests.collect(),
    }
}

pub(super) fn mark(standing: Standing, words: &Words) -> Mark {
    let (tone, sign, label) = match standing {
        Standing::Low => (Tone::Bad, "▽", words.low),
        Standing::Watch => (Tone::Warn, "△", words.watch),
        Standing::Normal | Standing::NotCompared => (Tone::Good, "✓", words.normal),
    };
    Mark { tone, sign, label }
}

pub(super) fn of_measurement(review: &Review, number: usize) -> Vec<&Reviewed> {
    let figures = review.figures.iter();
    figures.filter(|item| item.figure.measurement == number).collect()
}

/// The tag of a measurement; none where all is normal or nothing was compared.
pub(super) fn tag(figures: &[&Reviewed], language: Language) -> Option<Mark> {
    let worst = figures.iter().map(|item| item.standing()).max()?;
    (worst >= Standing::Watch).then(|| mark(worst, Words::of(language)))
}

/// One line for each thing that a measurement was held against.
pub(super) fn lines(item: &Measurement, figures: &[&Reviewed], language: Language) -> Vec<String> {
    let words = Words::of(language);
    if figures.is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<String> = nominal(item, words).into_iter().collect();
    lines.push(line(figures, |item| &item.in_node, words, &IN_NODE));
    lines.push(line(figures, |item| &item.peers, words, &PEERS));
    lines.push(line(figures, |item| &item.own, words, &OWN));
    lines.push(line(figures, |item| &item.reference, words, &REFERENCE));
    if figures.iter().any(|item| item.figure.disturbed) {
        lines.push(words.disturbed.to_owned());
    }
    lines
}

/// The texts of one kind of comparison.
struct Texts {
    compared: fn(&Words, &str, &str, &Against) -> String,
    too_few: fn(&Words, u32, u32) -> String,
    none: fn(&Words) -> &'static str,
}

const PEERS: Texts = Texts {
    compared: |words, range, median, against| {
        words.peers(range, median, u64::from(against.values), u64::from(against.nodes))
    },
    too_few: |words, have, need| words.few_peers(&have.to_string(), &need.to_string()),
    none: |words| words.no_peers,
};

const IN_NODE: Texts = Texts {
    compared: |words, range, median, against| words.in_node(range, median, u64::from(against.values)),
    too_few: |words, have, need| words.few_in_node(&have.to_string(), &need.to_string()),
    none: |words| words.no_in_node,
};

const OWN: Texts = Texts {
    compared: |words, range, _, _| words.own(range),
    too_few: |words, _, _| words.no_own.to_owned(),
    none: |words| words.no_own,
};

const REFERENCE: Texts = Texts {
    compared: |words, range, median, against| words.reference(range, median, u64::from(against.nodes)),
    too_few: |words, _, _| words.no_reference.to_owned(),
    none: |words| words.no_reference,
};

fn line(
    figures: &[&Reviewed],
    which: impl Fn(&Reviewed) -> &Compared,
    words: &Words,
    texts: &Texts,
) -> String {
    let against: Vec<&Against> = figures
        .iter()
        .filter_map(|item| match which(item) {
            Compared::Against(against) => Some(against),
            Compared::TooFew { .. } | Compared::None => None,
        })
        .collect();
    let Some(largest) = against.iter().max_by_key(|against| against.values) else {
        let too_few = figures.iter().find_map(|item| match which(item) {
            Compared::TooFew { have, need } => Some((*have, *need)),
            Compared::Against(_) | Compared::None => None,
        });
        return match too_few {
            Some((have, need)) => (texts.too_few)(words, have, need),
            None => (texts.none)(words).to_owned(),
        };
    };
    let differences = range(against.iter().map(|against| against.difference), percent, words);
    let medians = range(against.iter().map(|against| against.median), amount, words);
    (texts.compared)(words, &differences, &medians, largest)
}

/// What share of the nominal bandwidth the cells reach.
fn nominal(item: &Measurement, words: &Words) -> Option<String> {
    let shares: Vec<(f64, f64)> = item
        .cells
        .iter()
        .filter_map(|cell| {
            let nominal = cell.nominal.as_ref()?.value.filter(|nominal| *nominal > 0.0)?;
            Some((cell.median()? / nominal, nominal))
        })
        .collect();
    if shares.is_empty() {
        return None;
    }
    let share = |share: f64| format!("{:.0} %", 100.0 * share);
    let reached = range(shares.iter().map(|(share, _)| *share), share, words);
    let of = range(shares.iter().map(|(_, nominal)| *nominal), amount, words);
    Some(words.nominal(&reached, &of))
}

/// The lowest and the highest, or the one where they read alike.
fn range(values: impl Iterator<Item = f64>, shown: impl Fn(f64) -> String, words: &Words) -> String {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let ends = values.first().zip(values.last());
    let Some((lowest, highest)) = ends.map(|(one, other)| (shown(*one), shown(*other))) else {
        return String::new();
    };
    if lowest == highest {
        lowest
    } else {
        words.range(&lowest, &highest)
    }
}

fn amount(value: f64) -> String {
    if value < 10.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.1}")
    }
}

/// `−3.0 %`, `+0.1 %`, `0.0 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent.abs() < 0.05 {
        return "0.0 %".to_owned();
    }
    let sign = if percent < 0.0 { "−" } else { "+" };
    format!("{sign}{:.1} %", percent.abs())
}

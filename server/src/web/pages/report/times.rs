//! Where a run's time went: its parts one after the other, and the measurements that took longest.

use kb_core::report::{Measurement, Report, Taken};

use super::titles;
use crate::render::i18n::report::Words;
use crate::render::words::{Row, seconds};

/// Parts that took a smaller share of the run are told together.
const LEAST_SHARE: f64 = 0.01;
const LONGEST: usize = 10;

/// What the report says of its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimesView {
    /// All parts together, and each in the order of the run.
    pub parts: String,
    /// Title, and time with rounds; the longest first.
    pub longest: Vec<Row>,
}

/// Nothing where the agent did not tell: format 1.3 and before.
pub(super) fn section(report: &Report, words: &Words) -> Option<TimesView> {
    let all: f64 = report.parts.iter().map(|part| part.seconds).sum();
    if !all.is_finite() || all <= 0.0 {
        return None;
    }
    let is_long = |seconds: f64| seconds / all >= LEAST_SHARE;
    let mut parts: Vec<String> = report
        .parts
        .iter()
        .filter(|part| is_long(part.seconds))
        .map(|part| format!("{} {}", part.name.replace('_', " "), seconds(part.seconds)))
        .collect();
    let short = report.parts.iter().filter(|part| !is_long(part.seconds));
    let rest: f64 = short.clone().map(|part| part.seconds).sum();
    if short.count() > 0 {
        parts.push(format!("{} {}", words.times_rest, seconds(rest)));
    }
    Some(TimesView {
        parts: words.times_all(&seconds(all), &parts.join(words.comma)),
        longest: longest(&report.measurements, words),
    })
}

/// What taking a measurement took, as a sentence behind others.
pub(super) fn taken(taken: Taken, words: &Words) -> String {
    words.taken_in(&rounds(taken, words), &seconds(taken.seconds))
}

fn rounds(taken: Taken, words: &Words) -> String {
    words.rounds(u64::from(taken.rounds))
}

fn longest(measurements: &[Measurement], words: &Words) -> Vec<Row> {
    let mut taken: Vec<(&Measurement, Taken)> = measurements
        .iter()
        .filter_map(|item| Some((item, item.taken?)))
        .collect();
    taken.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds));
    let row = |(item, taken): &(&Measurement, Taken)| {
        let time = words.times_in(&seconds(taken.seconds), &rounds(*taken, words));
        Row::new(titles::of(item, words), time)
    };
    taken.iter().take(LONGEST).map(row).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use crate::render::i18n::Language;
    use kb_core::report::Part;

    fn words() -> &'static Words {
        Words::of(Language::English)
    }

    fn report() -> Report {
        let bytes = include_bytes!("../../../../../kb-core/tests/data/reports/h200-x2-bench.json");
        serde_json::from_slice(bytes).unwrap()
    }

    #[test]
    fn short_parts_are_told_together() {
        let mut report = report();
        let part = |name: &str, seconds: f64| Part {
            name: name.to_owned(),
            seconds,
        };
        report.parts = vec![part("lock", 0.001), part("bench", 9.0), part("closing", 1.0)];
        let view = section(&report, words()).unwrap();
        assert_eq!(
            view.parts,
            "10.0 s in all: bench 9.0 s, closing 1.0 s, all else 1.0 ms."
        );
    }

    #[test]
    fn the_longest_come_first() {
        let mut report = report();
        report.parts = vec![Part {
            name: "bench".to_owned(),
            seconds: 1.0,
        }];
        for (item, seconds) in report.measurements.iter_mut().zip([0.25, 1.5, 0.5]) {
            item.taken = Some(Taken { rounds: 1, seconds });
        }
        for item in report.measurements.iter_mut().skip(3) {
            item.taken = None;
        }
        let view = section(&report, words()).unwrap();
        let times: Vec<&str> = view.longest.iter().map(|row| row.value.as_str()).collect();
        assert_eq!(
            times,
            ["1.5 s in 1 round", "500.0 ms in 1 round", "250.0 ms in 1 round"]
        );
    }

    #[test]
    fn a_report_without_times_has_no_section() {
        let mut report = report();
        report.parts.clear();
        assert_eq!(section(&report, words()), None);
    }
}

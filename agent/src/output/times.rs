//! What the time of a run with a bench went into: its parts, and the measurements that took longest.

use std::fmt::Write as _;

use kb_core::report::{Measurement, Report, Taken};

use super::bench::{size, title};

/// Parts that took less are not told.
const LEAST_SECONDS: f64 = 0.05;
const LONGEST: usize = 5;

/// Two lines; nothing where nothing was measured.
pub(super) fn of_run(report: &Report) -> String {
    let mut taken: Vec<(&Measurement, Taken)> = report
        .measurements
        .iter()
        .filter_map(|of| Some((of, of.taken?)))
        .collect();
    if taken.is_empty() {
        return String::new();
    }
    let all: f64 = report.parts.iter().map(|part| part.seconds).sum();
    let parts: Vec<String> = report
        .parts
        .iter()
        .filter(|part| part.seconds >= LEAST_SECONDS)
        .map(|part| format!("{} {:.1}", part.name.replace('_', " "), part.seconds))
        .collect();
    let mut text = format!("  took {all:.1} s: {}\n", parts.join(", "));
    taken.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds));
    let longest: Vec<String> = taken
        .iter()
        .take(LONGEST)
        .map(|(of, taken)| {
            let rounds = if taken.rounds == 1 { "round" } else { "rounds" };
            format!(
                "{} ({}) {:.1} s in {} {rounds}",
                title(of),
                size(of.bytes),
                taken.seconds,
                taken.rounds
            )
        })
        .collect();
    // Writing into a String does not fail.
    let _ = writeln!(text, "  longest: {}", longest.join("; "));
    text
}

//! The map of the directed pairs: how far up the ladder each came, in colours. Eight GPUs fit on a terminal of 80 columns.

use kb_core::report::{Check, Direction, Outcome, Report};
use kb_core::verdict::{Verdict, checked_rungs};

use super::Style;
use super::grid::{Cell, lay_out};

pub(super) fn of_pairs(report: &Report, style: Style) -> String {
    let mut head = vec![Cell::plain("")];
    let names = || report.gpus.iter().map(|gpu| gpu.cuda_ordinal.to_string());
    head.extend(names().map(Cell::plain));
    let mut rows = vec![head];
    for (row, name) in (0_u32..).zip(names()) {
        let mut cells = vec![Cell::plain(name)];
        let columns = (0_u32..).zip(&report.gpus);
        cells.extend(columns.map(|(column, _)| cell(report, row, column)));
        rows.push(cells);
    }
    let is_numbered = |cell: &Cell| cell.text().contains(|character: char| character.is_ascii_digit());
    // The first row and column number the GPUs.
    let has_numbers = rows
        .iter()
        .skip(1)
        .flat_map(|row| row.iter().skip(1))
        .any(is_numbered);
    let numbers = if has_numbers { legend() } else { String::new() };
    format!(
        "  each row's GPU accessing each column's memory: ok, or the first check that did not pass\n{numbers}{}",
        lay_out(&rows, style)
    )
}

fn legend() -> String {
    let checks: Vec<String> = checked_rungs()
        .map(|(number, name)| format!("{number} {name}"))
        .collect();
    format!("  checks: {}\n", checks.join(", "))
}

fn cell(report: &Report, initiator: u32, owner: u32) -> Cell {
    let mut directions = report.pairs.iter().flat_map(|pair| {
        let verdict = pair.verdict.verdict;
        pair.directions.iter().map(move |direction| (direction, verdict))
    });
    let found =
        directions.find(|(direction, _)| direction.initiator == initiator && direction.owner == owner);
    found.map_or_else(
        || Cell::plain("-"),
        |(direction, verdict)| of_direction(direction, verdict),
    )
}

/// `ok`, or the first thing that was not. What every check of this direction passed may still be broken (by the other
/// direction, the kernel log or counters), degraded or unknown as a pair: that shows as the colour.
fn of_direction(direction: &Direction, verdict: Verdict) -> Cell {
    if direction.can_access_peer.value == Some(false) {
        return Cell::coloured("refused", Verdict::Refused);
    }
    let notable = |check: &&Check| !matches!(check.outcome, Outcome::Pass | Outcome::Skipped);
    if let Some(check) = direction.checks.iter().find(notable) {
        let (word, verdict) = match check.outcome {
            Outcome::Fail => ("fails", Verdict::Broken),
            Outcome::Hang => ("hangs", Verdict::Broken),
            Outcome::PassAlone => ("alone", Verdict::Degraded),
            _ => ("?", Verdict::Unknown),
        };
        return Cell::coloured(format!("{} {word}", check.rung), verdict);
    }
    match (verdict, highest(direction)) {
        (Verdict::Unknown, Some(rung)) => Cell::coloured(format!("to {rung}"), Verdict::Unknown),
        (Verdict::Unknown, None) => Cell::coloured("?", Verdict::Unknown),
        (verdict, _) => Cell::coloured("ok", verdict),
    }
}

fn highest(direction: &Direction) -> Option<u8> {
    let passed = direction
        .checks
        .iter()
        .filter(|check| check.outcome == Outcome::Pass);
    passed.map(|check| check.rung).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pair can be broken by what the kernel logged, with every check passed.
    #[test]
    fn what_passed_has_the_colour_of_its_pair() {
        let sample = include_str!("../../../kb-core/tests/data/reports/h200-x2-healthy.json");
        let mut report: Report = serde_json::from_str(sample).unwrap();
        for (verdict, cell) in [
            (Verdict::Healthy, "\x1b[32mok\x1b[0m"),
            (Verdict::Degraded, "\x1b[33mok\x1b[0m"),
            (Verdict::Broken, "\x1b[31mok\x1b[0m"),
        ] {
            report.pairs[0].verdict.verdict = verdict;
            let map = of_pairs(&report, Style::Coloured);
            assert_eq!(map.matches(cell).count(), 2, "{map}");
        }
    }
}

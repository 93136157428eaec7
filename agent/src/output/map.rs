//! The map of the directed pairs: how far up the ladder each came, in colours. Cells are short enough that eight GPUs
//! fit on a terminal of 80 columns.

use kb_core::report::{Check, Direction, Outcome, Report};
use kb_core::verdict::Verdict;

use super::Style;
use super::grid::{Cell, lay_out};

/// Rows access columns.
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
    format!(
        "  each row's GPU accessing each column's memory: ok, or the first rung that did not pass\n{}",
        lay_out(&rows, style)
    )
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

/// `ok`, or the first thing that was not. What every check of this direction passed may still be degraded or unknown
/// as a pair: that shows as the colour.
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
        (Verdict::Degraded, _) => Cell::coloured("ok", Verdict::Degraded),
        _ => Cell::coloured("ok", Verdict::Healthy),
    }
}

/// The last rung of which something passed.
fn highest(direction: &Direction) -> Option<u8> {
    let passed = direction
        .checks
        .iter()
        .filter(|check| check.outcome == Outcome::Pass);
    passed.map(|check| check.rung).max()
}

//! The load on a terminal: one row for each GPU.

use std::fmt::Write as _;

use kb_core::report::{Load, LoadOfGpu, Spread};

use super::Style;
use super::grid::{Cell, lay_out};

/// Column heads with the figures behind them.
const COLUMNS: [(&str, &str); 7] = [
    ("Tflop/s", Load::FMA_RATE),
    ("from host GB/s", Load::FROM_HOST),
    ("to host GB/s", Load::TO_HOST),
    ("to GPU GB/s", Load::TO_PEER),
    ("SM MHz", "clock.sm_mhz"),
    ("C", "temperature.gpu_c"),
    ("W", "power.draw_w"),
];

pub(super) fn of_load(load: &Load, style: Style) -> String {
    let mut text = String::new();
    // Writing into a String does not fail.
    let _ = writeln!(
        text,
        "\n{:.0} s of load in {} steps; lowest to highest",
        load.seconds, load.steps
    );
    let heads = COLUMNS.iter().map(|(head, _)| Cell::plain(*head));
    let heads = std::iter::once(Cell::plain("GPU")).chain(heads);
    let heads: Vec<Cell> = heads
        .chain([Cell::plain("checks"), Cell::plain("wrong")])
        .collect();
    let rows = load.gpus.iter().map(row);
    text.push_str(&lay_out(
        &std::iter::once(heads).chain(rows).collect::<Vec<_>>(),
        style,
    ));
    for found in &load.findings {
        let _ = writeln!(text, "\n  {}: {}\n    {}", found.cause, found.reason, found.fix);
    }
    if let (None, Some(gap)) = (&load.earlier.value, &load.earlier.gap) {
        let _ = writeln!(text, "\n  {}", gap.reason);
    }
    text
}

fn row(of: &LoadOfGpu) -> Vec<Cell> {
    let figure = |name: &str| Cell::plain(of.figures.get(name).map_or_else(|| "-".to_owned(), range));
    let figures = COLUMNS.iter().map(|(_, name)| figure(name));
    let wrong = of.wrong_checksums + of.wrong_copies;
    std::iter::once(Cell::plain(of.gpu.to_string()))
        .chain(figures)
        .chain([Cell::plain(of.checks.to_string()), Cell::plain(wrong.to_string())])
        .collect()
}

fn range(spread: &Spread) -> String {
    format!("{:.1} - {:.1}", spread.minimum, spread.maximum)
}

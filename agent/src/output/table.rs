//! The terminal's view of a report.

use std::fmt::Write as _;

use kb_core::report::{Direction, Fact, Gpu, Outcome, Pair, Report};
use kb_core::verdict::Verdict;

use super::Style;
use super::grid::{Cell, lay_out};

const GIB: u64 = 1 << 30;

/// Verdict, GPUs, matrix of the directed pairs, one paragraph a pair, what went wrong with the run.
pub(crate) fn table(report: &Report, style: Style) -> String {
    let conclusion = &report.conclusion;
    let word = style.verdict(conclusion.verdict, conclusion.verdict.word());
    let mut text = format!("{word}: {}\n", conclusion.reason);
    if report.simulated {
        text.push_str("simulated: a stand-in took the place of the driver\n");
    }
    if !report.gpus.is_empty() {
        text.push('\n');
        text.push_str(&gpus(&report.gpus, style));
    }
    if !report.pairs.is_empty() {
        text.push_str("\n  each row's GPU accessing each column's memory\n");
        text.push_str(&matrix(report, style));
        text.push('\n');
        text.push_str(&pairs(&report.pairs, style));
    }
    for failure in report.failures.iter().skip(usize::from(report.pairs.is_empty())) {
        let _ = writeln!(text, "\n  {}: {}", failure.step, failure.message);
    }
    text
}

/// The value, or `?` where there is none.
fn shown<T: ToString>(fact: &Fact<T>) -> String {
    fact.value.as_ref().map_or_else(|| "?".to_owned(), T::to_string)
}

fn gpus(gpus: &[Gpu], style: Style) -> String {
    let heads = [
        "GPU",
        "model",
        "PCI address",
        "NVML",
        "memory",
        "capability",
        "NVLinks",
    ];
    let mut rows = vec![heads.map(Cell::plain).into_iter().collect::<Vec<Cell>>()];
    for gpu in gpus {
        let memory = match gpu.memory_bytes.value {
            Some(bytes) => format!("{} GiB", bytes / GIB),
            None => "?".to_owned(),
        };
        rows.push(vec![
            Cell::plain(gpu.cuda_ordinal.to_string()),
            Cell::plain(shown(&gpu.name)),
            Cell::plain(shown(&gpu.pci_address)),
            Cell::plain(shown(&gpu.nvml_index)),
            Cell::plain(memory),
            Cell::plain(shown(&gpu.compute_capability)),
            Cell::plain(links(gpu)),
        ]);
    }
    lay_out(&rows, style)
}

/// `18 of 18`, `none`, or `?`.
fn links(gpu: &Gpu) -> String {
    let count = |name: &str| {
        let fact = gpu.facts.get(name)?;
        fact.value.as_ref()?.as_u64()
    };
    match (count("nvlink.links_active"), count("nvlink.links")) {
        (Some(_), Some(0)) => "none".to_owned(),
        (Some(active), Some(total)) => format!("{active} of {total}"),
        _ => "?".to_owned(),
    }
}

fn matrix(report: &Report, style: Style) -> String {
    let mut head = vec![Cell::plain("")];
    head.extend(
        report
            .gpus
            .iter()
            .map(|gpu| Cell::plain(gpu.cuda_ordinal.to_string())),
    );
    let mut rows = vec![head];
    let indices: Vec<u32> = (0_u32..).zip(&report.gpus).map(|(index, _)| index).collect();
    for (row, gpu) in indices.iter().zip(&report.gpus) {
        let mut cells = vec![Cell::plain(gpu.cuda_ordinal.to_string())];
        cells.extend(indices.iter().map(|column| matrix_cell(report, *row, *column)));
        rows.push(cells);
    }
    lay_out(&rows, style)
}

fn matrix_cell(report: &Report, initiator: u32, owner: u32) -> Cell {
    let mut directions = report.pairs.iter().flat_map(|pair| &pair.directions);
    let found = directions.find(|direction| direction.initiator == initiator && direction.owner == owner);
    found.map_or_else(|| Cell::plain("-"), direction_cell)
}

/// `ok`, or the first thing that was not.
fn direction_cell(direction: &Direction) -> Cell {
    if direction.can_access_peer.value == Some(false) {
        return Cell::coloured("refused", Verdict::Refused);
    }
    let notable = |outcome: Outcome| !matches!(outcome, Outcome::Pass | Outcome::Skipped);
    if let Some(check) = direction.checks.iter().find(|check| notable(check.outcome)) {
        let (word, verdict) = match check.outcome {
            Outcome::Fail => ("fails", Verdict::Broken),
            Outcome::Hang => ("hangs", Verdict::Broken),
            Outcome::PassAlone => ("only alone", Verdict::Degraded),
            _ => ("not told", Verdict::Unknown),
        };
        return Cell::coloured(format!("{} {word}", check.name), verdict);
    }
    if direction
        .checks
        .iter()
        .any(|check| check.outcome == Outcome::Skipped)
    {
        return Cell::coloured("not proven", Verdict::Unknown);
    }
    Cell::coloured("ok", Verdict::Healthy)
}

fn pairs(pairs: &[Pair], style: Style) -> String {
    let mut text = String::new();
    for pair in pairs {
        let judged = &pair.verdict;
        let word = style.verdict(judged.verdict, judged.verdict.word());
        let cause = judged
            .cause
            .as_ref()
            .map(|cause| format!(" ({cause})"))
            .unwrap_or_default();
        // Writing into a String does not fail.
        let _ = writeln!(
            text,
            "  GPU {} and GPU {}, {}, {}: {word}{cause}\n    {}",
            pair.a,
            pair.b,
            joined_by(pair),
            shown(&pair.common_ancestor),
            judged.reason
        );
        if let Some(record) = &judged.record {
            let _ = writeln!(text, "    record {record}");
        }
    }
    text
}

/// `18 NVLinks through NVSwitch`, `no NVLink`, `NVLinks not told`.
fn joined_by(pair: &Pair) -> String {
    match (pair.nvlinks.value, pair.nvswitch.value) {
        (Some(0), _) => "no NVLink".to_owned(),
        (Some(1), Some(true)) => "1 NVLink through NVSwitch".to_owned(),
        (Some(links), Some(true)) => format!("{links} NVLinks through NVSwitch"),
        (Some(1), _) => "1 NVLink".to_owned(),
        (Some(links), _) => format!("{links} NVLinks"),
        (None, _) => "NVLinks not told".to_owned(),
    }
}

//! The terminal's view of a report that was made from another tool's output: its figures, as matrices. The agent has
//! checked nothing, so nothing is said to be proven or broken.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use kb_core::report::{Cell, Measurement, Pair, Report, fact_name};

use super::Style;
use super::bench::{size, title};
use super::grid::{Cell as Shown, lay_out};

/// The tools that a report was made from; `None` where the agent made it.
pub(super) fn tools(report: &Report) -> Option<String> {
    let tools = report
        .host
        .get(fact_name::CONVERT_TOOLS)?
        .value
        .as_ref()?
        .as_array()?;
    let tools: Vec<&str> = tools.iter().filter_map(serde_json::Value::as_str).collect();
    Some(tools.join(", "))
}

/// True where the output says what the driver grants, as `nvidia-smi topo -p2p` does: the map of pairs then shows it.
pub(super) fn tells_of_access(report: &Report) -> bool {
    let mut directions = report.pairs.iter().flat_map(|pair| &pair.directions);
    directions.any(|direction| direction.can_access_peer.value.is_some() || !direction.checks.is_empty())
}

/// What joins the GPUs, as `nvidia-smi topo -m` prints it; nothing where no tool told it.
pub(super) fn links(report: &Report, style: Style) -> String {
    if report.pairs.iter().all(|pair| joined_by(pair).is_none()) {
        return String::new();
    }
    let gpus = (0_u32..).take(report.gpus.len());
    let mut rows = vec![
        std::iter::once(Shown::plain(""))
            .chain(gpus.clone().map(|gpu| Shown::plain(gpu.to_string())))
            .collect(),
    ];
    rows.extend(gpus.clone().map(|row| {
        let cells = gpus.clone().map(|column| {
            let (a, b) = (row.min(column), row.max(column));
            let pair = report.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b));
            let text = pair.map_or_else(
                || "-".to_owned(),
                |pair| joined_by(pair).unwrap_or("?".to_owned()),
            );
            Shown::plain(text)
        });
        std::iter::once(Shown::plain(row.to_string()))
            .chain(cells)
            .collect()
    }));
    format!("\n  what joins each two GPUs\n{}", lay_out(&rows, style))
}

/// `NV18`, `PIX`.
fn joined_by(pair: &Pair) -> Option<String> {
    match pair.nvlinks.value {
        Some(links @ 1..) => Some(format!("NV{links}")),
        _ => pair.common_ancestor.value.clone(),
    }
}

pub(super) fn matrices(report: &Report, style: Style) -> String {
    let mut text = String::new();
    for measurement in report.measurements.iter().filter(|of| !of.cells.is_empty()) {
        // Writing into a String does not fail.
        let _ = write!(
            text,
            "\n  {}, {}, {}",
            title(measurement),
            size(measurement.bytes),
            measurement.unit
        );
        if is_matrix(measurement) {
            text.push_str(": from each row's GPU to each column's\n");
            text.push_str(&lay_out(&rows(measurement), style));
        } else {
            let figures: Vec<String> = measurement.cells.iter().map(one_ended).collect();
            let _ = writeln!(text, ": {}", figures.join(", "));
        }
    }
    text
}

fn is_matrix(measurement: &Measurement) -> bool {
    let mut cells = measurement.cells.iter();
    cells.any(|cell| cell.source.is_some() && cell.destination.is_some() && cell.source != cell.destination)
}

fn rows(measurement: &Measurement) -> Vec<Vec<Shown>> {
    let ends = |end: fn(&Cell) -> Option<u32>| -> BTreeSet<u32> {
        measurement.cells.iter().filter_map(end).collect()
    };
    let (sources, destinations) = (ends(|cell| cell.source), ends(|cell| cell.destination));
    let mut rows = vec![vec![Shown::plain("")]];
    if let Some(head) = rows.first_mut() {
        head.extend(destinations.iter().map(|gpu| Shown::plain(gpu.to_string())));
    }
    for source in sources {
        let mut row = vec![Shown::plain(source.to_string())];
        row.extend(destinations.iter().map(|destination| {
            let mut cells = measurement.cells.iter();
            let cell =
                cells.find(|cell| (cell.source, cell.destination) == (Some(source), Some(*destination)));
            Shown::plain(cell.map_or_else(|| "-".to_owned(), figure))
        }));
        rows.push(row);
    }
    rows
}

fn figure(cell: &Cell) -> String {
    cell.median()
        .map_or_else(|| "?".to_owned(), |median| format!("{median:.1}"))
}

fn one_ended(cell: &Cell) -> String {
    let figure = figure(cell);
    match (cell.source, cell.destination) {
        (Some(gpu), None) => format!("from GPU {gpu} {figure}"),
        (None, Some(gpu)) => format!("to GPU {gpu} {figure}"),
        (Some(gpu), Some(_)) => format!("GPU {gpu} {figure}"),
        (None, None) => figure,
    }
}

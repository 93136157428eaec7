//! The terminal's view of measurements: one line each, with the median of all its cells and the worst one.

use kb_core::report::{Cell, Engine, Measurement, Operation, Report};

use super::Style;
use super::grid::{Cell as Shown, lay_out};

/// Measurements smaller than the largest copy of the same kind are a sweep and are told by their size.
const MIB: u64 = 1 << 20;

/// One line for each measurement; nothing where there is none.
pub(super) fn of_measurements(report: &Report, style: Style) -> String {
    if !report.measurements.iter().any(is_of_bench) {
        return String::new();
    }
    let heads = [
        "measured",
        "size",
        "median",
        "lowest",
        "highest",
        "variation",
        "of nominal",
    ];
    let mut rows = vec![heads.map(Shown::plain).into_iter().collect::<Vec<Shown>>()];
    rows.extend(
        report
            .measurements
            .iter()
            .filter(|of| is_shown(of, report))
            .map(row),
    );
    lay_out(&rows, style)
}

/// The ladder's quick timings are no bench and are never shown as one: they say nothing of nominal.
fn is_of_bench(measurement: &Measurement) -> bool {
    let mut cells = measurement.cells.iter();
    measurement.engine == Engine::Nccl
        || cells.any(|cell| cell.nominal.is_some() || !cell.conditions.is_empty())
}

/// Of a collective the bus bandwidth at its largest size: its sizes alone would fill a screen.
fn is_shown(measurement: &Measurement, report: &Report) -> bool {
    if measurement.engine != Engine::Nccl {
        return true;
    }
    let same = report
        .measurements
        .iter()
        .filter(|of| of.metric == measurement.metric);
    let largest = same.map(|of| of.bytes).max();
    measurement.metric.ends_with("_bus_bandwidth") && largest == Some(measurement.bytes)
}

fn row(measurement: &Measurement) -> Vec<Shown> {
    let mut figures: Vec<(f64, &Cell)> = measurement
        .cells
        .iter()
        .filter_map(|cell| Some((cell.median()?, cell)))
        .collect();
    figures.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut texts = vec![title(measurement), size(measurement.bytes)];
    let middle = figures.get(figures.len() / 2).map(|(figure, _)| *figure);
    let (Some(middle), Some(lowest), Some(highest)) = (middle, figures.first(), figures.last()) else {
        let gap = measurement.cells.iter().find_map(|cell| cell.gap.as_ref());
        texts.push(gap.map_or_else(|| "none".to_owned(), |gap| format!("none: {}", gap.reason)));
        return texts.into_iter().map(Shown::plain).collect();
    };
    texts.push(format!("{middle:.1} {}", measurement.unit));
    texts.extend([lowest, highest].map(|(figure, cell)| format!("{figure:.1} ({})", ends(cell))));
    let variations = figures.iter().filter_map(|(_, cell)| cell.variation());
    let widest = variations.reduce(f64::max);
    texts.push(widest.map_or_else(|| "?".to_owned(), |share| format!("{:.2} %", 100.0 * share)));
    let shares = figures.iter().filter_map(|(figure, cell)| {
        let nominal = cell.nominal.as_ref()?.value?;
        Some(100.0 * figure / nominal)
    });
    if let Some(share) = shares.reduce(f64::min) {
        texts.push(format!("{share:.0} %"));
    }
    texts.into_iter().map(Shown::plain).collect()
}

pub(super) fn title(measurement: &Measurement) -> String {
    let what = match measurement.metric.as_str() {
        "d2d_bandwidth" => "GPU to GPU".to_owned(),
        "d2d_bandwidth_both_ways" => "GPU to GPU, both ways".to_owned(),
        metric if measurement.engine == Engine::Nccl => {
            let name = metric
                .trim_start_matches("nccl_")
                .trim_end_matches("_bus_bandwidth");
            format!("NCCL {name}, bus")
        }
        metric => metric.replace("_bandwidth", "").replace('_', " "),
    };
    let mut words = vec![what];
    match measurement.engine {
        Engine::Ce => words.push("copy engine".to_owned()),
        Engine::Sm => words.push("kernel".to_owned()),
        _ => {}
    }
    match measurement.operation {
        Operation::Push => words.push("push".to_owned()),
        Operation::Pull => words.push("pull".to_owned()),
        _ => {}
    }
    if measurement.peer_access == Some(false) {
        words.push("through the host".to_owned());
    }
    words.join(", ")
}

pub(super) fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= MIB => format!("{} MiB", bytes / MIB),
        bytes if bytes >= 1024 => format!("{} KiB", bytes / 1024),
        bytes => format!("{bytes} B"),
    }
}

/// `0 to 1`, `to 1`, `from 0`.
fn ends(cell: &Cell) -> String {
    match (cell.source, cell.destination) {
        // A figure of all GPUs together.
        (Some(source), Some(destination)) if source == destination => "all".to_owned(),
        (Some(source), Some(destination)) => format!("{source} to {destination}"),
        (Some(source), None) => format!("from {source}"),
        (None, Some(destination)) => format!("to {destination}"),
        (None, None) => "all".to_owned(),
    }
}

//! What a report measured, one figure a cell, each with the series that it belongs to.

use serde::{Deserialize, Serialize};

use super::link::{LinkClass, class_of_all, class_of_node, gpu, host_class, link_class};
use crate::report::{Cell, Engine, GpuIndex, Measurement, Report, fact_name};

/// Figures that may be held against each other within one cohort.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Series {
    /// What the bytes go over.
    pub link: LinkClass,
    /// What was done, by what engine, issued from which end, with peer access or staged: `d2d_bandwidth.ce.push.p2p`.
    pub test: String,
    /// Size of one transfer in bytes.
    pub bytes: u64,
    /// GPUs of the node, where all of them take part at once; else 0.
    pub gpus: u32,
    /// `GB/s`, `us` or `ns`.
    pub unit: String,
}

impl Series {
    /// One word for each series, the same for ever: it stands in stored summaries.
    pub fn key(&self) -> String {
        format!(
            "{}/{}/{}/{}/{}",
            self.link.key(),
            self.test,
            self.bytes,
            self.gpus,
            self.unit
        )
    }

    /// Whether a higher value is the better one.
    pub fn higher_is_better(&self) -> bool {
        self.unit == "GB/s"
    }
}

/// One measured cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Position in [`Report::measurements`].
    pub measurement: usize,
    /// Position in the measurement's cells.
    pub cell: usize,
    /// Where the bytes come from; absent for host memory and for all other GPUs.
    pub source: Option<GpuIndex>,
    /// Where they go.
    pub destination: Option<GpuIndex>,
    /// Median of the samples.
    pub value: f64,
    /// How many samples there are.
    pub samples: usize,
    /// What it may be held against.
    pub series: Series,
    /// A GPU of it was used by somebody else during the run: it is shown, and nobody is measured by it.
    pub disturbed: bool,
}

/// `d2d_bandwidth.ce.push.p2p`: what, by what engine, issued from which end, and whether peer access was on.
pub fn test_name(measurement: &Measurement) -> String {
    let peer_access = match measurement.peer_access {
        Some(true) => "p2p",
        Some(false) => "staged",
        None => "unsaid",
    };
    let engine = word(measurement.engine);
    let operation = word(measurement.operation);
    format!("{}.{engine}.{operation}.{peer_access}", measurement.metric)
}

/// The word that an enum has on the wire.
fn word(value: impl Serialize) -> String {
    let json = serde_json::to_value(value).ok();
    json.and_then(|json| json.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// Every cell that has a figure, in the report's order.
pub fn figures(report: &Report) -> Vec<Figure> {
    let mut found = Vec::new();
    for (number, measurement) in report.measurements.iter().enumerate() {
        let test = test_name(measurement);
        for (place, cell) in measurement.cells.iter().enumerate() {
            let Some(value) = cell.median() else { continue };
            let (link, gpus) = place_of(report, measurement, cell);
            let ends = [cell.source, cell.destination];
            found.push(Figure {
                measurement: number,
                cell: place,
                source: cell.source,
                destination: cell.destination,
                value,
                samples: cell.samples.len(),
                series: Series {
                    link,
                    test: test.clone(),
                    bytes: measurement.bytes,
                    gpus,
                    unit: measurement.unit.clone(),
                },
                disturbed: ends.into_iter().flatten().any(|index| is_shared(report, index)),
            });
        }
    }
    found
}

/// The link class of a cell, and how many GPUs take part where all do.
fn place_of(report: &Report, measurement: &Measurement, cell: &Cell) -> (LinkClass, u32) {
    let metric = measurement.metric.as_str();
    let all = u32::try_from(report.gpus.len()).unwrap_or(u32::MAX);
    if measurement.engine == Engine::Nccl || metric.starts_with("nccl_") {
        return (class_of_node(report), all);
    }
    let at_once = ["all_to_one", "one_to_all", "all_to_all"];
    let fans = at_once.iter().any(|fan| metric.starts_with(fan));
    let together = fans
        || ["_all_gpus", "_all_at_once", "_beside_others"]
            .iter()
            .any(|part| metric.contains(part));
    let gpus = if together { all } else { 0 };
    let staged = measurement.peer_access == Some(false);
    let link = match (cell.source, cell.destination) {
        (Some(from), Some(to)) => link_class(report, from, to, staged),
        (Some(gpu), None) | (None, Some(gpu)) if fans => class_of_all(report, gpu),
        (Some(gpu), None) | (None, Some(gpu)) => host_class(report, gpu),
        (None, None) => LinkClass::Unknown,
    };
    (link, gpus)
}

fn is_shared(report: &Report, index: GpuIndex) -> bool {
    let fact = gpu(report, index).and_then(|gpu| gpu.facts.get(fact_name::SHARED));
    fact.and_then(|fact| fact.value.as_ref())
        .and_then(serde_json::Value::as_bool)
        == Some(true)
}

//! What the links that should join two ends carry by their data sheets: the measure for bandwidths.

use serde_json::Value;

use crate::report::{Fact, GapKind, Gpu, GpuIndex, Measurement, Pair, Report, fact_name};

/// What is left of an NVLink's rate as NVML states it: 26.562 GB/s and 53.125 GB/s stand for the 25 and 50 GB/s of the
/// data sheets of NVLink 4 and 5 (`nvidia-smi nvlink -s` on H200 and B200).
const NVLINK_PAYLOAD: f64 = 0.9412;

/// GB/s of one PCIe lane one way, generations 1 to 6, after coding (PCI Express base specification: 2.5 and 5 GT/s with
/// 8b/10b, 8 to 32 with 128b/130b, 64 in flits of 242 of 256 bytes).
const PCIE_LANE: [f64; 6] = [0.25, 0.5, 0.985, 1.969, 3.938, 7.563];

/// Says in each cell of a bandwidth what is nominal there, or why that is unknown; not for several GPUs or latencies.
pub fn add_nominal(report: &mut Report) {
    let nominal = |measurement: &Measurement, source: Option<GpuIndex>, destination: Option<GpuIndex>| {
        if measurement.unit != "GB/s" {
            return None;
        }
        let of_host = measurement.metric.starts_with("h2d") || measurement.metric.starts_with("d2h");
        match (source, destination) {
            (Some(from), Some(to)) if measurement.peer_access == Some(true) => {
                Some(nominal_between(report, from, to))
            }
            (Some(gpu), None) | (None, Some(gpu)) if of_host => Some(nominal_with_host(report, gpu)),
            _ => None,
        }
    };
    let found: Vec<Vec<Option<Fact<f64>>>> = report
        .measurements
        .iter()
        .map(|measurement| {
            let cells = measurement.cells.iter();
            cells
                .map(|cell| nominal(measurement, cell.source, cell.destination))
                .collect()
        })
        .collect();
    for (measurement, found) in report.measurements.iter_mut().zip(found) {
        for (cell, nominal) in measurement.cells.iter_mut().zip(found) {
            cell.nominal = nominal;
        }
    }
}

/// GB/s one way between two GPUs: NVLinks where there are any or should be, else PCIe.
pub fn nominal_between(report: &Report, from: GpuIndex, to: GpuIndex) -> Fact<f64> {
    let (a, b) = (from.min(to), from.max(to));
    let pair = report.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b));
    match pair.and_then(|pair| links(report, pair)) {
        Some((links, source)) => match rate(report, &[from, to]) {
            Some(rate) => Fact::read(
                f64::from(links) * rate * NVLINK_PAYLOAD,
                format!("{source}; nvlink.speed_mb_s less coding"),
            ),
            None => Fact::missing(
                GapKind::NotVisible,
                "the rate of a link is not known",
                fact_name::NVLINK_SPEED_MB_S,
            ),
        },
        None => pcie(report, &[from, to]),
    }
}

/// GB/s one way between a GPU and the host.
pub fn nominal_with_host(report: &Report, gpu: GpuIndex) -> Fact<f64> {
    pcie(report, &[gpu])
}

/// The links that should join the two, and how that is known. At a switch it is the end that has fewer; between two
/// GPUs the most that any pair of the same models has.
fn links(report: &Report, pair: &Pair) -> Option<(u32, &'static str)> {
    if pair.nvswitch.value == Some(true) {
        let expected = |index| {
            let gpu = gpu(report, index)?;
            let links = number(gpu, fact_name::NVLINK_LINKS_EXPECTED)
                .or_else(|| number(gpu, fact_name::NVLINK_LINKS_ACTIVE));
            links.and_then(|links| u32::try_from(links).ok())
        };
        let fewer = expected(pair.a)?.min(expected(pair.b)?);
        return Some((fewer, "nvlink.links_expected of the end that has fewer"));
    }
    let model = |index| gpu(report, index)?.name.value.as_deref();
    let models = |pair: &Pair| {
        let (a, b) = (model(pair.a), model(pair.b));
        (a.min(b), a.max(b))
    };
    let own = pair.nvlinks.value.filter(|links| *links > 0)?;
    let alike = report.pairs.iter().filter(|other| models(other) == models(pair));
    let most = alike.filter_map(|other| other.nvlinks.value).max();
    Some((most.unwrap_or(own), "nvlinks of the pairs of the same models"))
}

/// GB/s of one link as NVML states it, of the slower end.
fn rate(report: &Report, gpus: &[GpuIndex]) -> Option<f64> {
    let rates = gpus
        .iter()
        .map(|index| number(gpu(report, *index)?, fact_name::NVLINK_SPEED_MB_S));
    let slower = rates.collect::<Option<Vec<u64>>>()?.into_iter().min()?;
    u32::try_from(slower).ok().map(|rate| f64::from(rate) / 1e3)
}

/// One way over PCIe, by what GPU and slot can do together, of the slowest.
fn pcie(report: &Report, gpus: &[GpuIndex]) -> Fact<f64> {
    const SOURCE: &str = "pcie.link_generation_max, pcie.link_width_max of the slower end";
    let of = |index: &GpuIndex| {
        let gpu = gpu(report, *index)?;
        let generation = usize::try_from(number(gpu, fact_name::PCIE_LINK_GENERATION_MAX)?).ok()?;
        let lane = PCIE_LANE.get(generation.checked_sub(1)?)?;
        let width = u32::try_from(number(gpu, fact_name::PCIE_LINK_WIDTH_MAX)?).ok()?;
        Some(lane * f64::from(width))
    };
    match gpus.iter().map(of).collect::<Option<Vec<f64>>>() {
        Some(rates) => Fact::read(rates.into_iter().fold(f64::INFINITY, f64::min), SOURCE),
        None => Fact::missing(GapKind::NotVisible, "the PCIe link of a GPU is not known", SOURCE),
    }
}

fn gpu(report: &Report, index: GpuIndex) -> Option<&Gpu> {
    report.gpus.get(usize::try_from(index).ok()?)
}

fn number(gpu: &Gpu, name: &str) -> Option<u64> {
    gpu.facts.get(name)?.value.as_ref().and_then(Value::as_u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Cell, Engine, Operation};
    use crate::verdict::tests::{gpu_fact, healthy};

    fn with_cell(report: &mut Report, metric: &str, source: Option<u32>, destination: Option<u32>) {
        report.measurements.push(Measurement {
            metric: metric.to_owned(),
            unit: "GB/s".to_owned(),
            engine: Engine::Ce,
            operation: Operation::Push,
            bytes: 1 << 28,
            peer_access: source.and(destination).map(|_| true),
            at_once: None,
            taken: None,
            cells: vec![Cell::new(source, destination, Ok(vec![1.0; 3]))],
        });
    }

    /// The nominal figure of the only cell.
    fn nominal(mut report: Report, metric: &str, source: Option<u32>, destination: Option<u32>) -> Fact<f64> {
        with_cell(&mut report, metric, source, destination);
        add_nominal(&mut report);
        report.measurements[0].cells[0].nominal.clone().unwrap()
    }

    fn on_switch() -> Report {
        let mut report = healthy(2);
        for gpu in 0..2 {
            gpu_fact(&mut report, gpu, "nvlink.links_expected", 18);
            gpu_fact(&mut report, gpu, "nvlink.speed_mb_s", 26_562);
            gpu_fact(&mut report, gpu, "pcie.link_generation_max", 5);
            gpu_fact(&mut report, gpu, "pcie.link_width_max", 16);
        }
        report.pairs[0].nvswitch = Fact::read(true, "test");
        report.pairs[0].nvlinks = Fact::read(18, "test");
        report
    }

    #[track_caller]
    fn close(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found / expected - 1.0).abs() < 1e-3, "{found}, not {expected}");
    }

    #[test]
    fn on_a_switch_the_smaller_end_decides() {
        let mut report = on_switch();
        close(
            nominal(report.clone(), "d2d_bandwidth", Some(0), Some(1)).value,
            450.0,
        );
        gpu_fact(&mut report, 1, "nvlink.links_expected", 12);
        close(nominal(report, "d2d_bandwidth", Some(0), Some(1)).value, 300.0);
    }

    #[test]
    fn links_that_are_down_still_count_in_what_is_nominal() {
        let mut report = on_switch();
        gpu_fact(&mut report, 0, "nvlink.links_active", 9);
        report.pairs[0].nvlinks = Fact::read(9, "test");
        close(nominal(report, "d2d_bandwidth", Some(0), Some(1)).value, 450.0);
    }

    #[test]
    fn bridges_are_measured_by_the_best_pair_of_the_same_models() {
        let mut report = healthy(4);
        for gpu in 0..4 {
            gpu_fact(&mut report, gpu, "nvlink.speed_mb_s", 26_562);
        }
        for (pair, links) in report.pairs.iter_mut().zip([4, 6, 6, 6, 6, 6]) {
            pair.nvswitch = Fact::read(false, "test");
            pair.nvlinks = Fact::read(links, "test");
        }
        close(nominal(report, "d2d_bandwidth", Some(0), Some(1)).value, 150.0);
    }

    #[test]
    fn without_links_it_is_pcie_and_a_link_that_is_not_known_is_a_gap() {
        let mut report = on_switch();
        report.pairs[0].nvswitch = Fact::read(false, "test");
        report.pairs[0].nvlinks = Fact::read(0, "test");
        gpu_fact(&mut report, 1, "pcie.link_generation_max", 4);
        close(
            nominal(report.clone(), "d2d_bandwidth", Some(0), Some(1)).value,
            31.5,
        );
        close(
            nominal(report.clone(), "h2d_bandwidth", None, Some(0)).value,
            63.0,
        );
        report.gpus[0].facts.remove("pcie.link_width_max");
        let gap = nominal(report, "d2h_bandwidth", Some(0), None).gap.unwrap();
        assert_eq!(gap.kind, GapKind::NotVisible);
    }
}

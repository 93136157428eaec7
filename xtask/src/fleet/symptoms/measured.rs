//! Faults that a measurement shows.

use kb_core::report::{Cell, Engine, Fact, Measurement, Report, fact_name};

use super::super::faults::{Fault, Regression};

/// Bandwidths fall to this share, and times grow by it.
fn slow(report: &mut Report, share: f64, touches: impl Fn(&Measurement, &Cell) -> bool) {
    for measurement in &mut report.measurements {
        let is_rate = measurement.unit == "GB/s";
        let factor = if is_rate { share } else { 1.0 / share };
        let cells = std::mem::take(&mut measurement.cells);
        let mut changed = Vec::with_capacity(cells.len());
        for mut cell in cells {
            if touches(measurement, &cell) {
                cell.samples.iter_mut().for_each(|sample| *sample *= factor);
            }
            changed.push(cell);
        }
        measurement.cells = changed;
    }
}

fn is_between_gpus(measurement: &Measurement) -> bool {
    measurement.metric.starts_with("d2d") && measurement.peer_access == Some(true)
}

fn ends(cell: &Cell) -> Option<(u32, u32)> {
    Some((cell.source?, cell.destination?))
}

pub(super) fn slow_pair(report: &mut Report, fault: &Fault) {
    slow(report, fault.share, |measurement, cell| {
        is_between_gpus(measurement) && ends(cell).is_some_and(|(a, b)| fault.is_between(a, b))
    });
}

pub(super) fn half_links(report: &mut Report, fault: &Fault) {
    let index = usize::try_from(fault.gpu).unwrap_or_default();
    let Some(gpu) = report.gpus.get_mut(index) else {
        return;
    };
    let links = gpu
        .facts
        .get(fact_name::NVLINK_LINKS)
        .and_then(|fact| fact.value.as_ref()?.as_u64());
    let half = links.unwrap_or(18) / 2;
    for name in [fact_name::NVLINK_LINKS_ACTIVE, fact_name::NVLINK_LINKS_TO_SWITCH] {
        if let Some(fact) = gpu.facts.get_mut(name) {
            fact.value = Some(half.into());
        }
    }
    for pair in report
        .pairs
        .iter_mut()
        .filter(|pair| fault.is_of(pair.a) || fault.is_of(pair.b))
    {
        pair.nvlinks = Fact::read(u32::try_from(half).unwrap_or(9), "nvmlDeviceGetNvLinkState");
    }
    slow(report, fault.share, |measurement, cell| {
        is_between_gpus(measurement) && ends(cell).is_some_and(|(a, b)| fault.is_of(a) || fault.is_of(b))
    });
}

/// What a driver does worse since the update, on all GPUs.
pub(super) fn regression(report: &mut Report, fault: &Fault) {
    slow(report, fault.share, |measurement, _| match fault.regression {
        Regression::Kernels => is_between_gpus(measurement) && measurement.engine == Engine::Sm,
        Regression::Host => measurement.metric.starts_with("h2d") || measurement.metric.starts_with("d2h"),
        Regression::Latency => {
            measurement.metric.starts_with("load_latency") || measurement.metric == "copy_latency"
        }
        Regression::Refuses => false,
    });
}

/// Every copy between GPUs goes up to the root complex and down again.
pub(super) fn through_the_root(report: &mut Report, fault: &Fault) {
    slow(report, fault.share, |measurement, _| {
        is_between_gpus(measurement) || measurement.metric == "load_latency"
    });
}

/// A GPU with lower clocks: its kernels suffer, the copy engine hardly does.
pub(super) fn slow_kernels(report: &mut Report, fault: &Fault, share: f64) {
    slow(report, share, |measurement, cell| {
        let by_kernel = measurement.engine == Engine::Sm;
        by_kernel && ends(cell).is_some_and(|(a, b)| fault.is_of(a) || fault.is_of(b))
    });
}

//! The probe's quick timings, compared within the node: no table of what a model should reach is needed.
//!
//! The figures decide between "as its peers" and "clearly not"; a benchmark they are not.

use crate::report::{Cell, Engine, GpuIndex, Measurement, Operation, Report};

const METRIC: &str = "d2d_bandwidth";
/// Fewest samples that a median is taken of.
const LEAST_SAMPLES: usize = 3;

/// Peer access counts as slower when it reaches less than this share of what staging through the host reaches. A
/// healthy ratio is around 1.1 on PCIe and above 2 over NVLink (p2pBandwidthLatencyTest on public machines; 10 on
/// H200), and copy engines repeat to well within a tenth; NCCL issue 814, the case this is for, had 0.45.
pub(super) const SLOWER_THAN_STAGED: f64 = 0.9;

/// A pair or direction joined by NVLink counts as slow when it reaches less than this share of its peers: with equal
/// link counts they differ by less than a percent (nvbandwidth on H200), and a quick timing of 16 MiB by a few.
pub(super) const SLOW_SHARE_NVLINK: f64 = 0.85;

/// The same over PCIe, where the place in the tree, which is known only roughly, makes up to a quarter (A6000: 26.3
/// under one switch, 21.8 across; RTX 5090: 53 and 39).
pub(super) const SLOW_SHARE_PCIE: f64 = 0.7;

/// A copy engine counts as below nominal when it reaches less than this share of what the NVLinks carry. Measured shares
/// are 78 to 88 % (A100 235 of 300, H100 371 of 450, H200 396 of 450, H100 NVL 257 of 300, H800 160 of 200; nvbandwidth
/// and p2pBandwidthLatencyTest); a link that is missing of 12 or fewer, or a third of 18, falls below.
pub(super) const NOMINAL_SHARE_NVLINK: f64 = 0.7;

/// The same over PCIe: 83 % under one switch, 62 % across sockets at worst (RTX 5090: 39 of 63; A6000: 22 of 31.5). Half
/// of the lanes, or a generation less, falls below.
pub(super) const NOMINAL_SHARE_PCIE: f64 = 0.45;

/// Push and pull of the same direction over NVLink count as apart below this share of the better one: 99.4 % on H200.
/// Over PCIe reads are slower than writes by nature, so that they are not compared there.
pub(super) const PUSH_PULL_SHARE: f64 = 0.85;

/// Kernels over NVLink count as slow below this share of the copy engine: it moves 256 bytes a packet, they move 128
/// (nccl-tests issue 149); 93 to 95 % on H200.
pub(super) const KERNEL_SHARE: f64 = 0.75;

/// A pair counts as slowed by others that share no GPU with it below this share of what it reaches alone: copies over
/// links of their own repeat to 0.1 % (nvbandwidth on H200).
pub(super) const BESIDE_SHARE: f64 = 0.9;

/// One directed pair's median and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Timing {
    /// GB/s.
    pub(super) median: f64,
    pub(super) pointer: String,
    /// What the links carry by their data sheet, where the bench has said so.
    pub(super) nominal: Option<f64>,
}

/// What a directed pair reached with peer access or, staged through the host, without.
pub(super) fn timing(report: &Report, from: GpuIndex, to: GpuIndex, peer_access: bool) -> Option<Timing> {
    figure(
        report,
        METRIC,
        (Engine::Ce, Operation::Push, peer_access),
        from,
        to,
    )
}

pub(super) fn copies(
    report: &Report,
    engine: Engine,
    operation: Operation,
    from: GpuIndex,
    to: GpuIndex,
) -> Option<Timing> {
    figure(report, METRIC, (engine, operation, true), from, to)
}

/// The figure of a directed pair at the largest size: smaller ones of a sweep say what it takes to fill the links.
pub(super) fn figure(
    report: &Report,
    metric: &str,
    (engine, operation, peer_access): (Engine, Operation, bool),
    from: GpuIndex,
    to: GpuIndex,
) -> Option<Timing> {
    let fits = |measurement: &Measurement| {
        measurement.metric == metric
            && measurement.engine == engine
            && measurement.operation == operation
            && measurement.peer_access == Some(peer_access)
    };
    let measurements = report.measurements.iter().enumerate();
    let (number, measurement) = measurements
        .filter(|(_, measurement)| fits(measurement))
        .max_by_key(|(_, measurement)| measurement.bytes)?;
    let its = |cell: &Cell| cell.source == Some(from) && cell.destination == Some(to);
    let place = measurement.cells.iter().position(its)?;
    let cell = measurement.cells.get(place)?;
    Some(Timing {
        median: median_of(&cell.samples)?,
        pointer: format!("/measurements/{number}/cells/{place}"),
        nominal: cell.nominal.as_ref().and_then(|nominal| nominal.value),
    })
}

fn median_of(samples: &[f64]) -> Option<f64> {
    let usable = samples.iter().all(|sample| sample.is_finite() && *sample > 0.0);
    if !usable || samples.len() < LEAST_SAMPLES {
        return None;
    }
    median(samples.to_vec())
}

/// The middle value, or the mean of the two in the middle.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *values.get(middle.checked_sub(1)?)?;
    Some(f64::midpoint(lower, upper))
}

/// `31 %`.
pub(super) fn percent(part: f64, whole: f64) -> String {
    format!("{:.0} %", 100.0 * part / whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
        assert_eq!(median_of(&[1.0, 2.0]), None);
        assert_eq!(median_of(&[1.0, 2.0, 0.0]), None);
        assert_eq!(median_of(&[1.0, 2.0, 9.0]), Some(2.0));
    }
}

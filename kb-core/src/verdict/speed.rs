//! The probe's quick timings, compared within the node: no table of what a model should reach is needed.
//!
//! The figures decide between "as its peers" and "clearly not"; a benchmark they are not.

use crate::report::{Cell, Engine, GpuIndex, Measurement, Operation, Report};

/// Metric of the quick timings.
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

/// One directed pair's median and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Timing {
    /// GB/s.
    pub(super) median: f64,
    pub(super) pointer: String,
}

/// What a directed pair reached with peer access or, staged through the host, without.
pub(super) fn timing(report: &Report, from: GpuIndex, to: GpuIndex, peer_access: bool) -> Option<Timing> {
    let quick = |measurement: &Measurement| {
        measurement.metric == METRIC
            && measurement.engine == Engine::Ce
            && measurement.operation == Operation::Push
            && measurement.peer_access == Some(peer_access)
    };
    let mut measurements = report.measurements.iter().enumerate();
    measurements.find_map(|(number, measurement)| {
        if !quick(measurement) {
            return None;
        }
        let its = |cell: &Cell| cell.source == Some(from) && cell.destination == Some(to);
        let place = measurement.cells.iter().position(its)?;
        Some(Timing {
            median: median_of(&measurement.cells.get(place)?.samples)?,
            pointer: format!("/measurements/{number}/cells/{place}"),
        })
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
    values.sort_by(f64::total_cmp);
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

//! By how much figures of good machines are known to differ.

use super::figure::{Figure, Series};
use super::link::LinkClass;

/// From this size on a copy fills its links, and what starting it takes is no longer seen.
const FILLS_LINKS: u64 = 64 << 20;
/// From this size on starting a copy is a small part of it.
const LARGE: u64 = 1 << 20;
/// From so many samples on the odd one is no longer the figure.
const SAMPLES: usize = 3;
/// Spread of a single sample: `p2pBandwidthLatencyTest` on a good H200 tells 362 GB/s of its first pair, 392 of the others.
const SINGLE_SAMPLE: f64 = 0.03;

/// Smallest spread that is assumed for a figure, as a share of its group's median, whatever the group at hand shows.
///
/// Measured on machines with 2 and 4 H200 and 2 H100 (docs/benchmarks/bench.md and the reports in kb-core/tests/data):
/// copy engines and kernels over NVLink repeat to 0.1 % from run to run and from machine to machine, so that three times
/// that is taken; small copies, latencies and all that the host takes part in differ by more between good machines.
/// Collectives and patterns of all GPUs depend on routing.
pub fn floor(figure: &Figure) -> f64 {
    let of_series = of_series(&figure.series);
    if figure.samples < SAMPLES {
        return of_series.max(SINGLE_SAMPLE);
    }
    of_series
}

/// The same of a series of which only the key is known, taken by enough samples; `None` where it is no key.
pub(super) fn of_key(key: &str) -> Option<(f64, bool)> {
    let (key, unit) = match key.strip_suffix("/GB/s") {
        Some(key) => (key, "GB/s"),
        None => key.rsplit_once('/')?,
    };
    let mut parts = key.rsplit('/');
    let (gpus, bytes) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let series = Series {
        link: LinkClass::Unknown,
        test: parts.next()?.to_owned(),
        bytes,
        gpus,
        unit: unit.to_owned(),
    };
    Some((of_series(&series), series.higher_is_better()))
}

fn of_series(series: &Series) -> f64 {
    let test = series.test.as_str();
    let metric = test.split('.').next().unwrap_or(test);
    if metric.contains("pageable") {
        return 0.1;
    }
    // What the host takes to put copies into a queue.
    if metric.starts_with("copy_queueing") || metric.starts_with("copy_enqueue") {
        return 0.15;
    }
    if metric.starts_with("load_latency") {
        return if metric.contains("under_load") { 0.05 } else { 0.01 };
    }
    if !series.higher_is_better() {
        return 0.04;
    }
    if metric.starts_with("all_to_all") || metric.starts_with("one_to_all") {
        return 0.1;
    }
    if metric.starts_with("nccl_") || series.gpus > 0 {
        return if series.bytes >= LARGE { 0.03 } else { 0.08 };
    }
    if metric.starts_with("h2d") || metric.starts_with("d2h") {
        return 0.015;
    }
    if test.ends_with(".staged") {
        return 0.03;
    }
    match series.bytes {
        FILLS_LINKS.. => 0.003,
        LARGE.. => 0.015,
        _ => 0.04,
    }
}

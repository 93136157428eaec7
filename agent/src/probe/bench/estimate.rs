//! How long a bench will take, told before it takes anything: the rounds of its plan, at what the links carry by their
//! data sheets.
//!
//! Of nominal rates copies reach 75 to 88 % between GPUs and 81 to 88 % with page-locked host memory
//! (docs/benchmarks/bench.md); the times below that go with no rate were measured there too. On 2 and 4 H200 the
//! estimates are within a fifth of what runs took.

use kb_core::report::Report;
use kb_core::verdict::{nominal_between, nominal_with_host};

use super::mode::{BenchOptions, COPIES_OF_LOAD, Mode, STAGED_COPIES, STAGED_WARM_UPS, SWEEP};
use super::ways::{Beside, Way, rounds};
use crate::gpu::{WARM_HOPS, WARM_HOPS_AGAIN};
use crate::probe::{is_gpu_idle, timing};

const REACHED: f64 = 0.83;
/// GB/s where nothing is known of the links: PCIe 3 with 16 lanes.
const UNKNOWN: f64 = 15.75;
/// The same of copies through the host, and of ordinary host memory.
const REACHED_STAGED: f64 = 0.6;
const REACHED_PAGEABLE: f64 = 0.2;
/// Seconds that a round takes beside its samples.
const ROUND: f64 = 0.005;
/// Seconds to take a GPU's memory and lock that of the host, and a load's from another GPU and from the host.
const PREPARATION: f64 = 0.2;
const LOAD: f64 = 0.9e-6;
const HOST_LOAD: f64 = 1.2e-6;

/// A part of the bench, and its seconds.
pub(crate) type Estimate = Vec<(&'static str, f64)>;

/// What each part of a bench on the idle GPUs of a report will take; nothing where there are none.
pub(crate) fn estimate(chosen: BenchOptions, report: &Report) -> Estimate {
    let gpus: Vec<u32> = (0..)
        .zip(&report.gpus)
        .filter(|(_, gpu)| is_gpu_idle(gpu))
        .map(|(index, _)| index)
        .collect();
    if gpus.is_empty() {
        return Vec::new();
    }
    Plan::of(Mode::of(chosen, &report.gpus), report, &gpus).parts()
}

struct Plan {
    mode: Mode,
    gpus: usize,
    ways: Vec<Way>,
    beside: Beside,
    /// GB/s between GPUs, and with the host.
    between: f64,
    host: f64,
}

impl Plan {
    fn of(mode: Mode, report: &Report, gpus: &[u32]) -> Self {
        let pairs = gpus.iter().flat_map(|a| gpus.iter().map(move |b| (*a, *b)));
        let ways: Vec<Way> = pairs
            .filter(|(a, b)| a != b)
            .map(|(a, b)| Way::open(a, b))
            .collect();
        let slowest = |rates: &mut dyn Iterator<Item = Option<f64>>| {
            let slowest = rates.map(|rate| rate.unwrap_or(UNKNOWN)).reduce(f64::min);
            slowest.unwrap_or(UNKNOWN)
        };
        let mut between = ways
            .iter()
            .map(|way| nominal_between(report, way.source, way.destination).value);
        let mut host = gpus.iter().map(|gpu| nominal_with_host(report, *gpu).value);
        let joined = report
            .pairs
            .iter()
            .all(|pair| pair.nvlinks.value.is_some_and(|links| links > 0));
        Self {
            mode,
            gpus: gpus.len(),
            beside: if joined { Beside::Others } else { Beside::Nobody },
            between: slowest(&mut between),
            host: slowest(&mut host),
            ways,
        }
    }

    fn parts(&self) -> Estimate {
        let full = self.mode.full;
        let mut parts = vec![
            ("without peer access", self.staged()),
            ("one way", self.one_way()),
            ("both ways", self.both_ways()),
            ("host memory", self.with_host()),
            ("latencies", self.latencies()),
        ];
        if full {
            parts.push(("several at once", self.fans()));
            parts.push(("sizes", self.sweep()));
        }
        parts
    }

    fn directions(&self) -> f64 {
        count(rounds(&self.ways, self.beside).len())
    }

    /// A round of copies, all samples and warm-ups: so many at GB/s.
    fn copies(&self, bytes: u64, (copies, warm_ups): (u32, [u32; 2]), rate: f64) -> f64 {
        let gigabytes = timing::rate(bytes, 1.0);
        let [first, again] = warm_ups;
        let others = self.mode.samples.saturating_sub(1);
        let all = first + copies + others * (again + copies);
        f64::from(all) * gigabytes / rate + ROUND
    }

    fn between(&self, bytes: u64, copies: u32) -> f64 {
        let copies = (copies, Mode::warm_ups_of(bytes));
        self.copies(bytes, copies, REACHED * self.between)
    }

    fn loads(&self, hops: u32, load: f64) -> f64 {
        let samples = self.mode.samples;
        let all = samples * hops + hops.min(WARM_HOPS) + samples.saturating_sub(1) * WARM_HOPS_AGAIN;
        f64::from(all) * load + ROUND
    }

    fn staged(&self) -> f64 {
        let copies = (STAGED_COPIES, STAGED_WARM_UPS);
        let way = self.copies(self.mode.staged_bytes, copies, REACHED_STAGED * self.host);
        count(self.gpus) * PREPARATION + count(self.ways.len()) * (way + ROUND)
    }

    fn one_way(&self) -> f64 {
        // Whether pairs can run at the same time is tried in two rounds.
        let tried = if self.gpus > 3 && self.beside != Beside::Nobody {
            2.0
        } else {
            0.0
        };
        (4.0 * self.directions() + tried) * self.between(self.mode.bytes, self.mode.copies)
    }

    fn both_ways(&self) -> f64 {
        let there = self.ways.iter().filter(|way| way.source < way.destination);
        let rounds = rounds(&there.cloned().collect::<Vec<_>>(), self.beside).len();
        let kinds = if self.mode.full { 4.0 } else { 1.0 };
        kinds * count(rounds) * self.between(self.mode.bytes, self.mode.copies)
    }

    fn with_host(&self) -> f64 {
        let gpus = count(self.gpus);
        let round = |bytes: u64, reached: f64| {
            let copies = (self.mode.host_copies, Mode::warm_ups_of(bytes));
            self.copies(bytes, copies, reached * self.host)
        };
        let pinned = round(self.mode.pinned_bytes, REACHED);
        if !self.mode.full {
            return 2.0 * gpus * pinned;
        }
        let both_ways = gpus * round(self.mode.pinned_bytes / 2, REACHED);
        let pageable = 2.0 * gpus * round(self.mode.pageable_bytes, REACHED_PAGEABLE);
        4.0 * gpus * pinned + both_ways + pageable + 2.0 * pinned
    }

    fn latencies(&self) -> f64 {
        let beside = if self.beside == Beside::Nobody {
            Beside::Nobody
        } else {
            Beside::OthersAndBack
        };
        let tried = if self.gpus > 2 && beside != Beside::Nobody {
            2.0
        } else {
            0.0
        };
        let loads = count(rounds(&self.ways, beside).len()) + tried;
        let quick = count(self.ways.len()) * ROUND + loads * self.loads(self.mode.hops, LOAD);
        if !self.mode.full {
            return quick;
        }
        let [load, _] = COPIES_OF_LOAD;
        let under_load = self.directions() * self.between(self.mode.bytes, load);
        quick + under_load + count(self.gpus) * self.loads(self.mode.hops / 2, HOST_LOAD)
    }

    fn fans(&self) -> f64 {
        if self.ways.is_empty() {
            return 0.0;
        }
        let rounds = 2.0 * (2.0 * count(self.gpus) + 1.0);
        rounds * self.between(self.mode.bytes, self.mode.copies)
    }

    fn sweep(&self) -> f64 {
        let sizes = SWEEP.into_iter().filter(|bytes| *bytes < self.mode.bytes);
        let all: f64 = sizes
            .map(|bytes| self.between(bytes, self.mode.copies_of(bytes)))
            .sum();
        2.0 * self.directions() * all
    }
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::INFINITY, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kb_core::report::{Fact, Pair};

    fn real() -> Report {
        let bytes = include_bytes!("../../../../kb-core/tests/data/reports/h200-x2-bench.json");
        serde_json::from_slice(bytes).unwrap()
    }

    fn all(report: &Report, full: bool) -> f64 {
        let chosen = BenchOptions { full, bytes: None };
        estimate(chosen, report).iter().map(|(_, seconds)| seconds).sum()
    }

    /// The same machine with more of the same GPUs.
    fn with(gpus: u32) -> Report {
        let mut report = real();
        report.gpus = (0..gpus).map(|_| report.gpus[0].clone()).collect();
        let pair = report.pairs[0].clone();
        let pairs = (0..gpus).flat_map(|a| (a + 1..gpus).map(move |b| (a, b)));
        report.pairs = pairs.map(|(a, b)| Pair { a, b, ..pair.clone() }).collect();
        report
    }

    /// Parts `bench_without_access` and `bench` of docs/benchmarks/bench.md: what runs on 2 and 4 H200 took.
    #[test]
    fn it_is_near_what_runs_took() {
        for (gpus, full, took) in [(2, true, 6.0), (4, true, 14.6), (2, false, 1.35), (4, false, 3.3)] {
            let told = all(&with(gpus), full);
            assert!(
                (told / took - 1.0).abs() < 0.2,
                "{gpus} GPUs, full {full}: {told} s, took {took} s"
            );
        }
    }

    #[test]
    fn slower_links_and_pairs_one_by_one_take_longer() {
        let nvlink = all(&with(8), true);
        let mut report = with(8);
        for pair in &mut report.pairs {
            pair.nvlinks = Fact::read(0, "nvmlDeviceGetNvLinkState");
            pair.nvswitch = Fact::read(false, "nvmlDeviceGetNvLinkRemotePciInfo");
        }
        let pcie = all(&report, true);
        assert!(pcie > 5.0 * nvlink, "{pcie} s by PCIe, {nvlink} s by NVLink");
        for gpu in &mut report.gpus {
            gpu.facts.clear();
        }
        assert!(
            all(&report, true) <= 0.0,
            "what is not known to be idle is left alone"
        );
    }

    #[test]
    fn a_gpu_by_itself_has_nothing_to_do_with_others() {
        let chosen = BenchOptions {
            full: true,
            bytes: None,
        };
        let parts = estimate(chosen, &with(1));
        let seconds = |name: &str| parts.iter().find(|part| part.0 == name).unwrap().1;
        for none in ["one way", "both ways", "several at once", "sizes"] {
            assert!(seconds(none) <= 0.0, "{none}: {parts:?}");
        }
        assert!(seconds("host memory") > 0.0, "{parts:?}");
    }

    #[test]
    fn without_idle_gpus_there_is_nothing_to_tell() {
        let mut report = real();
        report.gpus.clear();
        let chosen = BenchOptions {
            full: true,
            bytes: None,
        };
        assert!(estimate(chosen, &report).is_empty());
    }
}

//! Minutes of load: each finding, what is normal, and what admits a node.

use std::collections::BTreeSet;

use super::*;
use crate::report::{
    EarlierLoad, EarlierOfGpu, Failure, Gap, GapKind, Load, LoadOfGpu, ReasonCode, Spread, fact_name as name,
};
use crate::verdict::not_admitted;

const RATE: f64 = 40.0;

fn spread(first: f64, last: f64) -> Spread {
    Spread {
        count: 90,
        minimum: first.min(last),
        median: f64::midpoint(first, last),
        maximum: first.max(last),
        first,
        last,
    }
}

fn loaded_gpu(gpu: u32) -> LoadOfGpu {
    let figures = Load::RATES.map(|rate| (rate.to_owned(), spread(RATE, RATE)));
    let counters = [
        name::ECC_VOLATILE_UNCORRECTED,
        name::REMAPPED_ROWS_CORRECTED,
        name::NVLINK_CRC_ERRORS,
        name::NVLINK_REPLAY_ERRORS,
        name::NVLINK_RECOVERY_ERRORS,
        name::PCIE_REPLAYS,
    ];
    let read = |counter: &str| (counter.to_owned(), Fact::read(0.into(), "nvml"));
    LoadOfGpu {
        gpu,
        launches: 10_000,
        copies: 20_000,
        checks: 900,
        wrong_checksums: 0,
        wrong_copies: 0,
        first_wrong: None,
        samples: 300,
        figures: figures.into_iter().collect(),
        throttled: [("sw_power_cap".to_owned(), 290)].into(),
        counters: counters.map(read).into_iter().collect(),
    }
}

/// Adds five minutes in which nothing went wrong.
pub(crate) fn add_load(report: &mut Report) {
    let readable = Fact::read(true.into(), "kmsg");
    report.host.insert("kernel_log.readable".to_owned(), readable);
    let gpus = (0..).zip(&report.gpus).map(|(gpu, _)| loaded_gpu(gpu));
    report.load = Some(Load {
        asked_seconds: 300.0,
        seconds: 300.4,
        steps: 600,
        gpus: gpus.collect(),
        ended: None,
        earlier: Fact::missing(GapKind::Skipped, "no earlier run", "last-admit.json"),
        findings: Vec::new(),
    });
    judge(report, Expect::Auto);
}

fn under_load(change: impl FnOnce(&mut Report)) -> Report {
    let mut report = healthy(2);
    add_load(&mut report);
    change(&mut report);
    judge(&mut report, Expect::Auto);
    report
}

fn gpu_1(report: &mut Report) -> &mut LoadOfGpu {
    &mut report.load.as_mut().unwrap().gpus[1]
}

fn counter(report: &mut Report, name: &str, value: u64) {
    let fact = Fact::read(value.into(), "nvml");
    gpu_1(report).counters.insert(name.to_owned(), fact);
}

fn ended(report: &mut Report, code: Option<i32>, cause: Option<&str>) {
    let mut failure = Failure::new("load the GPUs", "it ended");
    failure.code = code;
    failure.cause = cause.map(str::to_owned);
    report.load.as_mut().unwrap().ended = Some(failure);
}

type Case = (&'static str, fn(&mut Report));

const CASES: &[Case] = &[
    (cause::GPU_LOST, |report| {
        let gap = Gap::new(GapKind::Failed, "after the run: the GPU is lost").coded(ReasonCode::GpuLost);
        let fact = Fact::without(gap, "nvml");
        gpu_1(report).counters.insert(name::PCIE_REPLAYS.to_owned(), fact);
    }),
    (cause::WRONG_ARITHMETIC, |report| {
        gpu_1(report).wrong_checksums = 1;
    }),
    (cause::DATA_MISMATCH, |report| gpu_1(report).wrong_copies = 1),
    (cause::ECC_ERROR, |report| {
        counter(report, name::ECC_VOLATILE_UNCORRECTED, 1);
    }),
    (cause::ECC_ERROR, |report| ended(report, Some(214), None)),
    (cause::NVLINK_ERROR, |report| ended(report, Some(220), None)),
    (cause::XID_FAULT, |report| {
        log(
            report,
            When::During,
            "NVRM: Xid (PCI:0000:3c:00): 79, pid=7, GPU has fallen off the bus.",
        );
    }),
    // Only the device behind the port is a GPU of the run.
    (cause::XID_FAULT, |report| {
        log(
            report,
            When::During,
            "pcieport 0000:99:00.0: DPC: containment event, status:0x1f01 source:0x3c00",
        );
    }),
    (cause::HANG, |report| ended(report, None, Some(cause::HANG))),
    (cause::PROCESS_DIES, |report| {
        ended(report, None, Some(cause::PROCESS_DIES));
    }),
    (cause::LOAD_FAILS, |report| ended(report, Some(719), None)),
    (cause::LOAD_INCOMPLETE, |report| ended(report, None, None)),
    (cause::LOAD_INCOMPLETE, |report| ended(report, Some(46), None)),
    (cause::LOAD_INCOMPLETE, |report| {
        report.load.as_mut().unwrap().gpus.remove(1);
    }),
    (cause::LOAD_INCOMPLETE, |report| {
        report.load.as_mut().unwrap().seconds = 200.0;
    }),
    (cause::LOAD_INCOMPLETE, |report| gpu_1(report).samples = 0),
    (cause::LOAD_INCOMPLETE, |report| gpu_1(report).checks = 0),
    (cause::LOAD_INCOMPLETE, |report| {
        report.host.remove("kernel_log.readable");
    }),
    (cause::LOAD_INCOMPLETE, |report| {
        let fact = Fact::missing(GapKind::Failed, "the call failed", "nvml");
        let counters = &mut gpu_1(report).counters;
        counters.insert(name::ECC_VOLATILE_UNCORRECTED.to_owned(), fact);
    }),
    (cause::LOAD_INCOMPLETE, |report| {
        let fact = Fact::missing(GapKind::Failed, "it is cut", "last-admit.json");
        report.load.as_mut().unwrap().earlier = fact;
    }),
    (cause::LOAD_INCOMPLETE, |report| {
        let asked = Fact::read("580.1".into(), "nvml");
        report.host.insert(name::NVML_DRIVER_VERSION.to_owned(), asked);
        for gpu in &mut report.gpus {
            let fact = Fact::missing(GapKind::Failed, "the call failed", "nvml");
            gpu.facts.insert(name::REMAPPED_ROWS_PENDING.to_owned(), fact);
            let action = Fact::read("none".into(), "nvml");
            gpu.facts.insert(name::RECOVERY_ACTION.to_owned(), action);
        }
    }),
    (cause::XID_WARNING, |report| {
        log(report, When::During, "NVRM: Xid (PCI:0000:3c:00): 61, pid=7, x");
    }),
    (cause::ROWS_REMAPPED, |report| {
        counter(report, name::REMAPPED_ROWS_CORRECTED, 1);
    }),
    (cause::ROWS_REMAPPED, |report| {
        counter(report, name::REMAPPED_ROWS_FAILURE, 1);
    }),
    (cause::ROWS_REMAPPED, |report| {
        counter(report, name::REMAPPED_ROWS_PENDING, 1);
    }),
    (cause::LINK_ERRORS, |report| {
        counter(report, name::NVLINK_REPLAY_ERRORS, 1);
    }),
    (cause::LINK_ERRORS, |report| {
        counter(report, name::PCIE_REPLAYS, 101);
    }),
    (cause::THROTTLED, |report| {
        gpu_1(report)
            .throttled
            .insert("hw_thermal_slowdown".to_owned(), 2);
    }),
    (cause::SLOWS_DOWN, |report| {
        gpu_1(report)
            .figures
            .insert(Load::FMA_RATE.to_owned(), spread(RATE, 33.0));
    }),
    (cause::SLOWER_THAN_SISTERS, |report| {
        gpu_1(report)
            .figures
            .insert(Load::FMA_RATE.to_owned(), spread(35.0, 35.0));
    }),
    (cause::SLOWER_THAN_BEFORE, |report| before(report, 50.0)),
];

fn before(report: &mut Report, rate: f64) {
    let of = |gpu| EarlierOfGpu {
        gpu,
        medians: Load::RATES.map(|name| (name.to_owned(), rate)).into(),
    };
    let earlier = EarlierLoad {
        report: report.report_id.clone(),
        at: "2026-11-01T10:00:00Z".to_owned(),
        gpus: vec![of(0), of(1)],
    };
    report.load.as_mut().unwrap().earlier = Fact::read(earlier, "last-admit.json");
}

#[test]
fn each_finding_names_its_cause_and_holds_the_node_back() {
    for (number, (cause, change)) in CASES.iter().enumerate() {
        let report = under_load(change);
        let found = &report.load.as_ref().unwrap().findings;
        let first = found
            .first()
            .unwrap_or_else(|| panic!("{number}: {cause} is not found"));
        let row = crate::verdict::rows::load::ROWS
            .iter()
            .find(|row| row.cause == *cause)
            .unwrap();
        assert_eq!(
            (first.cause.as_str(), first.verdict),
            (*cause, row.verdict),
            "{number}"
        );
        assert_eq!(report.conclusion.verdict, row.verdict, "{number}: {cause}");
        assert!(
            report.conclusion.reason.starts_with(cause),
            "{}",
            report.conclusion.reason
        );
        assert!(not_admitted(&report).unwrap().contains(cause), "{cause}");
        let value = serde_json::to_value(&report).unwrap();
        for pointer in &first.evidence {
            assert!(
                value.pointer(pointer).is_some() || *cause == cause::LOAD_INCOMPLETE,
                "{pointer}"
            );
        }
    }
    let tried: BTreeSet<&str> = CASES.iter().map(|(cause, _)| *cause).collect();
    let rows = crate::verdict::rows::load::ROWS
        .iter()
        .map(|row| row.cause)
        .collect();
    assert_eq!(tried, rows);
}

#[test]
fn rows_of_loads_stand_worst_first() {
    let rows = crate::verdict::rows::load::ROWS;
    assert!(rows.is_sorted_by(|left, right| left.verdict >= right.verdict));
}

/// A power cap, one sample with heat, a corrected error, an application's Xid, an earlier run that was as fast.
#[test]
fn what_is_normal_is_no_finding() {
    let report = under_load(|report| {
        before(report, 42.0);
        counter(report, name::NVLINK_CRC_ERRORS, 3);
        counter(report, name::PCIE_REPLAYS, 7);
        log(
            report,
            When::During,
            "NVRM: Xid (PCI:0000:3c:00): 43, pid=7, name=x, Ch 00000008",
        );
        log(report, When::Before, "NVRM: Xid (PCI:0000:3c:00): 79, pid=7, x");
        let of = gpu_1(report);
        of.throttled.insert("hw_slowdown".to_owned(), 1);
        of.figures.insert(Load::FMA_RATE.to_owned(), spread(RATE, 37.5));
        of.figures.insert(Load::TO_HOST.to_owned(), spread(RATE, 31.0));
        let none = Fact::missing(GapKind::NotSupported, "not supported", "nvml");
        of.counters.insert(name::NVLINK_REPLAY_ERRORS.to_owned(), none);
    });
    assert_eq!(report.load.as_ref().unwrap().findings, []);
    assert_eq!(
        report.conclusion.verdict,
        Verdict::Healthy,
        "{:?}",
        report.conclusion
    );
    assert!(report.conclusion.reason.ends_with("300 s of load passed"));
    assert_eq!(not_admitted(&report), None);
}

/// A link within its specification has more corrected errors in an hour than in five minutes.
#[test]
fn a_longer_load_may_have_more_corrected_errors() {
    let of = |seconds: f64, replays: u64| {
        let report = under_load(|report| {
            let load = report.load.as_mut().unwrap();
            (load.asked_seconds, load.seconds) = (seconds, seconds);
            counter(report, name::PCIE_REPLAYS, replays);
        });
        not_admitted(&report)
    };
    assert_eq!(of(3600.0, 1200), None);
    assert!(of(3600.0, 1201).unwrap().contains(cause::LINK_ERRORS));
    assert_eq!(of(60.0, 100), None);
    assert!(of(60.0, 101).unwrap().contains(cause::LINK_ERRORS));
}

#[test]
fn a_load_beside_the_work_of_others_admits_nothing() {
    for (fact, value) in [
        (name::SHARED, true.into()),
        (name::PROCESSES_COUNT, Value::from(5)),
    ] {
        // Its sender says that it is healthy.
        let mut report = under_load(|_| {});
        gpu_fact(&mut report, 1, fact, value);
        let why = not_admitted(&report).unwrap();
        assert!(why.contains("GPU 1 was used by others"), "{fact}: {why}");
        judge(&mut report, Expect::Auto);
        assert_eq!(report.conclusion.verdict, Verdict::Unknown, "{fact}");
    }
    for (fact, value) in [
        (name::SHARED, false.into()),
        (name::PROCESSES_COUNT, Value::from(0)),
    ] {
        let report = under_load(|report| gpu_fact(report, 1, fact, value));
        assert_eq!(not_admitted(&report), None, "{fact}");
    }
}

#[test]
fn only_a_good_run_with_load_admits() {
    assert!(not_admitted(&healthy(2)).unwrap().contains("no load"));
    let short = under_load(|report| {
        report.simulated = false;
        let load = report.load.as_mut().unwrap();
        (load.asked_seconds, load.seconds) = (5.0, 5.0);
    });
    assert!(not_admitted(&short).unwrap().contains("30 are the least"));
    let broken = under_load(|report| wrong(report, "copy_push", false, None));
    assert!(not_admitted(&broken).unwrap().contains("broken"));
    // What the sender found and this version does not.
    let mut newer = under_load(|report| gpu_1(report).wrong_checksums = 1);
    gpu_1(&mut newer).wrong_checksums = 0;
    newer.conclusion = under_load(|_| {}).conclusion;
    assert!(not_admitted(&newer).unwrap().contains(cause::WRONG_ARITHMETIC));
    // That it found nothing is not believed.
    let mut forged = under_load(|report| gpu_1(report).wrong_checksums = 1);
    forged.load.as_mut().unwrap().findings.clear();
    forged.conclusion.verdict = Verdict::Healthy;
    assert!(not_admitted(&forged).unwrap().contains(cause::WRONG_ARITHMETIC));
}

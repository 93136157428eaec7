//! The figures of the bench: what is told of them, and what must not be.

use super::*;

/// One way copies of every directed pair, in GB/s.
pub(super) fn copies(
    report: &mut Report,
    engine: Engine,
    operation: Operation,
    rate: impl Fn(u32, u32) -> f64,
) {
    timings(report, true, rate);
    let measurement = report.measurements.last_mut().unwrap();
    (measurement.engine, measurement.operation) = (engine, operation);
}

/// The same by the copy engine under another name.
pub(super) fn measured(report: &mut Report, metric: &str, rate: f64) {
    timings(report, true, |_, _| rate);
    report.measurements.last_mut().unwrap().metric = metric.to_owned();
}

pub(super) fn nominal(report: &mut Report, rate: f64) {
    for cell in report.measurements.iter_mut().flat_map(|of| &mut of.cells) {
        cell.nominal = Some(Fact::read(rate, "test"));
    }
}

/// The first pair is joined by NVLink.
pub(super) fn linked(report: &mut Report) {
    report.pairs[0].nvlinks = Fact::read(4, "nvml");
}

/// What was measured on two healthy H200.
fn as_h200(report: &mut Report) {
    linked(report);
    copies(report, Engine::Ce, Operation::Push, |_, _| 396.2);
    copies(report, Engine::Ce, Operation::Pull, |_, _| 393.9);
    copies(report, Engine::Sm, Operation::Push, |_, _| 370.1);
    copies(report, Engine::Sm, Operation::Pull, |_, _| 376.1);
    nominal(report, 450.0);
}

#[track_caller]
fn assert_healthy(mut report: Report) {
    judge(&mut report, Expect::Auto);
    let verdict = &report.pairs[0].verdict;
    assert_eq!(verdict.verdict, Verdict::Healthy, "{verdict:?}");
}

#[test]
fn what_healthy_machines_reach_is_healthy() {
    assert_healthy(with(as_h200));
    // PCIe across sockets: RTX 5090, 39 of 63, reads half of the writes, kernels slower than the copy engine.
    assert_healthy(with(|report| {
        copies(report, Engine::Ce, Operation::Push, |_, _| 39.0);
        copies(report, Engine::Ce, Operation::Pull, |_, _| 30.0);
        copies(report, Engine::Sm, Operation::Pull, |_, _| 15.0);
        nominal(report, 63.0);
    }));
}

#[test]
fn the_worst_share_of_nominal_is_told() {
    let verdict = assert_cause(
        with(|report| {
            linked(report);
            copies(report, Engine::Ce, Operation::Push, |_, _| 300.0);
            copies(report, Engine::Ce, Operation::Pull, |from, _| {
                [280.0, 270.0][from as usize]
            });
            nominal(report, 450.0);
        }),
        cause::BELOW_NOMINAL,
    );
    assert!(
        verdict
            .reason
            .contains("GPU 1 to GPU 0: copies read by the destination reach 270.0 GB/s, 60 %"),
        "{}",
        verdict.reason
    );
}

/// A sweep's small copies do not fill the links, in whatever order they stand.
#[test]
fn the_largest_size_decides() {
    let mut report = with(|report| {
        timings(report, true, |_, _| 2.0);
        as_h200(report);
        timings(report, true, |_, _| 1.0);
        nominal(report, 450.0);
    });
    let last = report.measurements.len() - 1;
    report.measurements[0].bytes = 4096;
    report.measurements[last].bytes = 8192;
    assert_healthy(report);
}

#[test]
fn figures_beside_somebody_elses_work_mean_nothing() {
    let mut report = with(|report| {
        linked(report);
        copies(report, Engine::Ce, Operation::Push, |_, _| 100.0);
        nominal(report, 450.0);
        gpu_fact(report, 0, "shared", true);
    });
    judge(&mut report, Expect::Auto);
    let verdict = &report.pairs[0].verdict;
    assert_ne!(
        verdict.cause.as_deref(),
        Some(cause::BELOW_NOMINAL),
        "{verdict:?}"
    );
}

/// The copies of the one pair alone lost data: the other's verdict does not change.
#[test]
fn wrong_data_of_the_bench_breaks_the_pair_that_it_is_of() {
    let lost = |report: &mut Report, ways: &[(u32, u32)]| {
        copies(report, Engine::Ce, Operation::Push, |_, _| 390.0);
        let cells = &mut report.measurements.last_mut().unwrap().cells;
        for cell in cells {
            let way = (cell.source.unwrap(), cell.destination.unwrap());
            if ways.contains(&way) {
                let kind = crate::report::GapKind::WrongData;
                let gap = crate::report::Gap::new(kind, "8 words from byte 64 on");
                *cell = Cell::new(cell.source, cell.destination, Err(gap));
            }
        }
    };
    let verdict = assert_cause(with(|report| lost(report, &[(1, 0)])), cause::DATA_MISMATCH);
    assert!(
        verdict.reason.contains("8 words from byte 64"),
        "{}",
        verdict.reason
    );
    assert_eq!(verdict.evidence, ["/measurements/0/cells/1/gap"]);
    let mut report = with(|report| lost(report, &[(1, 0)]));
    judge(&mut report, Expect::Auto);
    assert_eq!(report.conclusion.exit_code, 2);
    assert_healthy(with(|report| lost(report, &[(0, 7)])));
}

#[test]
fn a_refused_pair_is_told_what_programs_get_instead() {
    let verdict = assert_cause(
        with(|report| {
            refuse(report, P2pStatus::Gns);
            timings(report, false, |from, _| if from == 0 { 38.2 } else { 37.5 });
        }),
        cause::REFUSED_BY_POLICY,
    );
    let told = "copies between the two go through host memory, at 38.2 and 37.5 GB/s";
    assert!(verdict.reason.ends_with(told), "{}", verdict.reason);
    assert!(
        verdict
            .evidence
            .iter()
            .any(|pointer| pointer.starts_with("/measurements/0/cells/")),
        "{verdict:?}"
    );
    // Without the figures nothing is told.
    let verdict = assert_cause(
        with(|report| refuse(report, P2pStatus::Gns)),
        cause::REFUSED_BY_POLICY,
    );
    assert!(!verdict.reason.contains("host memory"), "{}", verdict.reason);
}

//! GPUs that are not there, and a GPU that is alone.

use super::*;
use crate::report::{Absence, AbsentGpu, GapKind};

fn without(absence: Absence, change: fn(&mut Report)) -> Conclusion {
    let mut report = with(change);
    report.absent.push(AbsentGpu {
        pci_address: Some("0000:5e:00.0".to_owned()),
        ..AbsentGpu::new(absence, "it is gone")
    });
    judge(&mut report, Expect::All);
    report.conclusion
}

#[test]
fn a_gpu_that_is_missing_or_lost_is_a_fault_of_a_healthy_run() {
    for (absence, verdict, words) in [
        (
            Absence::Missing,
            Verdict::Broken,
            "device_missing: the GPU at 0000:5e:00.0: it is gone",
        ),
        (Absence::Lost, Verdict::Broken, "gpu_lost: the GPU at"),
        (Absence::WithoutDriver, Verdict::Degraded, "gpu_without_driver: "),
        (Absence::NotLookedAt, Verdict::Unknown, "gpu_not_looked_at: "),
        (Absence::Unrecognised, Verdict::Unknown, "gpu_not_looked_at: "),
        (Absence::NotGranted, Verdict::Healthy, "1 pair proven"),
        (Absence::OtherDriver, Verdict::Healthy, "1 pair proven"),
        (Absence::Excluded, Verdict::Healthy, "1 pair proven"),
        (Absence::Mig, Verdict::Healthy, "1 pair proven"),
    ] {
        let conclusion = without(absence, |_| {});
        assert_eq!(conclusion.verdict, verdict, "{absence:?}");
        assert!(conclusion.reason.starts_with(words), "{conclusion:?}");
    }
}

#[test]
fn an_absence_hides_no_fault_of_a_pair_and_none_hides_it() {
    let broken = |absence| without(absence, |report| wrong(report, "copy_push", true, None));
    let both = broken(Absence::Missing);
    assert_eq!(both.verdict, Verdict::Broken);
    assert!(
        both.reason.contains("device_missing") && both.reason.contains("writes_dropped"),
        "{both:?}"
    );
    let beside = broken(Absence::WithoutDriver);
    assert!(beside.reason.ends_with("it is gone"), "{beside:?}");
}

#[test]
fn an_absence_names_its_record_and_what_to_do() {
    let mut report = healthy(2);
    report.absent.push(AbsentGpu::new(Absence::Lost, "it is gone"));
    report
        .absent
        .push(AbsentGpu::new(Absence::NotGranted, "a container"));
    judge(&mut report, Expect::Auto);
    let [lost, granted] = report.absent.as_slice() else {
        panic!()
    };
    assert_eq!(lost.cause.as_deref(), Some(cause::GPU_LOST));
    assert!(lost.record.is_some() && lost.fix.is_some());
    assert_eq!(
        (&granted.cause, &granted.record, &granted.fix),
        (&None, &None, &None)
    );
}

fn alone(change: fn(&mut Report)) -> (Verdict, String) {
    let mut report = healthy(1);
    let version = Fact::read("580.159.04".into(), "nvmlSystemGetDriverVersion");
    report.host.insert("nvml.driver_version".to_owned(), version);
    gpu_fact(&mut report, 0, "recovery.action", "none");
    change(&mut report);
    judge(&mut report, Expect::Auto);
    (report.conclusion.verdict, report.conclusion.reason)
}

#[test]
fn one_gpu_has_no_fault_only_where_it_was_asked() {
    type Case = (fn(&mut Report), Verdict, &'static str);
    let cases: [Case; 7] = [
        (
            |report| report.gpus[0].facts.clear(),
            Verdict::Unknown,
            "NVML tells nothing of its state",
        ),
        (
            |_| {},
            Verdict::NoFaultSeen,
            "one GPU, so there is no pair to prove; no fault seen of it",
        ),
        (
            |report| gpu_fact(report, 0, "recovery.action", "reset"),
            Verdict::Broken,
            "recovery_action: the driver asks for a reset",
        ),
        (
            |report| gpu_fact(report, 0, "throttle.reasons", serde_json::json!(["hw_slowdown"])),
            Verdict::Degraded,
            "throttled: ",
        ),
        (
            |report| {
                let gap = Fact::missing(GapKind::Failed, "NVML error 999", "nvml");
                report.gpus[0]
                    .facts
                    .insert("remapped_rows.pending".to_owned(), gap);
            },
            Verdict::Unknown,
            "could not be read: NVML error 999",
        ),
        (
            |report| {
                let gap = Fact::missing(GapKind::NotSupported, "no NVML", "nvml");
                report.host.insert("nvml.driver_version".to_owned(), gap);
            },
            Verdict::Unknown,
            "no NVML",
        ),
        (
            |report| {
                report.host.clear();
            },
            Verdict::Unknown,
            "it was not asked",
        ),
    ];
    for (change, verdict, words) in cases {
        let (found, reason) = alone(change);
        assert_eq!(found, verdict, "{reason}");
        assert!(reason.contains(words), "{reason}");
    }
}

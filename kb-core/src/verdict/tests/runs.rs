//! From pairs to the run's verdict, and from that to the exit code.

use super::*;
use crate::report::Failure;

type Change = fn(&mut Report);

/// Pairs of one report, each with a change of its own.
fn run(changes: &[Change]) -> Report {
    let mut report = healthy(2);
    report.pairs.clear();
    for change in changes {
        let Report { pairs, gpus, .. } = with(change);
        report.pairs.extend(pairs);
        for (ours, theirs) in report.gpus.iter_mut().zip(gpus) {
            ours.facts.extend(theirs.facts);
        }
    }
    judge(&mut report, Expect::All);
    report
}

const NOTHING: Change = |_| {};
const ALONE: Change = |report| ends(report, "copy_push", Outcome::PassAlone, None);
const UNKNOWN: Change = |report| ends(report, "copy_push", Outcome::Inconclusive, None);
const REFUSED: Change = |report| refuse(report, P2pStatus::Gns);
const BUSY_AND_LINKS_DOWN: Change = |report| {
    gpu_fact(report, 0, "shared", true);
    gpu_fact(report, 0, "nvlink.links_expected", 18);
    gpu_fact(report, 0, "nvlink.links_active", 9);
};
const DROPPED: Change = |report| wrong(report, "copy_push", true, None);

#[test]
fn the_worst_pair_decides_the_run() {
    let cases: [(&[Change], Verdict, u8); 6] = [
        (&[NOTHING], Verdict::Healthy, 0),
        (&[NOTHING, ALONE], Verdict::Degraded, 1),
        (&[NOTHING, REFUSED, ALONE], Verdict::Refused, 2),
        (&[REFUSED, UNKNOWN], Verdict::Refused, 2),
        (&[UNKNOWN, DROPPED, NOTHING], Verdict::Broken, 2),
        (&[], Verdict::Unknown, 3),
    ];
    for (changes, verdict, exit_code) in cases {
        let conclusion = run(changes).conclusion;
        assert_eq!(
            (conclusion.verdict, conclusion.exit_code),
            (verdict, exit_code),
            "{conclusion:?}"
        );
    }
}

#[test]
fn a_failure_of_the_run_is_never_healthy_and_says_why() {
    let with_failure = |change: Change| {
        let mut report = run(&[change]);
        report.failures.push(Failure::new("cuMemFree_v2", "it hung"));
        judge(&mut report, Expect::Auto);
        report.conclusion
    };
    let healthy = with_failure(NOTHING);
    assert_eq!((healthy.verdict, healthy.exit_code), (Verdict::Unknown, 3));
    assert_eq!(healthy.reason, "cuMemFree_v2: it hung");
    let broken = with_failure(DROPPED);
    assert_eq!(broken.verdict, Verdict::Broken);
    assert!(broken.reason.contains(cause::WRITES_DROPPED), "{broken:?}");
    assert_eq!(
        with_failure(REFUSED).verdict,
        Verdict::Unknown,
        "information hides no failure"
    );
}

#[test]
fn what_only_the_kernel_log_tells_is_no_health() {
    let of = |change: Change, when: When, lines: &[&str]| {
        let mut report = run(&[change]);
        report.logs = vec![LogExcerpt {
            source: "kmsg".to_owned(),
            when,
            text: lines.join("\n"),
        }];
        judge(&mut report, Expect::Auto);
        (report.conclusion.verdict, report.conclusion.reason)
    };
    let check = "[   10.000000] mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 4: be00000000800400";
    let lockup = "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [nvidia-smi:4711]";
    let silent = "NVRM: GPU6 _kgspIsHeartbeatTimedOut: Heartbeat timed out, currentTimeMs 812751949 heartbeat 1899482 diff 6070";
    let never = "NVRM: GPU0 _kgspIsHeartbeatTimedOut: Heartbeat timed out, currentTimeMs 1870886560 heartbeat 0 diff 1";
    for (lines, expected) in [
        (vec![check], Verdict::Unknown),
        (vec![lockup], Verdict::Unknown),
        (vec![silent], Verdict::Broken),
        (vec![never], Verdict::Unknown),
        (vec![never, silent], Verdict::Broken),
        (vec![check, silent], Verdict::Broken),
    ] {
        let (verdict, reason) = of(NOTHING, When::During, &lines);
        assert_eq!(verdict, expected, "{lines:?}: {reason}");
        assert!(reason.starts_with("the kernel log says"), "{reason}");
        assert!(
            reason.ends_with(
                "proven both ways by copies, kernels, kernels at the same time and a second process"
            ),
            "{reason}"
        );
        assert_eq!(of(NOTHING, When::Before, &lines).0, Verdict::Healthy, "{lines:?}");
    }
    let (verdict, reason) = of(DROPPED, When::During, &[check]);
    assert_eq!(verdict, Verdict::Broken);
    assert!(reason.ends_with("be00000000800400"), "{reason}");
}

#[test]
fn an_error_of_the_bus_at_a_gpu_is_no_health() {
    let report = run(&[NOTHING]);
    let gpu = report.gpus[0].pci_address.value.clone().unwrap();
    let of = |lines: &[String]| {
        let mut report = run(&[NOTHING]);
        for index in 0..report.gpus.len() {
            let own = report.gpus[index].pci_address.value.clone().unwrap();
            gpu_fact(
                &mut report,
                index,
                "pci.path",
                serde_json::json!([{ "address": own }]),
            );
        }
        report.logs = vec![LogExcerpt {
            source: "kmsg".to_owned(),
            when: When::During,
            text: lines.join("\n"),
        }];
        judge(&mut report, Expect::Auto);
        (report.conclusion.verdict, report.conclusion.reason)
    };
    let block = |severity: &str, device: &str| {
        [
            format!("event severity: {severity}"),
            format!(" Error 0, type: {severity}"),
            "  section_type: PCIe error".to_owned(),
            "  port_type: 0, PCIe end point".to_owned(),
            format!("  device_id: {device}"),
            "  vendor_id: 0x10de, device_id: 0x2330".to_owned(),
        ]
        .map(|line| format!("[  812.501] {{1}}[Hardware Error]: {line}"))
        .to_vec()
    };
    let short = gpu.trim_start_matches("0000:");
    let dmar = |device: &str| {
        vec![format!(
            "DMAR: [DMA Read NO_PASID] Request device [{device}] fault addr 0xf2000000 [fault reason 0x06]"
        )]
    };
    let amd = vec![format!(
        "AMD-Vi: Event logged [IO_PAGE_FAULT device={short} domain=0x1 address=0x1 flags=0x0]"
    )];
    for (lines, expected) in [
        (block("fatal", &gpu), Verdict::Broken),
        (block("recoverable", &gpu), Verdict::Unknown),
        (block("corrected", &gpu), Verdict::Healthy),
        (block("fatal", "0000:7f:00.0"), Verdict::Healthy),
        (dmar(short), Verdict::Unknown),
        (dmar("7f:00.0"), Verdict::Healthy),
        (amd, Verdict::Unknown),
    ] {
        let (verdict, reason) = of(&lines);
        assert_eq!(verdict, expected, "{lines:?}: {reason}");
    }
}

#[test]
fn fail_on_keeps_what_the_caller_wants_to_fail_on() {
    let runs: [&[Change]; 8] = [
        &[NOTHING],
        &[ALONE],
        &[REFUSED],
        &[UNKNOWN],
        &[],
        // What could not be told hides neither a warning nor a fault.
        &[UNKNOWN, ALONE],
        &[UNKNOWN, REFUSED, ALONE],
        &[BUSY_AND_LINKS_DOWN],
    ];
    let rows: [(FailOn, [u8; 8]); 4] = [
        (FailOn::FAULT, [0, 0, 2, 0, 0, 0, 2, 0]),
        (FailOn::WARNING, [0, 1, 2, 0, 0, 1, 2, 1]),
        (FailOn::UNKNOWN, [0, 1, 2, 3, 3, 3, 2, 3]),
        (FailOn::default(), [0, 0, 2, 3, 3, 3, 2, 3]),
    ];
    for (fail_on, expected) in rows {
        let codes = runs.map(|changes| {
            let report = run(changes);
            fail_on.exit_code(&report)
        });
        assert_eq!(codes, expected, "{fail_on:?}");
    }
    assert_eq!(FailOn::default(), FailOn::FAULT_AND_UNKNOWN);
    for fail_on in [
        FailOn::FAULT,
        FailOn::WARNING,
        FailOn::UNKNOWN,
        FailOn::FAULT_AND_UNKNOWN,
    ] {
        assert_eq!(fail_on.to_string().parse(), Ok(fail_on));
    }
    assert_eq!("fault, warning,unknown".parse(), Ok(FailOn::UNKNOWN));
    for bad in ["", "faults", "fault,,unknown", "fault;unknown"] {
        assert!(
            bad.parse::<FailOn>().unwrap_err().contains("fault,unknown"),
            "{bad}"
        );
    }
}

#[test]
fn information_is_nothing_to_fail_on() {
    let mut report = run(&[REFUSED, NOTHING]);
    judge(&mut report, Expect::Auto);
    assert_eq!(FailOn::UNKNOWN.exit_code(&report), 0);
}

#[test]
fn a_verdict_of_a_newer_version_reads_as_unknown() {
    let read = |word: &str| serde_json::from_value::<Verdict>(word.into()).unwrap();
    assert_eq!(read("suspended"), Verdict::Unknown);
    assert!(Verdict::ALL.is_sorted());
    for verdict in Verdict::ALL {
        assert_eq!(read(verdict.word()), verdict);
        assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.word());
    }
}

//! What must be seen beside a fault before a link, a bridge, the IOMMU or a handle is blamed for it.

use serde_json::json;

use super::*;

const PAGE_FAULT: &str = "DMAR: [DMA Write NO_PASID] Request device [3b:00.0] fault addr 0x1";

/// Counters count for a whole GPU: they break a pair only together with a check of it that fails, and say nothing of a
/// pair that the links do not carry.
#[test]
fn link_counters_break_only_what_fails() {
    for (name, count) in [
        ("during.nvlink.recovery_errors", 1),
        ("during.nvlink.replay_errors", 1),
        ("during.nvlink.crc_errors", 101),
    ] {
        let mut report = with(|report| {
            report.pairs[0].nvlinks = Fact::read(4, "nvml");
            gpu_fact(report, 1, name, count);
        });
        let verdict = assert_cause(report.clone(), cause::NVLINK_CORRECTED_ERRORS);
        assert_eq!(verdict.verdict, Verdict::Degraded);
        wrong(&mut report, "copy_push", false, None);
        let verdict = assert_cause(report.clone(), cause::NVLINK_ERROR);
        assert!(
            verdict.evidence.iter().any(|at| at.ends_with(name)),
            "{verdict:?}"
        );
        assert!(!verdict.reason.contains("beside"), "{verdict:?}");
        report.pairs[0].nvlinks = Fact::read(0, "nvml");
        assert_cause(report, cause::DATA_MISMATCH);
    }
}

/// Linux sets the redirect bits of root ports where the IOMMU is on; clearing them between two ports changes nothing.
#[test]
fn redirect_bits_of_root_ports_are_evidence_and_no_cause() {
    let mut report = with(|report| {
        wrong(report, "copy_push", true, Some(false));
        let ports = json!(["0000:00:01.1", "0000:40:01.1"]);
        pair_fact(report, "acs.redirecting_bridges", ports);
        pair_fact(report, "pcie.same_switch", false);
        host_fact(report, "iommu.mode", "translating");
    });
    let verdict = assert_cause(report.clone(), cause::IOMMU_TRANSLATION);
    let acs = "/pairs/0/facts/acs.redirecting_bridges".to_owned();
    assert!(verdict.evidence.contains(&acs), "{verdict:?}");
    report.pairs[0].facts.remove("pcie.same_switch");
    assert_cause(report.clone(), cause::IOMMU_TRANSLATION);
    pair_fact(&mut report, "pcie.same_switch", true);
    assert_cause(report, cause::ACS_REDIRECT);
}

/// Without NVML nobody says that PCIe alone joins the two.
#[test]
fn links_that_are_not_told_are_named_as_such() {
    let changes: [fn(&mut Report); 4] = [
        |report| pair_fact(report, "pcie.same_switch", true),
        |report| log(report, When::During, PAGE_FAULT),
        |_| {},
        |report| {
            *report = healthy(2);
            log(report, When::During, PAGE_FAULT);
        },
    ];
    let causes = [
        cause::ACS_REDIRECT,
        cause::IO_PAGE_FAULT,
        cause::IOMMU_TRANSLATION,
        cause::IO_PAGE_FAULT_SEEN,
    ];
    for (change, cause) in changes.into_iter().zip(causes) {
        let mut report = with(|report| {
            wrong(report, "copy_push", true, Some(false));
            pair_fact(report, "acs.redirecting_bridges", json!(["0000:3a:00.0"]));
            host_fact(report, "iommu.mode", "translating");
            change(report);
        });
        let told = assert_cause(report.clone(), cause);
        assert!(!told.reason.contains("not told"), "{told:?}");
        let gap = crate::report::GapKind::NotSupported;
        report.pairs[0].nvlinks = Fact::missing(gap, "no NVML", "nvml");
        let untold = assert_cause(report, cause);
        assert!(
            untold.reason.contains("whether NVLink joins the two is not told"),
            "{untold:?}"
        );
    }
}

/// Rung 6 is about handles only where everything below it was seen to work that way, and the partner answered.
#[test]
fn a_partner_that_dies_or_hangs_is_no_matter_of_handles() {
    let died = with(|report| ends(report, "ipc_vmm", Outcome::Fail, None));
    assert_cause(died, cause::PROCESS_DIES);
    let mut hung = with(|report| ends(report, "ipc_vmm", Outcome::Hang, None));
    host_fact(&mut hung, "iommu.mode", "translating");
    assert_cause(hung, cause::HANG);
    let unproven = with(|report| {
        ends(report, "ipc_legacy", Outcome::Fail, Some(201));
        ends(report, "sm_load", Outcome::Skipped, None);
    });
    assert_cause(unproven, cause::ACCESS_FAILS);
    let handles = with(|report| ends(report, "ipc_legacy", Outcome::Fail, Some(201)));
    assert_cause(handles, cause::IPC_FAILS);
}

/// Data that arrives does not make a GPU good that says of itself that it is not.
#[test]
fn a_gpu_that_asks_for_service_is_not_healthy() {
    let cases: [(&str, Value, Option<&str>); 9] = [
        ("recovery.action", "none".into(), None),
        ("recovery.action", "reset".into(), Some("reset the GPU")),
        ("recovery.action", "reboot".into(), Some("a reboot of the node")),
        ("recovery.action", "drain_p2p".into(), Some("drain peer traffic")),
        (
            "recovery.action",
            "unrecognised (77)".into(),
            Some("not known here"),
        ),
        ("remapped_rows.failure", true.into(), Some("exchanged")),
        ("remapped_rows.pending", true.into(), Some("reset the GPU")),
        ("remapped_rows.pending", false.into(), None),
        ("ecc.sram_threshold_exceeded", true.into(), Some("SRAM")),
    ];
    for (name, value, expected) in cases {
        let verdict = judged(with(|report| gpu_fact(report, 1, name, value.clone())), 0);
        let cause = expected.map(|_| cause::GPU_NEEDS_SERVICE);
        assert_eq!(verdict.cause.as_deref(), cause, "{name} {value}");
        let words = expected.unwrap_or("proven");
        assert!(verdict.reason.contains(words), "{verdict:?}");
    }
    let fine = with(|report| gpu_fact(report, 1, "fabric.health", json!([])));
    assert_eq!(judged(fine, 0).verdict, Verdict::Healthy);
}

#[test]
fn errors_of_a_bridge_above_a_gpu_count() {
    let above = |when: When, bridge: &str| {
        judged(
            with(|report| {
                let path = json!([{ "address": "0000:3c:00.0" }, { "address": bridge }]);
                gpu_fact(report, 1, "pci.path", path);
                log(
                    report,
                    when,
                    "pcieport 0000:3a:01.0: AER: Corrected error received: 0000:3a:01.0",
                );
            }),
            0,
        )
    };
    let verdict = above(When::During, "0000:3a:01.0");
    assert_eq!(verdict.cause.as_deref(), Some(cause::PCIE_ERRORS), "{verdict:?}");
    assert_eq!(above(When::Before, "0000:3a:01.0").verdict, Verdict::Healthy);
    assert_eq!(above(When::During, "0000:3b:01.0").verdict, Verdict::Healthy);
}

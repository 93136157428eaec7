//! What looks like a row and is not.

use serde_json::json;

use super::*;
use crate::report::{Gap, GapKind, ReasonCode};

const PAGE_FAULT: &str = "DMAR: [DMA Write NO_PASID] Request device [3b:00.0] fault addr 0x1";

#[test]
fn overwritten_guards_are_no_private_mirror() {
    let report = with(|report| {
        wrong(report, "copy_push", false, Some(true));
        of(report, "copy_push").mismatch.as_mut().unwrap().in_guard = true;
    });
    assert_cause(report, cause::DATA_MISMATCH);
}

#[test]
fn lines_before_the_run_or_about_other_devices_are_no_evidence() {
    for (when, line) in [
        (When::Before, "NVRM: Xid (PCI:0000:3b:00): 79, x"),
        (When::Unrecognised, "NVRM: Xid (PCI:0000:3b:00): 79, x"),
        (When::During, "NVRM: Xid (PCI:0000:3d:00): 79, x"),
        (When::During, "NVRM: Xid (PCI:0000:3b:00): 31, x"),
        (
            When::During,
            "DMAR: [DMA Read] Request device [3d:00.0] fault addr 0x1",
        ),
    ] {
        let report = with(|report| log(report, when, line));
        assert_eq!(judged(report, 0).verdict, Verdict::Healthy, "{line}");
    }
}

#[test]
fn iommu_and_acs_explain_nothing_where_nvlink_carries_the_data() {
    let report = with(|report| {
        wrong(report, "copy_push", true, Some(false));
        pair_fact(report, "acs.redirecting_bridges", json!(["0000:3a:00.0"]));
        host_fact(report, "iommu.mode", "translating");
        log(report, When::During, PAGE_FAULT);
        report.pairs[0].nvlinks = Fact::read(4, "nvml");
    });
    assert_cause(report, cause::WRITES_DROPPED);
}

#[test]
fn acs_without_translation_and_translation_without_loss_explain_nothing() {
    let passthrough = with(|report| {
        wrong(report, "copy_push", true, Some(false));
        pair_fact(report, "acs.redirecting_bridges", json!(["0000:3a:00.0"]));
        host_fact(report, "iommu.mode", "passthrough");
    });
    assert_cause(passthrough, cause::WRITES_DROPPED);
    let translated = with(|report| {
        wrong(report, "copy_push", true, Some(false));
        pair_fact(report, "acs.redirecting_bridges", json!([]));
        host_fact(report, "iommu.mode", "translating");
    });
    assert_cause(translated, cause::IOMMU_TRANSLATION);
    let works = with(|report| {
        pair_fact(report, "acs.redirecting_bridges", json!(["0000:3a:00.0"]));
        host_fact(report, "iommu.mode", "translating");
    });
    assert_eq!(judged(works, 0).verdict, Verdict::Healthy);
    let identity = with(|report| {
        wrong(report, "copy_push", true, Some(false));
        host_fact(report, "iommu.mode", "mixed");
        gpu_fact(report, 0, "iommu.group_type", "identity");
    });
    assert_cause(identity, cause::WRITES_DROPPED);
}

/// GPU 0 is in two pairs, of which one fails: the fault is that one's.
#[test]
fn a_page_fault_belongs_to_the_pair_that_fails() {
    let mut report = healthy(3);
    log(&mut report, When::During, PAGE_FAULT);
    assert_eq!(
        judged(report.clone(), 1).cause.as_deref(),
        Some(cause::IO_PAGE_FAULT_SEEN)
    );
    assert_eq!(judged(report.clone(), 2).verdict, Verdict::Healthy);
    wrong(&mut report, "copy_push", true, None);
    assert_cause(report.clone(), cause::IO_PAGE_FAULT);
    assert_eq!(judged(report, 1).verdict, Verdict::Healthy);
}

#[test]
fn each_kind_of_evidence_for_a_broken_gpu_counts() {
    type Case = (&'static str, fn(&mut Report));
    let cases: [Case; 8] = [
        (cause::ECC_ERROR, |report| {
            log(report, When::During, "NVRM: Xid (PCI:0000:3c:00): 94, Contained");
        }),
        (cause::ECC_ERROR, |report| {
            gpu_fact(report, 0, "during.ecc.volatile_uncorrected", 1);
        }),
        (cause::NVLINK_ERROR, |report| {
            log(
                report,
                When::During,
                "NVRM: Xid (PCI:0000:3c:00): 74, NVLink: fatal",
            );
        }),
        (cause::ECC_ERROR, |report| {
            log(report, When::During, "NVRM: Xid (PCI:0000:3c:00): 140, ECC");
        }),
        (cause::NVLINK_ERROR, |report| {
            log(
                report,
                When::During,
                "NVRM: Xid (PCI:0000:3c:00): 146, TLW_RX/TLW_RX_PIPE0 Fatal XC0 i0 Link 00",
            );
        }),
        (cause::NVLINK_ERROR, |report| {
            report.pairs[0].nvswitch = Fact::read(true, "nvml");
            log(
                report,
                When::During,
                "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 3",
            );
        }),
        (cause::GPU_LOST, |report| {
            ends(report, "copy_push", Outcome::Inconclusive, Some(46));
            let gap = Gap::new(GapKind::Failed, "x").coded(ReasonCode::GpuLost);
            let lost = Fact::without(gap, "nvml");
            report.gpus[1].facts.insert("temperature.gpu_c".to_owned(), lost);
        }),
        (cause::GPU_LOST, |report| {
            log(report, When::During, "NVRM: Xid (PCI:0000:3b:00): 79, x");
        }),
    ];
    for (cause, change) in cases {
        assert_cause(with(change), cause);
    }
}

#[test]
fn a_few_corrected_errors_and_switches_elsewhere_are_no_fault() {
    let cases: [fn(&mut Report); 5] = [
        |report| {
            report.pairs[0].nvlinks = Fact::read(4, "nvml");
            gpu_fact(report, 1, "during.nvlink.crc_errors", 100);
            gpu_fact(report, 1, "during.nvlink.replay_errors", 0);
        },
        |report| gpu_fact(report, 1, "during.nvlink.replay_errors", 1),
        |report| {
            let line = "NVRM: Xid (PCI:0000:3c:00): 144, SAW_MVB Nonfatal XC0 i0 Link 0";
            log(report, When::During, line);
        },
        |report| gpu_fact(report, 1, "during.ecc.volatile_corrected", 5),
        |report| {
            log(
                report,
                When::During,
                "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 3",
            );
        },
    ];
    for change in cases {
        assert_eq!(judged(with(change), 0).verdict, Verdict::Healthy);
    }
}

#[test]
fn a_refusal_is_explained_by_nvml_only_where_no_nvlink_joins_the_two() {
    let linked = |links: Fact<u32>, switch: Fact<bool>| {
        with(|report| {
            refuse(report, P2pStatus::Gns);
            report.pairs[0].nvlinks = links;
            report.pairs[0].nvswitch = switch;
        })
    };
    assert_cause(
        linked(Fact::read(4, "nvml"), Fact::read(false, "nvml")),
        cause::REFUSED_CAUSE_UNKNOWN,
    );
    let gap = || crate::report::GapKind::NotSupported;
    assert_cause(
        linked(
            Fact::missing(gap(), "no NVML", "nvml"),
            Fact::missing(gap(), "no NVML", "nvml"),
        ),
        cause::REFUSED_BY_POLICY,
    );
    let switched = with(|report| {
        refuse(report, P2pStatus::Ns);
        report.pairs[0].nvlinks = Fact::read(18, "nvml");
        report.pairs[0].nvswitch = Fact::read(true, "nvml");
    });
    assert_cause(switched.clone(), cause::FABRIC_NOT_READY);
    let mut completed = switched;
    gpu_fact(&mut completed, 0, "fabric.state", "completed");
    assert_cause(completed.clone(), cause::REFUSED_CAUSE_UNKNOWN);
    gpu_fact(&mut completed, 0, "fabric.status", "not_ready");
    assert_cause(completed, cause::FABRIC_NOT_READY);
}

#[test]
fn timings_that_are_as_they_should_be_are_no_cause() {
    let quick: [fn(&mut Report); 3] = [
        // The least that healthy peer access over PCIe gains, and the noise around it.
        |report| {
            timings(report, false, |_, _| 22.0);
            timings(report, true, |_, _| 21.0);
        },
        // Too few samples.
        |report| {
            timings(report, true, |from, _| [26.0, 13.0][from as usize]);
            for cell in &mut report.measurements[0].cells {
                cell.samples.truncate(2);
            }
        },
        // Within what PCIe's topology makes.
        |report| timings(report, true, |from, _| [53.0, 39.0][from as usize]),
    ];
    for change in quick {
        assert_eq!(judged(with(change), 0).verdict, Verdict::Healthy);
    }
}

#[test]
fn pairs_joined_otherwise_are_no_measure() {
    let mut report = healthy(4);
    timings(&mut report, true, |from, to| {
        if (from.min(to), from.max(to)) == (0, 1) {
            100.0
        } else {
            390.0
        }
    });
    for pair in &mut report.pairs[1..] {
        pair.nvlinks = Fact::read(12, "nvml");
    }
    assert_eq!(judged(report, 0).verdict, Verdict::Healthy);
}

#[test]
fn links_are_judged_by_what_the_board_should_have() {
    let report = with(|report| {
        gpu_fact(report, 0, "nvlink.links", 4);
        gpu_fact(report, 0, "nvlink.links_active", 0);
    });
    assert_eq!(
        judged(report, 0).verdict,
        Verdict::Healthy,
        "a model without its bridge"
    );
    let mut bridgeable = with(|report| {
        gpu_fact(report, 0, "nvlink.links_expected", 4);
        gpu_fact(report, 0, "nvlink.links_active", 0);
    });
    assert_eq!(judged(bridgeable.clone(), 0).verdict, Verdict::Healthy);
    gpu_fact(&mut bridgeable, 1, "nvlink.links_to_switch", 18);
    assert_cause(bridgeable, cause::LINKS_DOWN);
}

#[test]
fn idle_links_and_narrow_slots_are_not_degraded() {
    let end = |address: &str, width: (u32, u32), generation: (u32, u32)| {
        json!({ "address": address, "link_width": width.0, "link_width_max": width.1,
                "link_generation": generation.0, "link_generation_max": generation.1 })
    };
    let judge_path = |path: Value| judged(with(|report| gpu_fact(report, 0, "pci.path", path)), 0);
    // The slot has eight lanes, and the idle GPU has lowered its link's rate.
    let fine = json!([
        end("0000:3b:00.0", (8, 16), (1, 4)),
        end("0000:3a:00.0", (8, 8), (1, 4)),
        end("0000:39:00.0", (16, 16), (4, 4)),
        end("0000:38:00.0", (16, 16), (4, 5)),
    ]);
    assert_eq!(judge_path(fine).verdict, Verdict::Healthy);
    // The switch's own link has no reason to be slow.
    let slow = json!([
        end("0000:3b:00.0", (16, 16), (4, 4)),
        end("0000:3a:00.0", (16, 16), (4, 4)),
        end("0000:39:00.0", (16, 16), (3, 4)),
        end("0000:38:00.0", (16, 16), (3, 5)),
    ]);
    let verdict = judge_path(slow);
    assert!(
        verdict
            .reason
            .contains("0000:39:00.0 runs at PCIe generation 3 of 4"),
        "{verdict:?}"
    );
}

#[test]
fn what_was_seen_beside_the_cause_is_told() {
    let verdict = assert_cause(
        with(|report| {
            wrong(report, "copy_push", true, None);
            gpu_fact(report, 0, "nvlink.links_expected", 4);
            gpu_fact(report, 0, "nvlink.links_active", 2);
        }),
        cause::WRITES_DROPPED,
    );
    assert!(
        verdict.reason.ends_with("seen beside it: links_down"),
        "{verdict:?}"
    );
    assert_eq!(
        verdict.evidence.last().unwrap(),
        "/gpus/0/facts/nvlink.links_expected"
    );
}

#[test]
fn the_fix_for_acs_names_the_bridges() {
    let verdict = judged(
        with(|report| {
            wrong(report, "copy_push", true, None);
            pair_fact(
                report,
                "acs.redirecting_bridges",
                json!(["0000:3a:00.0", "0000:3a:01.0"]),
            );
            pair_fact(report, "pcie.same_switch", true);
            host_fact(report, "iommu.mode", "translating");
        }),
        0,
    );
    let fix = verdict.fix.unwrap();
    for bridge in [
        "setpci -s 0000:3a:00.0 ECAP_ACS+6.w=0000",
        "setpci -s 0000:3a:01.0",
    ] {
        assert!(fix.contains(bridge), "{fix}");
    }
}

/// Somebody else computes: neither timings nor windows over all of the memory say anything.
#[test]
fn a_busy_gpu_is_neither_slow_nor_healthy() {
    let report = with(|report| {
        timings(report, false, |_, _| 22.0);
        timings(report, true, |_, _| 9.9);
        gpu_fact(report, 1, "shared", true);
    });
    let verdict = assert_cause(report, cause::GPU_BUSY);
    assert!(!verdict.reason.contains("beside"), "{verdict:?}");
}

/// The other's work goes first: what does not end there in time is not broken by that.
#[test]
fn a_hang_on_a_gpu_that_somebody_else_uses_is_no_fault() {
    for check in ["copy_push", "resident_exchange"] {
        let verdict = assert_cause(
            with(|report| {
                ends(report, check, Outcome::Hang, None);
                gpu_fact(report, 1, "shared", true);
            }),
            cause::GPU_BUSY,
        );
        assert_eq!(verdict.verdict, Verdict::Unknown);
        assert!(verdict.reason.contains("somebody else"), "{verdict:?}");
        let alone = with(|report| {
            ends(report, check, Outcome::Hang, None);
            gpu_fact(report, 1, "shared", false);
        });
        assert_eq!(judged(alone, 0).verdict, Verdict::Broken);
    }
}

#[test]
fn shares_differ_by_what_joins_the_pair() {
    let three_quarters = |links: u32| {
        with(|report| {
            timings(report, true, |from, _| [100.0, 75.0][from as usize]);
            report.pairs[0].nvlinks = Fact::read(links, "nvml");
        })
    };
    assert_cause(three_quarters(4), cause::SLOW_DIRECTION);
    assert_eq!(judged(three_quarters(0), 0).verdict, Verdict::Healthy);
}

#[test]
fn nvml_tells_a_narrow_link_too() {
    let report = with(|report| {
        gpu_fact(report, 1, "pcie.link_width", 8);
        gpu_fact(report, 1, "pcie.link_width_max", 16);
    });
    assert_cause(report, cause::PCIE_LINK_DEGRADED);
}

//! One case for each row: the cause, its verdict, record and fix, and evidence that leads somewhere.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;

type Case = (&'static str, fn(&mut Report));

const XID: &str = "NVRM: Xid (PCI:0000:3c:00): ";
const PAGE_FAULT: &str =
    "AMD-Vi: Event logged [IO_PAGE_FAULT device=3b:00.0 domain=0x001a address=0x1 flags=0x0020]";

const CASES: &[Case] = &[
    (cause::GPU_LOST, |report| {
        ends(report, "copy_push", Outcome::Fail, Some(719));
        log(
            report,
            When::During,
            &format!("{XID}79, GPU has fallen off the bus."),
        );
    }),
    (cause::ECC_ERROR, |report| {
        ends(report, "copy_push", Outcome::Fail, Some(214));
    }),
    (cause::NVLINK_ERROR, |report| {
        ends(report, "sm_store", Outcome::Fail, Some(220));
    }),
    (cause::IPC_FAILS, |report| wrong(report, "ipc_legacy", true, None)),
    (cause::PRIVATE_MIRROR, |report| {
        wrong(report, "copy_push", true, Some(true));
    }),
    (cause::ACS_REDIRECT, |report| {
        wrong(report, "copy_push", true, Some(false));
        pair_fact(report, "acs.redirecting_bridges", json!(["0000:3a:00.0"]));
        pair_fact(report, "pcie.same_switch", true);
        host_fact(report, "iommu.mode", "translating");
        log(report, When::During, PAGE_FAULT);
    }),
    (cause::IO_PAGE_FAULT, |report| {
        wrong(report, "copy_push", true, Some(false));
        host_fact(report, "iommu.mode", "translating");
        log(report, When::During, PAGE_FAULT);
    }),
    (cause::IOMMU_TRANSLATION, |report| {
        ends(report, "resident_exchange", Outcome::Hang, None);
        host_fact(report, "iommu.mode", "mixed");
        gpu_fact(report, 1, "iommu.group_type", "DMA-FQ");
    }),
    (cause::WRITES_DROPPED, |report| {
        wrong(report, "copy_push", true, Some(false));
    }),
    (cause::DATA_MISMATCH, |report| {
        wrong(report, "copy_push", false, None);
    }),
    (cause::NCCL_PEER_ACCESS_FAILS, |report| {
        nccl(report, Outcome::Hang);
    }),
    (cause::VISIBLE_ONLY_AT_KERNEL_END, |report| {
        ends(report, "resident_exchange", Outcome::Hang, None);
    }),
    (cause::HANDSHAKE_HANG, |report| {
        ends(report, "resident_exchange", Outcome::Hang, None);
        ends(report, "sm_atomic", Outcome::Skipped, None);
    }),
    (cause::HANG, |report| {
        ends(report, "copy_pull", Outcome::Hang, None);
    }),
    (cause::PROCESS_DIES, |report| {
        ends(report, "copy_pull", Outcome::Fail, None);
    }),
    (cause::TOO_MANY_PEERS, |report| {
        ends(report, "enable_peer_access", Outcome::Fail, Some(711));
    }),
    (cause::ENABLE_CONTRADICTS_QUERY, |report| {
        ends(report, "enable_peer_access", Outcome::Fail, Some(217));
    }),
    (cause::MAP_FAILED, |report| {
        ends(report, "enable_peer_access", Outcome::Fail, Some(205));
        gpu_fact(report, 0, "bar1.total_bytes", 256 << 20);
    }),
    (cause::ENABLE_FAILS, |report| {
        ends(report, "enable_peer_access", Outcome::Fail, Some(9999));
    }),
    (cause::ACCESS_FAILS, |report| {
        ends(report, "sm_load", Outcome::Fail, Some(700));
    }),
    (cause::ONE_DIRECTION_ONLY, |report| {
        report.pairs[0].directions[0].can_access_peer = Fact::read(false, "cuDeviceCanAccessPeer");
    }),
    (cause::MIG_ENABLED, |report| {
        refuse(report, P2pStatus::Ns);
        gpu_fact(report, 1, "mig.mode", "enabled");
    }),
    (cause::CONFIDENTIAL_COMPUTING, |report| {
        refuse(report, P2pStatus::Ns);
        gpu_fact(report, 1, "confidential_compute.mode", "on");
    }),
    (cause::FABRIC_NOT_READY, |report| {
        refuse(report, P2pStatus::Ns);
        gpu_fact(report, 0, "fabric.state", "in_progress");
        host_fact(report, "fabric_manager.service", "inactive");
    }),
    (cause::REFUSED_BY_REGISTRY, |report| {
        refuse(report, P2pStatus::Dr);
        host_fact(report, "driver.registry_dwords", "ForceP2P=0");
    }),
    (cause::REFUSED_BY_POLICY, |report| refuse(report, P2pStatus::Gns)),
    (cause::REFUSED_BY_CHIPSET, |report| refuse(report, P2pStatus::Cns)),
    (cause::REFUSED_BY_TOPOLOGY, |report| {
        refuse(report, P2pStatus::Tns);
    }),
    (cause::MIXED_MODELS, |report| {
        refuse(report, P2pStatus::Ns);
        report.gpus[1].name = Fact::read("NVIDIA L4".to_owned(), "cuda");
    }),
    (cause::REFUSED_NOT_SUPPORTED, |report| {
        refuse(report, P2pStatus::Ns);
    }),
    (cause::REFUSED_CAUSE_UNKNOWN, |report| {
        refuse(report, P2pStatus::U);
    }),
    (cause::EXCLUSIVE_MODE, |report| {
        ends(report, "ipc_legacy", Outcome::Inconclusive, Some(46));
        gpu_fact(report, 0, "compute.mode", "default");
        gpu_fact(report, 1, "compute.mode", "exclusive_process");
    }),
    (cause::MEMORY_FULL, |report| {
        ends(report, "copy_push", Outcome::Inconclusive, Some(2));
    }),
    (cause::GPU_BUSY, |report| {
        ends(report, "copy_push", Outcome::Inconclusive, Some(46));
        gpu_fact(report, 0, "compute.mode", "default");
        gpu_fact(report, 0, "shared", true);
    }),
    (cause::SYSTEM_NOT_READY, |report| {
        ends(report, "copy_push", Outcome::Inconclusive, Some(802));
    }),
    (cause::JIT_MISSING, |report| {
        ends(report, "sm_store", Outcome::Skipped, Some(221));
    }),
    (cause::PTX_TOO_NEW, |report| {
        ends(report, "sm_store", Outcome::Skipped, None);
        of(report, "sm_store").earlier_code = Some(222);
    }),
    (cause::INCONCLUSIVE, |report| {
        ends(report, "copy_push", Outcome::NotVisible, None);
    }),
    (cause::NOT_ASKED, |report| {
        let gap = crate::report::GapKind::Failed;
        report.pairs[0].directions[1].can_access_peer =
            Fact::missing(gap, "it hung", "cuDeviceCanAccessPeer");
    }),
    (cause::NOT_PROVEN, |report| {
        ends(report, "sm_load", Outcome::Skipped, None);
    }),
    (cause::GPU_NEEDS_SERVICE, |report| {
        gpu_fact(report, 1, "recovery.action", "drain_and_reset");
    }),
    (cause::FABRIC_UNHEALTHY, |report| {
        gpu_fact(report, 1, "fabric.health", json!(["degraded_bandwidth"]));
    }),
    (cause::PCIE_ERRORS, |report| {
        gpu_fact(report, 1, "during.pci.aer_nonfatal", 2);
    }),
    (cause::FAILS_ONLY_TOGETHER, |report| {
        ends(report, "copy_pull", Outcome::PassAlone, Some(2));
    }),
    (cause::SLOWER_WITH_PEER_ACCESS, |report| {
        timings(report, false, |_, _| 22.0);
        timings(report, true, |_, _| 9.9);
    }),
    (cause::LINKS_DOWN, |report| {
        for gpu in 0..2 {
            gpu_fact(report, gpu, "nvlink.links_expected", 18);
            gpu_fact(report, gpu, "nvlink.links_active", 9);
        }
    }),
    (cause::NVLINK_CORRECTED_ERRORS, |report| {
        report.pairs[0].nvlinks = Fact::read(4, "nvml");
        gpu_fact(report, 0, "during.nvlink.recovery_errors", 1);
    }),
    (cause::IO_PAGE_FAULT_SEEN, |report| {
        log(report, When::During, PAGE_FAULT);
    }),
    (cause::SLOW_DIRECTION, |report| {
        timings(report, true, |from, _| [26.0, 13.0][from as usize]);
    }),
    (cause::PCIE_LINK_DEGRADED, |report| {
        let end = |address: &str, width: u32| {
            json!({ "address": address, "link_width": width, "link_width_max": 16,
                    "link_generation": 4, "link_generation_max": 4 })
        };
        let path = json!([end("0000:3b:00.0", 8), end("0000:3a:00.0", 8)]);
        gpu_fact(report, 0, "pci.path", path);
    }),
    (cause::BELOW_NOMINAL, |report| {
        bench::copies(report, Engine::Ce, Operation::Push, |_, _| 25.0);
        bench::nominal(report, 56.0);
    }),
    (cause::PUSH_AND_PULL_APART, |report| {
        bench::linked(report);
        bench::copies(report, Engine::Ce, Operation::Push, |_, _| 390.0);
        bench::copies(report, Engine::Ce, Operation::Pull, |_, _| 320.0);
    }),
    (cause::KERNELS_SLOW, |report| {
        bench::linked(report);
        bench::copies(report, Engine::Ce, Operation::Pull, |_, _| 390.0);
        bench::copies(report, Engine::Sm, Operation::Pull, |_, _| 200.0);
    }),
    (cause::SLOWED_BY_OTHERS, |report| {
        bench::measured(report, "d2d_bandwidth_alone", 50.0);
        bench::measured(report, "d2d_bandwidth_beside_others", 30.0);
    }),
];

#[test]
fn each_row_names_its_cause() {
    for (cause, change) in CASES {
        let verdict = assert_cause(with(change), cause);
        let row = table().find(|row| row.cause == *cause).unwrap();
        assert_eq!(verdict.verdict, row.verdict, "{cause}");
        let record = verdict.record.as_ref().map(crate::ids::RecordId::as_str);
        assert_eq!(record, row.record, "{cause}");
        assert!(verdict.fix.is_some() && !verdict.reason.is_empty(), "{cause}");
        assert_eq!(verdict.verdict.exit_code(), ExitCode::of(row.verdict).number());
    }
}

/// Pairs are compared with pairs, which takes more than two GPUs.
#[test]
fn a_pair_slower_than_those_joined_alike_is_named() {
    let mut report = healthy(4);
    timings(&mut report, true, |from, to| {
        if (from.min(to), from.max(to)) == (0, 1) {
            100.0
        } else {
            390.0
        }
    });
    let verdict = assert_cause(report.clone(), cause::SLOW_PAIR);
    assert!(
        verdict.reason.contains("26 %") && verdict.reason.contains("10 directions"),
        "{verdict:?}"
    );
    assert_eq!(judged(report, 1).verdict, Verdict::Healthy);
}

/// One direction below what the others reach, and the way back slow too, but not enough to show it.
#[test]
fn a_direction_slower_than_those_joined_alike_is_named() {
    let mut report = healthy(4);
    timings(&mut report, true, |from, to| match (from, to) {
        (0, 1) => 65.0,
        (1, 0) => 80.0,
        _ => 100.0,
    });
    let verdict = assert_cause(report.clone(), cause::SLOW_DIRECTION);
    assert!(
        verdict.reason.contains("65 %") && verdict.reason.contains("joined alike"),
        "{verdict:?}"
    );
    assert_eq!(judged(report, 1).verdict, Verdict::Healthy);
}

#[test]
fn every_row_has_a_case() {
    let cases = CASES.iter().map(|(cause, _)| *cause).chain([cause::SLOW_PAIR]);
    let rows = super::rows_of_pair();
    assert_eq!(cases.collect::<BTreeSet<_>>(), rows.iter().copied().collect());
}

#[test]
fn rows_stand_worst_first_and_once() {
    let verdicts: Vec<Verdict> = super::super::rows::of_pair()
        .map(|row| row.named.verdict)
        .collect();
    assert!(verdicts.is_sorted_by(|left, right| left >= right), "{verdicts:?}");
    let rows = super::rows_of_pair();
    assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), rows.len());
}

#[test]
fn texts_are_sentences_and_ids_are_ids() {
    for row in table() {
        for text in [row.means, row.fix] {
            assert!(
                text.ends_with('.') && !text.contains("  "),
                "{}: {text}",
                row.cause
            );
        }
        if let Some(record) = row.record {
            record.parse::<crate::ids::RecordId>().unwrap();
        }
    }
}

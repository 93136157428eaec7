//! What the report says of each GPU, and of what changed on it while the checks ran.

mod counters;
mod fabric;

use fake_gpu::Scenario;
use fake_gpu::scenario::{Change, ComputeMode, Condition, ConfidentialCompute, Ecc, Process, RemappedRows};
use kb_core::report::{Fact, GapKind, Gpu, Report};
use serde_json::{Value, json};

use crate::node::Node;

/// GPU 0 of two, after a run with this change to the scenario.
fn gpu_with(change: impl FnOnce(&mut Scenario)) -> Gpu {
    report_with(change).gpus.swap_remove(0)
}

fn report_with(change: impl FnOnce(&mut Scenario)) -> Report {
    let mut scenario = Scenario::healthy(2);
    change(&mut scenario);
    Node::with(&scenario).probe(&[]).0
}

/// The same with a change to the condition of GPU 0.
fn gpu_in(change: impl FnOnce(&mut Condition)) -> Gpu {
    gpu_with(|scenario| change(&mut scenario.gpus[0].condition))
}

/// GPU 0, whose condition changes once the first kernel has been launched.
fn gpu_that_becomes(first: Condition, then: Condition) -> Gpu {
    gpu_with(|scenario| {
        scenario.gpus[0].condition = first;
        scenario.gpus[0].changes = vec![Change {
            after_call: "cuLaunchKernel".into(),
            times: 1,
            condition: then,
        }];
    })
}

fn fact<'a>(gpu: &'a Gpu, name: &str) -> &'a Fact {
    let fact = gpu.facts.get(name);
    fact.unwrap_or_else(|| panic!("no fact {name} among {:?}", gpu.facts.keys()))
}

fn value(gpu: &Gpu, name: &str) -> Value {
    let fact = fact(gpu, name);
    let value = fact.value.clone();
    value.unwrap_or_else(|| panic!("{name}: {fact:?}"))
}

/// Kind and reason of a gap.
fn gap(gpu: &Gpu, name: &str) -> (GapKind, String) {
    let fact = fact(gpu, name);
    let gap = fact.gap.clone();
    let gap = gap.unwrap_or_else(|| panic!("{name}: {fact:?}"));
    (gap.kind, gap.reason)
}

/// Figures of the sample of a machine with two H200, as far as it states them.
#[test]
fn a_healthy_pair_tells_everything() {
    let report = report_with(|_| {});
    for gpu in &report.gpus {
        for (name, expected) in [
            ("brand", json!("nvidia")),
            ("gsp.version", json!("580.159.04")),
            ("nvlink.links", json!(18)),
            ("nvlink.links_active", json!(18)),
            ("nvlink.links_to_switch", json!(18)),
            ("nvlink.links_expected", json!(18)),
            ("nvlink.version", json!("4.0")),
            ("nvlink.speed_mb_s", json!(26_562)),
            ("nvlink.crc_errors", json!(0)),
            ("nvlink.replay_errors", json!(0)),
            ("nvlink.recovery_errors", json!(0)),
            ("fabric.state", json!("completed")),
            ("fabric.status", json!("success")),
            ("fabric.clique_id", json!(0)),
            (
                "fabric.cluster_uuid",
                json!("00000000-0000-0000-0000-000000000000"),
            ),
            ("mig.mode", json!("disabled")),
            ("compute.mode", json!("default")),
            ("persistence.mode", json!("enabled")),
            ("confidential_compute.mode", json!("off")),
            ("ecc.mode", json!("enabled")),
            ("ecc.volatile_uncorrected", json!(0)),
            ("ecc.volatile_corrected", json!(0)),
            ("ecc.aggregate_uncorrected", json!(0)),
            ("ecc.sram_uncorrected", json!(0)),
            ("ecc.sram_threshold_exceeded", json!(false)),
            ("remapped_rows.corrected", json!(0)),
            ("remapped_rows.uncorrected", json!(0)),
            ("remapped_rows.pending", json!(false)),
            ("remapped_rows.failure", json!(false)),
            ("recovery.action", json!("none")),
            ("clock.sm_mhz", json!(1980)),
            ("clock.memory_mhz", json!(3201)),
            ("temperature.gpu_c", json!(33)),
            ("power.draw_w", json!(111.0)),
            ("power.limit_w", json!(700.0)),
            ("throttle.reasons", json!([])),
            ("pcie.link_generation", json!(5)),
            ("pcie.link_generation_max", json!(5)),
            ("pcie.gpu_generation_max", json!(5)),
            ("pcie.link_width", json!(16)),
            ("pcie.link_width_max", json!(16)),
            ("pcie.replays", json!(0)),
            ("bar1.total_bytes", json!(262_144_u64 << 20)),
            ("bar1.used_bytes", json!(1 << 20)),
            ("memory.free_bytes", json!(143_771_u64 << 20)),
            ("memory.used_bytes", json!(0)),
            ("processes.count", json!(0)),
            ("utilization.gpu_percent", json!(0)),
            ("load.read_after_copies", json!(true)),
        ] {
            assert_eq!(value(gpu, name), expected, "{name}");
        }
        let of_nvml = || {
            gpu.facts
                .iter()
                .filter(|(_, fact)| fact.source.starts_with("nvml"))
        };
        let counted = of_nvml().filter(|(name, _)| name.starts_with("during."));
        let rises: Vec<_> = counted.map(|(_, fact)| fact.value.clone()).collect();
        assert_eq!(rises, vec![Some(json!(0)); 10]);
        // All that a healthy H200 does not tell: it is no NUMA node of its own, and knows no health of the fabric.
        assert_eq!(gap(gpu, "numa.node").0, GapKind::NotSupported);
        assert_eq!(gap(gpu, "fabric.health").0, GapKind::NotSupported);
        let gaps = of_nvml().filter(|(_, fact)| fact.gap.is_some());
        assert_eq!(gaps.count(), 2);
    }
}

#[test]
fn a_geforce_has_reasons_for_what_it_lacks() {
    let report = Node::with(&Scenario::refused_gns()).probe(&[]).0;
    let gpu = &report.gpus[0];
    assert_eq!(value(gpu, "brand"), "geforce");
    assert_eq!(value(gpu, "nvlink.links"), 0);
    assert_eq!(value(gpu, "nvlink.links_expected"), 0);
    assert_eq!(value(gpu, "fabric.state"), "not_supported");
    for name in [
        "nvlink.crc_errors",
        "nvlink.version",
        "nvlink.speed_mb_s",
        "fabric.status",
        "fabric.health",
        "mig.mode",
        "ecc.mode",
        "ecc.volatile_uncorrected",
        "ecc.sram_uncorrected",
        "remapped_rows.pending",
    ] {
        assert_eq!(gap(gpu, name).0, GapKind::NotSupported, "{name}");
    }
    let (kind, reason) = gap(gpu, "during.ecc.volatile_uncorrected");
    assert_eq!(kind, GapKind::NotSupported);
    assert!(reason.starts_with("before the run: "), "{reason}");
}

/// Symbols that came after driver 470 or so: every fact has an older source or a reason.
#[test]
fn an_old_driver_has_reasons_for_what_it_lacks() {
    let gpu = gpu_with(|scenario| {
        let newer = [
            "nvmlDeviceGetGpuFabricInfoV",
            "nvmlDeviceGetGpuFabricInfo",
            "nvmlSystemGetConfComputeSettings",
            "nvmlDeviceGetCurrentClocksEventReasons",
            "nvmlDeviceGetSramEccErrorStatus",
            "nvmlDeviceGetGpuMaxPcieLinkGeneration",
            "nvmlDeviceGetComputeRunningProcesses_v3",
            "nvmlDeviceGetMemoryInfo_v2",
            "nvmlDeviceGetFieldValues",
        ];
        scenario.absent.symbols.extend(newer.map(str::to_owned));
        scenario.gpus[0].processes = vec![Process {
            pid: 4_000_001,
            used_bytes: 0,
        }];
    });
    assert_eq!(value(&gpu, "confidential_compute.mode"), "off");
    assert_eq!(value(&gpu, "throttle.reasons"), json!([]));
    assert_eq!(value(&gpu, "nvlink.crc_errors"), 0);
    assert_eq!(
        fact(&gpu, "nvlink.crc_errors").source,
        "nvmlDeviceGetNvLinkErrorCounter"
    );
    assert_eq!(value(&gpu, "memory.free_bytes"), 143_771_u64 << 20);
    assert_eq!(fact(&gpu, "memory.free_bytes").source, "nvmlDeviceGetMemoryInfo");
    assert_eq!(value(&gpu, "processes.count"), 1);
    let source = &fact(&gpu, "processes.count").source;
    assert!(
        source.starts_with("nvmlDeviceGetComputeRunningProcesses_v2"),
        "{source}"
    );
    for (name, symbol) in [
        ("fabric.state", "nvmlDeviceGetGpuFabricInfoV"),
        ("ecc.sram_uncorrected", "nvmlDeviceGetSramEccErrorStatus"),
        ("pcie.gpu_generation_max", "nvmlDeviceGetGpuMaxPcieLinkGeneration"),
        ("recovery.action", "nvmlDeviceGetFieldValues"),
        ("nvlink.speed_mb_s", "nvmlDeviceGetFieldValues"),
    ] {
        let expected = format!("the driver's NVML has no {symbol}");
        assert_eq!(gap(&gpu, name), (GapKind::NotSupported, expected), "{name}");
    }
}

#[test]
fn modes_that_an_operator_sets() {
    let gpu = gpu_with(|scenario| {
        let gpu = &mut scenario.gpus[0];
        gpu.mig = Some(true);
        gpu.persistence = false;
        gpu.compute_mode = ComputeMode::ExclusiveProcess;
        gpu.condition.confidential_compute = ConfidentialCompute {
            feature: true,
            multi_gpu: 0,
        };
        gpu.condition.ecc.on = Some(false);
    });
    assert_eq!(value(&gpu, "mig.mode"), "enabled");
    assert_eq!(value(&gpu, "persistence.mode"), "disabled");
    assert_eq!(value(&gpu, "compute.mode"), "exclusive_process");
    assert_eq!(value(&gpu, "confidential_compute.mode"), "on");
    assert_eq!(value(&gpu, "ecc.mode"), "disabled");
    assert_eq!(gap(&gpu, "ecc.volatile_uncorrected").0, GapKind::NotSupported);

    let gpu = gpu_with(|scenario| {
        scenario.gpus[0].compute_mode = ComputeMode::ExclusiveThread;
        scenario.gpus[1].condition.confidential_compute = ConfidentialCompute {
            feature: false,
            multi_gpu: 1,
        };
    });
    assert_eq!(value(&gpu, "compute.mode"), "exclusive_thread");
    assert_eq!(value(&gpu, "confidential_compute.mode"), "protected_pcie");
}

#[test]
fn errors_and_repairs_that_were_there_before() {
    let gpu = gpu_in(|condition| {
        condition.ecc = Ecc {
            volatile_uncorrected: 2,
            aggregate_uncorrected: 6,
            sram_uncorrected: 3,
            sram_threshold_exceeded: true,
            ..Ecc::default()
        };
        condition.remapped_rows = RemappedRows {
            corrected: 1,
            uncorrected: 2,
            pending: true,
            failure: true,
        };
        condition.recovery_action = 3;
    });
    for (name, expected) in [
        ("ecc.volatile_uncorrected", json!(2)),
        ("ecc.aggregate_uncorrected", json!(6)),
        ("ecc.sram_uncorrected", json!(3)),
        ("ecc.sram_threshold_exceeded", json!(true)),
        ("remapped_rows.corrected", json!(1)),
        ("remapped_rows.uncorrected", json!(2)),
        ("remapped_rows.pending", json!(true)),
        ("remapped_rows.failure", json!(true)),
        ("recovery.action", json!("drain_p2p")),
        ("during.ecc.volatile_uncorrected", json!(0)),
    ] {
        assert_eq!(value(&gpu, name), expected, "{name}");
    }
    let newer = gpu_in(|condition| condition.recovery_action = 77);
    assert_eq!(value(&newer, "recovery.action"), "unrecognised (77)");
    let older = gpu_in(|condition| condition.not_supported.push("field 230".into()));
    assert_eq!(gap(&older, "recovery.action").0, GapKind::NotSupported);
}

#[test]
fn other_peoples_work_is_counted_and_our_own_is_not() {
    let gpu = gpu_with(|scenario| {
        scenario.gpus[0].processes = vec![
            Process {
                pid: 4_000_001,
                used_bytes: 5 << 30,
            },
            Process {
                pid: 4_000_002,
                used_bytes: 1 << 30,
            },
        ];
        scenario.gpus[0].condition.utilization = 97;
    });
    assert_eq!(value(&gpu, "processes.count"), 2);
    assert_eq!(value(&gpu, "utilization.gpu_percent"), 97);
    assert_eq!(value(&gpu, "memory.used_bytes"), 6_u64 << 30);
    assert_eq!(value(&gpu, "memory.free_bytes"), (143_771_u64 << 20) - (6 << 30));
}

/// More than the agent first makes room for.
#[test]
fn a_crowd_of_processes_is_counted_whole() {
    let gpu = gpu_with(|scenario| {
        let process = |number| Process {
            pid: 4_000_000 + number,
            used_bytes: 0,
        };
        scenario.gpus[0].processes = (0..200_u32).map(process).collect();
    });
    assert_eq!(value(&gpu, "processes.count"), 200);
}

#[test]
fn without_nvml_every_fact_says_so() {
    let report = report_with(|scenario| {
        scenario.absent.libraries.push(fake_gpu::scenario::Library::Nvml);
    });
    let gpu = &report.gpus[0];
    for name in [
        "ecc.mode",
        "nvlink.links_expected",
        "pcie.link_width",
        "during.pcie.replays",
    ] {
        let (kind, reason) = gap(gpu, name);
        assert_eq!(kind, GapKind::NotSupported, "{name}");
        assert!(reason.contains("NVML cannot be used"), "{name}: {reason}");
    }
}

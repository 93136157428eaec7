//! What the report says of each GPU, and of what changed on it while the checks ran.

use fake_gpu::Scenario;
use fake_gpu::scenario::{
    Bar1, Change, Clocks, ComputeMode, Condition, ConfidentialCompute, Ecc, Fabric, FabricState, LinkErrors,
    Pcie, Process, RemappedRows,
};
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

#[test]
fn counters_that_rise_give_their_rise() {
    let gpu = gpu_that_becomes(
        Condition {
            link_errors: vec![LinkErrors {
                link: 3,
                crc: 5,
                ..LinkErrors::default()
            }],
            ..Condition::default()
        },
        Condition {
            link_errors: vec![
                LinkErrors {
                    link: 3,
                    crc: 105,
                    replay: 2,
                    recovery: 1,
                },
                LinkErrors {
                    link: 17,
                    crc: 20,
                    ..LinkErrors::default()
                },
            ],
            ecc: Ecc {
                volatile_uncorrected: 1,
                volatile_corrected: 4,
                ..Ecc::default()
            },
            remapped_rows: RemappedRows {
                uncorrected: 1,
                pending: true,
                ..RemappedRows::default()
            },
            pcie: Pcie {
                replays: 9,
                ..Pcie::default()
            },
            ..Condition::default()
        },
    );
    assert_eq!(value(&gpu, "nvlink.crc_errors"), 5, "as it was before the run");
    for (name, rise) in [
        ("nvlink.crc_errors", 120),
        ("nvlink.replay_errors", 2),
        ("nvlink.recovery_errors", 1),
        ("ecc.volatile_uncorrected", 1),
        ("ecc.volatile_corrected", 4),
        ("remapped_rows.uncorrected", 1),
        ("remapped_rows.corrected", 0),
        ("remapped_rows.pending", 1),
        ("remapped_rows.failure", 0),
        ("pcie.replays", 9),
    ] {
        assert_eq!(value(&gpu, &format!("during.{name}")), rise, "{name}");
    }
}

#[test]
fn a_counter_that_goes_backwards_is_a_gap() {
    let with = |crc| Condition {
        link_errors: vec![LinkErrors {
            link: 0,
            crc,
            ..LinkErrors::default()
        }],
        ..Condition::default()
    };
    let gpu = gpu_that_becomes(with(8), with(2));
    let (kind, reason) = gap(&gpu, "during.nvlink.crc_errors");
    assert_eq!(kind, GapKind::Failed);
    assert!(reason.contains("went backwards, from 8 to 2"), "{reason}");
}

#[test]
fn a_gpu_that_is_lost_half_way_gives_gaps_and_the_run_goes_on() {
    let lost = Condition {
        lost: true,
        ..Condition::default()
    };
    let report = report_with(|scenario| {
        scenario.gpus[0].changes = vec![Change {
            after_call: "cuLaunchKernel".into(),
            times: 1,
            condition: lost,
        }];
    });
    let gpu = &report.gpus[0];
    for name in [
        "during.nvlink.crc_errors",
        "during.pcie.replays",
        "pcie.link_generation",
    ] {
        let (kind, reason) = gap(gpu, name);
        assert_eq!(kind, GapKind::Failed);
        assert!(
            reason.contains("the GPU is lost (NVML error 15)"),
            "{name}: {reason}"
        );
    }
    assert_eq!(value(gpu, "ecc.mode"), "enabled", "read while it was there");
    assert_eq!(value(&report.gpus[1], "during.pcie.replays"), 0);
    assert!(!report.pairs.is_empty());
}

/// NVLink 5 has other counters; what has no successor is a gap.
#[test]
fn counters_of_nvlink_5() {
    let gpu = gpu_in(|condition| {
        condition.link_errors = vec![LinkErrors {
            link: 1,
            crc: 3,
            replay: 2,
            recovery: 4,
        }];
        let removed = [
            "field 161",
            "field 162",
            "field 163",
            "nvmlDeviceGetNvLinkErrorCounter",
        ];
        condition.not_supported = removed.map(str::to_owned).to_vec();
    });
    assert_eq!(value(&gpu, "nvlink.recovery_errors"), 4);
    assert_eq!(gap(&gpu, "nvlink.crc_errors").0, GapKind::NotSupported);
    assert_eq!(gap(&gpu, "nvlink.replay_errors").0, GapKind::NotSupported);
}

#[test]
fn fabric_states() {
    let with = |fabric| {
        gpu_in(|condition| {
            condition.fabric = fabric;
        })
    };
    for (state, word) in [
        (FabricState::NotStarted, "not_started"),
        (FabricState::InProgress, "in_progress"),
        (FabricState::Other(9), "unrecognised (9)"),
    ] {
        let gpu = with(Fabric {
            state,
            status: 999,
            ..Fabric::default()
        });
        assert_eq!(value(&gpu, "fabric.state"), word);
        let (kind, reason) = gap(&gpu, "fabric.status");
        assert_eq!(kind, GapKind::NotVisible);
        assert!(reason.contains(&format!("it is {word}")), "{reason}");
    }
    let gpu = with(Fabric {
        status: 999,
        clique_id: 7,
        cluster_uuid: [0xfa; 16],
        health_mask: 1 | 4 << 8,
        health_summary: 2,
        ..Fabric::default()
    });
    assert_eq!(value(&gpu, "fabric.status"), "unknown_error");
    assert_eq!(value(&gpu, "fabric.clique_id"), 7);
    assert_eq!(
        value(&gpu, "fabric.cluster_uuid"),
        "fafafafa-fafa-fafa-fafa-fafafafafafa"
    );
    assert_eq!(
        value(&gpu, "fabric.health"),
        json!(["degraded_bandwidth", "no_partition", "unhealthy"])
    );
}

/// Each shape of the fabric's structure says as much as it can.
#[test]
fn fabric_on_older_drivers() {
    let second = gpu_in(|condition| {
        condition.fabric.newest_version = 2;
        condition.fabric.health_mask = 1;
        condition.fabric.health_summary = 3;
    });
    assert_eq!(value(&second, "fabric.state"), "completed");
    assert_eq!(
        value(&second, "fabric.health"),
        json!(["degraded_bandwidth"]),
        "the summary came with version 3"
    );
    let first = gpu_with(|scenario| scenario.absent.symbols.push("nvmlDeviceGetGpuFabricInfoV".into()));
    assert_eq!(value(&first, "fabric.state"), "completed");
    assert_eq!(fact(&first, "fabric.state").source, "nvmlDeviceGetGpuFabricInfo");
    assert_eq!(gap(&first, "fabric.health").0, GapKind::NotSupported);
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

/// An idle GPU lowers its PCIe generation; what counts is the reading after the copies.
#[test]
fn the_link_to_the_host_is_read_under_load() {
    let with = |generation, sm_mhz, event_reasons| Condition {
        pcie: Pcie {
            generation,
            width: 8,
            ..Pcie::default()
        },
        clocks: Clocks {
            sm_mhz,
            event_reasons,
            ..Clocks::default()
        },
        bar1: Bar1 {
            total: 256 << 20,
            used: 0,
        },
        ..Condition::default()
    };
    let gpu = gpu_that_becomes(with(1, 345, 1), with(5, 1200, 0b1000_0100));
    assert_eq!(value(&gpu, "pcie.link_generation"), 5);
    assert_eq!(
        fact(&gpu, "pcie.link_generation").source,
        "nvmlDeviceGetCurrPcieLinkGeneration, right after copies"
    );
    assert_eq!(value(&gpu, "pcie.link_width"), 8);
    assert_eq!(value(&gpu, "pcie.link_width_max"), 16);
    assert_eq!(value(&gpu, "clock.sm_mhz"), 1200);
    assert_eq!(
        value(&gpu, "throttle.reasons"),
        json!(["sw_power_cap", "hw_power_brake_slowdown"])
    );
    assert_eq!(value(&gpu, "bar1.total_bytes"), 256 << 20);

    // Where nothing was copied, the idle reading stays and the report says so.
    let mut refused = Scenario::refused_gns();
    refused.gpus[0].condition.pcie.generation = 1;
    let report = Node::with(&refused).probe(&[]).0;
    let gpu = &report.gpus[0];
    assert_eq!(value(gpu, "load.read_after_copies"), false);
    assert_eq!(value(gpu, "pcie.link_generation"), 1);
    assert!(fact(gpu, "pcie.link_generation").source.ends_with(", at rest"));
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
fn links_that_the_board_should_have() {
    // Half of them down: known, valid, not active.
    let gpu = gpu_with(|scenario| {
        let half = scenario.gpus[0].nvlinks.iter_mut().skip(9);
        half.for_each(|link| link.active = false);
    });
    assert_eq!(value(&gpu, "nvlink.links_active"), 9);
    assert_eq!(value(&gpu, "nvlink.links_expected"), 18);
    assert_eq!(
        fact(&gpu, "nvlink.links_expected").source,
        "nvmlDeviceGetNvLinkCapability"
    );

    // Not even known: another GPU of the same model tells.
    let gpu = gpu_with(|scenario| scenario.gpus[0].nvlinks.truncate(12));
    assert_eq!(value(&gpu, "nvlink.links"), 12);
    assert_eq!(value(&gpu, "nvlink.links_expected"), 18);
    assert_eq!(
        fact(&gpu, "nvlink.links_expected").source,
        "the most links of a GPU of the same model on this node"
    );

    // The driver does not tell what is valid: what it knows counts.
    let gpu = gpu_with(|scenario| {
        scenario.gpus[0].nvlinks[0].active = false;
        let call = "nvmlDeviceGetNvLinkCapability".to_owned();
        scenario.gpus[0].condition.not_supported.push(call);
    });
    assert_eq!(value(&gpu, "nvlink.links_expected"), 18);
    assert_eq!(
        fact(&gpu, "nvlink.links_expected").source,
        "nvmlDeviceGetNvLinkState"
    );

    // Down for good, on every board of this model.
    let gpu = gpu_with(|scenario| {
        for gpu in &mut scenario.gpus {
            let last = gpu.nvlinks.iter_mut().skip(12);
            last.for_each(|link| (link.active, link.valid) = (false, false));
        }
    });
    assert_eq!(value(&gpu, "nvlink.links"), 18);
    assert_eq!(value(&gpu, "nvlink.links_expected"), 12);

    // All down: a fault on NVSwitch, and perhaps no bridge fitted on other boards.
    let all_down = |state| {
        gpu_with(|scenario| {
            let links = scenario.gpus[0].nvlinks.iter_mut();
            links.for_each(|link| link.active = false);
            scenario.gpus[0].condition.fabric.state = state;
        })
    };
    let switched = all_down(FabricState::InProgress);
    assert_eq!(value(&switched, "nvlink.links_expected"), 18);
    let (kind, reason) = gap(&all_down(FabricState::NotSupported), "nvlink.links_expected");
    assert_eq!(kind, GapKind::NotVisible);
    assert!(reason.contains("bridge"), "{reason}");

    // One lane slow.
    let gpu = gpu_with(|scenario| scenario.gpus[0].nvlinks[4].speed_mb_s = 13_281);
    assert_eq!(value(&gpu, "nvlink.speed_mb_s"), 13_281);
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

//! What changed on a GPU while the checks ran, and what it is like under load.

use fake_gpu::Scenario;
use fake_gpu::scenario::{Bar1, Change, Clocks, Condition, Ecc, FabricState, LinkErrors, Pcie, RemappedRows};
use kb_core::report::GapKind;
use serde_json::json;

use crate::node::Node;

use super::{fact, gap, gpu_in, gpu_that_becomes, report_with, value};

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

/// A weak GPU gives in under load: what it says after the checks is what holds.
#[test]
fn a_state_that_turns_bad_during_the_run_is_a_fault() {
    type Turn = fn(&mut Condition);
    let turned: [(&str, Turn); 5] = [
        ("asks for a reboot", |condition| condition.recovery_action = 2),
        ("wait to be remapped", |condition| {
            condition.remapped_rows.pending = true;
        }),
        ("could not be remapped", |condition| {
            condition.remapped_rows.failure = true;
        }),
        ("SRAM", |condition| condition.ecc.sram_threshold_exceeded = true),
        ("fabric", |condition| {
            condition.fabric.state = FabricState::NotStarted;
        }),
    ];
    for (said, turn) in turned {
        let mut scenario = Scenario::healthy(2);
        let mut then = scenario.gpus[0].condition.clone();
        turn(&mut then);
        scenario.gpus[0].changes = vec![Change {
            after_call: "cuLaunchKernel".into(),
            times: 1,
            condition: then,
        }];
        let (_, run) = Node::with(&scenario).probe(&[]);
        assert_eq!(run.code, 2, "{said}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
}

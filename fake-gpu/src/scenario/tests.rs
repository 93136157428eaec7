//! Scenarios as files, and what is refused.

use super::{Access, CallEffect, CallFault, ComputeMode, Fate, MemoryFault, Route, Scenario, parse_pci};

fn builtin() -> Vec<Scenario> {
    vec![
        Scenario::healthy(0),
        Scenario::healthy(8),
        Scenario::refused_gns(),
        Scenario::one_direction_only(),
        Scenario::library_missing(),
        Scenario::writes_dropped(),
        Scenario::private_mirror(),
        Scenario::hang_in("cuInit"),
        Scenario::healthy_pcie(3),
        Scenario::refused_cns(),
        Scenario::refused_tns(),
        Scenario::refused_dr(),
        Scenario::refused_ns(),
        Scenario::refused_u(),
        Scenario::mixed_chips(),
        Scenario::mig(),
        Scenario::toolkit_stub(),
        Scenario::old_driver(),
        Scenario::not_yet_initialized(),
        Scenario::jit_missing(),
        Scenario::nvml_missing(),
        Scenario::exclusive_mode(),
        Scenario::busy_gpu(),
        Scenario::memory_full(),
        Scenario::other_order(),
        Scenario::handshake_hang(),
        Scenario::ipc_broken(),
        Scenario::corrupted_above(),
        Scenario::too_many_peers(),
        Scenario::refused_after_grant(),
        Scenario::map_failed(),
        Scenario::unknown_code(),
        Scenario::xid_in_window("/tmp/kmsg".as_ref(), 79, "GPU has fallen off the bus."),
        Scenario::slower_with_peer_access(),
        Scenario::half_the_links_down(),
        Scenario::one_lane_slow(),
        Scenario::ecc_error(),
        Scenario::link_errors_rise(),
        Scenario::fabric_not_ready(),
        Scenario::confidential_computing(),
        Scenario::gpu_lost(),
    ]
}

#[test]
fn every_builtin_scenario_is_sound_and_survives_its_file() {
    for scenario in builtin() {
        assert_eq!(scenario.check(), Ok(()), "{}", scenario.name);
        let text = serde_json::to_string(&scenario).unwrap();
        assert!(
            serde_json::from_str::<Scenario>(&text).unwrap() == scenario,
            "{}",
            scenario.name
        );
    }
}

#[test]
fn faults_are_written_by_hand_like_this() {
    let text = r#"{"initiator": 0, "owner": 1, "routes": ["sm", "ipc"], "accesses": ["store"], "range": [0, 4096],
        "fate": {"corrupted": {"xor": 1, "every": 4096, "at": 0}}}"#;
    let expected = MemoryFault {
        initiator: Some(0),
        owner: Some(1),
        routes: vec![Route::Sm, Route::Ipc],
        accesses: vec![Access::Store],
        range: Some((0, 4096)),
        fate: Fate::Corrupted {
            xor: 1,
            every: 4096,
            at: 0,
        },
    };
    assert_eq!(serde_json::from_str::<MemoryFault>(text).unwrap(), expected);
    let short = serde_json::from_str::<MemoryFault>(r#"{"fate": "private_mirror"}"#).unwrap();
    assert_eq!(short, MemoryFault::always(Fate::PrivateMirror));
    assert_eq!(
        serde_json::from_str::<CallEffect>(r#"{"return": 9999}"#).unwrap(),
        CallEffect::Return(9999)
    );
    assert!(
        serde_json::from_str::<MemoryFault>(r#"{"fate": "dropped", "gpu": 1}"#).is_err(),
        "unknown field"
    );
}

#[test]
fn contradictions_are_named() {
    let why = |change: fn(&mut Scenario)| {
        let mut scenario = Scenario::healthy(2);
        change(&mut scenario);
        scenario.check().unwrap_err()
    };
    assert_eq!(
        why(|s| s.cuda_order = vec![0, 0]),
        "cuda_order is no permutation of 0 to 2"
    );
    assert_eq!(
        why(|s| s
            .call_faults
            .push(CallFault::always("cuNothing", CallEffect::Hang))),
        "'cuNothing' is no function of the stand-in"
    );
    assert_eq!(
        why(|s| s.speed.direct = vec![vec![0.0; 2]; 2]),
        "a speed of 0 GB/s"
    );
    assert_eq!(
        why(|s| s.pairs.can_access[1].push(true)),
        "pairs.can_access is not 2 x 2"
    );
    assert_eq!(
        why(|s| s.gpus[1].uuid = "GPU-1".into()),
        "gpus[1]: 'GPU-1' is no GPU-<uuid>"
    );
    assert_eq!(
        why(|s| s.gpus[0].pci = "here".into()),
        "gpus[0]: 'here' is no PCI address"
    );
    assert_eq!(
        why(|s| s.gpus[0].reserved_bytes = u64::MAX),
        "gpus[0]: more memory is listed as used than there is"
    );
    let fault = |s: &mut Scenario| s.memory_faults[0].owner = Some(2);
    let mut scenario = Scenario::writes_dropped();
    fault(&mut scenario);
    assert_eq!(scenario.check().unwrap_err(), "a memory fault names GPU 2 of 2");
}

#[test]
fn faults_without_names_leave_a_gpus_own_memory_alone() {
    let any = MemoryFault::always(Fate::Dropped);
    assert!(any.fits(0, 1, &[Route::Sm], Access::Load));
    assert!(!any.fits(1, 1, &[Route::Sm], Access::Load));
    let own = MemoryFault {
        initiator: Some(1),
        owner: Some(1),
        ..any
    };
    assert!(own.fits(1, 1, &[Route::CopyEngine], Access::Store));
    assert!(!own.fits(0, 1, &[Route::CopyEngine], Access::Store));
}

#[test]
fn addresses_and_modes() {
    assert_eq!(parse_pci("00000000:0A:1f.7"), Some((0, 10, 31, 7)));
    assert_eq!(parse_pci("0a:1f.7"), Some((0, 10, 31, 7)));
    assert_eq!(parse_pci("1:2:3:4.0"), None);
    assert_eq!(ComputeMode::ExclusiveProcess.code(), 3);
}

//! NVSwitch's fabric, and the links that a board should have.

use fake_gpu::scenario::{Fabric, FabricState};
use kb_core::report::GapKind;
use serde_json::json;

use super::{fact, gap, gpu_in, gpu_with, value};

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

    // One lane slow.
    let gpu = gpu_with(|scenario| scenario.gpus[0].nvlinks[4].speed_mb_s = 13_281);
    assert_eq!(value(&gpu, "nvlink.speed_mb_s"), 13_281);
}

/// A fault on NVSwitch, and perhaps no bridge fitted on other boards.
#[test]
fn links_that_are_all_down() {
    let all_down = |state, gpus: usize| {
        gpu_with(|scenario| {
            for gpu in scenario.gpus.iter_mut().take(gpus) {
                gpu.nvlinks.iter_mut().for_each(|link| link.active = false);
                gpu.condition.fabric.state = state;
            }
        })
    };
    let switched = all_down(FabricState::InProgress, usize::MAX);
    assert_eq!(value(&switched, "nvlink.links_expected"), 18);

    // Before Hopper no GPU has a fabric's state; another one's links show the switch.
    let before_hopper = all_down(FabricState::NotSupported, 1);
    assert_eq!(value(&before_hopper, "nvlink.links_active"), 0);
    assert_eq!(value(&before_hopper, "nvlink.links_expected"), 18);

    let bridged = all_down(FabricState::NotSupported, usize::MAX);
    let (kind, reason) = gap(&bridged, "nvlink.links_expected");
    assert_eq!(kind, GapKind::NotVisible);
    assert!(reason.contains("bridge"), "{reason}");
}

//! Health of fewer GPUs than the node had in the same boot.

use serde_json::{Value, json};

use super::looks::as_look;
use super::{Door, Verdict, run, standing};

#[tokio::test]
async fn health_of_fewer_gpus_is_judged_again_when_an_earlier_report_shows_more() {
    let all = booted("all", 10, &[0, 1, 2, 3], "a");
    let fewer = booted("fewer", 20, &[0, 1, 2], "a");
    let again = booted("again", 30, &[0, 1, 2], "a");
    for order in [
        [&all, &fewer, &again],
        [&fewer, &again, &all],
        [&again, &all, &fewer],
    ] {
        let door = Door::open().await;
        for report in order {
            door.send(report).await.unwrap();
        }
        let (id, verdict, reason) = standing(&door).await;
        assert_eq!((id.as_str(), verdict), ("again", Verdict::Unknown));
        assert!(
            reason.contains("GPU-3, which the node had in this boot"),
            "{reason}"
        );
        let fewer = door.store.report(None, &"fewer".parse().unwrap()).await;
        assert_eq!(fewer.unwrap().unwrap().listing.verdict, Verdict::Unknown);
    }
    // After a new boot they may have been taken out.
    let door = Door::open().await;
    for report in [booted("later", 20, &[0, 1, 2], "b"), all] {
        door.send(&report).await.unwrap();
    }
    assert_eq!(standing(&door).await.0, "later");
}

#[tokio::test]
async fn health_of_fewer_gpus_than_a_look_saw_is_unknown() {
    let door = Door::open().await;
    let mut look = as_look(run("look", 10, &[0, 1, 2], false));
    let mut fewer = run("fewer", 20, &[0, 1], false);
    for report in [&mut look, &mut fewer] {
        report["node"]["boot_id"] = json!("a");
        door.send(report).await.unwrap();
    }
    assert_eq!(standing(&door).await.1, Verdict::Unknown);
}

/// A run that ended at this minute of a boot.
fn booted(id: &str, minute: u8, gpus: &[u32], boot: &str) -> Value {
    let mut run = run(id, minute, gpus, false);
    run["node"]["boot_id"] = json!(boot);
    run
}

#[tokio::test]
async fn a_gpu_that_died_and_is_gone_after_a_boot_is_no_health() {
    let all = || booted("all", 5, &[0, 1, 2, 3], "a");
    let mut alarm = booted("alarm", 10, &[0, 1, 2, 3], "a");
    alarm["pairs"] = json!([]);
    alarm["conclusion"] = json!({ "verdict": "broken", "exit_code": 2, "reason": "Xid 79 of GPU-3" });
    let gone = booted("gone", 10, &[0, 1, 2], "a");
    let look = || as_look(booted("look", 15, &[0, 1, 2], "b"));
    for before in [
        vec![all(), alarm.clone()],
        vec![all(), gone],
        vec![alarm.clone()],
        vec![all(), alarm.clone(), look()],
    ] {
        let door = Door::open().await;
        let is_broken = before.contains(&alarm);
        for report in before {
            door.send(&report).await.unwrap();
        }
        for (id, minute) in [("fewer", 20), ("again", 30)] {
            door.send(&booted(id, minute, &[0, 1, 2], "b")).await.unwrap();
            let (standing, verdict, reason) = standing(&door).await;
            if is_broken {
                assert_eq!((standing.as_str(), verdict), ("alarm", Verdict::Broken));
            } else {
                assert_eq!((standing.as_str(), verdict), (id, Verdict::Unknown));
                assert!(reason.contains("GPU-3, which the node had"), "{reason}");
            }
        }
        // It is back, or another is in its place.
        door.send(&booted("back", 40, &[0, 1, 2, 3], "c")).await.unwrap();
        assert_eq!(standing(&door).await.0, "back");
    }
    // The operator says that it was taken out.
    let door = Door::open().await;
    let mut out = booted("out", 20, &[0, 1, 2], "b");
    out["host"] = json!({ "expected.gpus": { "value": 3, "source": "--expect" } });
    for report in [all(), alarm, out] {
        door.send(&report).await.unwrap();
    }
    assert_eq!(standing(&door).await.1, Verdict::Healthy);
    // Without an alarm GPUs may be taken out.
    let door = Door::open().await;
    for report in [all(), booted("fewer", 20, &[0, 1, 2], "b")] {
        door.send(&report).await.unwrap();
    }
    assert_eq!(standing(&door).await.1, Verdict::Healthy);
}

#[tokio::test]
async fn a_look_in_which_a_gpu_is_gone_is_an_alarm() {
    let look = |id: &str, minute, gpus: &[u32], boot: &str| as_look(booted(id, minute, gpus, boot));
    let all = || booted("all", 5, &[0, 1, 2, 3], "a");
    let mut xid = look("xid", 10, &[0, 1, 2, 3], "a");
    xid["conclusion"] = json!({ "verdict": "broken", "exit_code": 2, "reason": "Xid 79 of GPU-3" });
    for before in [
        vec![all(), look("fewer", 20, &[0, 1, 2], "a")],
        vec![all(), look("none", 20, &[], "a")],
        vec![
            all(),
            look("fewer", 20, &[0, 1, 2], "a"),
            look("again", 30, &[0, 1, 2], "a"),
        ],
    ] {
        let door = Door::open().await;
        for report in &before {
            door.send(report).await.unwrap();
        }
        let (id, verdict, reason) = standing(&door).await;
        let last = before.last().unwrap()["report_id"].as_str().unwrap();
        assert_eq!((id.as_str(), verdict), (last, Verdict::Unknown), "{reason}");
        assert!(reason.contains("which the node had"), "{reason}");
    }
    let door = Door::open().await;
    for report in [all(), xid, look("fewer", 20, &[0, 1, 2], "b")] {
        door.send(&report).await.unwrap();
    }
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("xid", Verdict::Broken));
    // Some GPUs alone, or all of them: nothing is gone.
    let mut some = look("some", 20, &[0, 1, 2], "a");
    some["host"] =
        json!({ "environment.cuda_visible_devices": { "value": "0,1,2", "source": "environment" } });
    for after in [
        some,
        look("same", 20, &[0, 1, 2, 3], "a"),
        look("fewer", 20, &[0, 1, 2], "b"),
    ] {
        let door = Door::open().await;
        for report in [all(), after] {
            door.send(&report).await.unwrap();
        }
        assert_eq!(standing(&door).await.0, "all");
    }
}

#[tokio::test]
async fn who_takes_a_gpu_out_within_a_boot_says_how_many_there_should_be() {
    let all = || booted("all", 10, &[0, 1, 2, 3], "a");
    let expecting = |mut report: Value, gpus: u32| {
        report["host"] = json!({ "expected.gpus": { "value": gpus, "source": "--expect" } });
        report
    };
    let fewer = || booted("fewer", 20, &[0, 1, 2], "a");
    let look = || as_look(booted("look", 30, &[0, 1, 2], "a"));
    let without_boot = |mut report: Value| {
        report["node"]["boot_id"] = json!(null);
        report
    };
    for (order, id, verdict) in [
        (vec![all(), expecting(fewer(), 3)], "fewer", Verdict::Healthy),
        (vec![expecting(fewer(), 3), all()], "fewer", Verdict::Healthy),
        (
            vec![all(), expecting(fewer(), 3), expecting(look(), 3)],
            "fewer",
            Verdict::Healthy,
        ),
        (vec![all(), expecting(look(), 3)], "all", Verdict::Healthy),
        // Another number says nothing of the one that is gone.
        (vec![all(), expecting(fewer(), 2)], "fewer", Verdict::Unknown),
        (vec![expecting(fewer(), 2), all()], "fewer", Verdict::Unknown),
        (vec![all(), expecting(look(), 2)], "look", Verdict::Unknown),
        (vec![all(), without_boot(fewer())], "fewer", Verdict::Unknown),
    ] {
        let door = Door::open().await;
        for report in &order {
            door.send(report).await.unwrap();
        }
        let (standing, told, reason) = standing(&door).await;
        assert_eq!((standing.as_str(), told), (id, verdict), "{reason}");
        assert!(
            verdict == Verdict::Healthy || reason.contains("--expect gpus=3"),
            "{reason}"
        );
    }
}

#[tokio::test]
async fn gpus_that_are_made_up_or_another_tools_are_missed_by_no_report() {
    let mut simulated = as_look(run("simulated", 10, &[0, 1, 2, 3], false));
    simulated["simulated"] = json!(true);
    let mut converted = run("converted", 10, &[0, 1, 2, 3], false);
    converted["host"] = json!({ "convert.tools": { "value": "nvbandwidth", "source": "the text" } });
    for before in [simulated, converted] {
        for real in [
            as_look(booted("real", 20, &[0, 1], "a")),
            booted("real", 20, &[0, 1], "a"),
        ] {
            let mut real = real;
            real["simulated"] = json!(false);
            let door = Door::open().await;
            door.send(&before).await.unwrap();
            let accepted = door.send(&real).await.unwrap();
            assert!(accepted.verdict < Verdict::Unknown, "{:?}", accepted.verdict);
            assert_eq!(standing(&door).await.0, "real");
        }
    }
}

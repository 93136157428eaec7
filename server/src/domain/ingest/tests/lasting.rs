//! Alarms that no later look can tell again: they stand until a later run.

use serde_json::{Value, json};

use super::looks::{as_look, as_run};
use super::{AT, Arrival, Door, Verdict, run, standing};

fn look(id: &str, minute: u8, gpus: &[u32]) -> Value {
    as_look(run(id, minute, gpus, false))
}

/// A look that reads whether rows of GPU 0 could not be remapped.
fn look_at_rows(id: &str, minute: u8, gpus: &[u32], have_failed: bool) -> Value {
    let mut look = look(id, minute, gpus);
    look["gpus"][0]["facts"]["remapped_rows.failure"] = json!({ "value": have_failed, "source": "test" });
    look["host"] = json!({ "nvml.driver_version": { "value": "580.95.05", "source": "test" } });
    if have_failed {
        // As agents judge them: such a GPU needs service.
        for pair in look["pairs"].as_array_mut().unwrap() {
            pair["verdict"] = json!({ "verdict": "broken", "cause": "gpu_needs_service", "reason": "remap failed", "evidence": [] });
        }
        look["conclusion"] = json!({ "verdict": "broken", "exit_code": 2, "reason": "remap failed" });
    }
    look
}

#[tokio::test]
async fn what_a_run_met_stands_until_a_later_run() {
    let mut unlisted = run("alarm", 20, &[0, 1], true);
    for direction in unlisted["pairs"][0]["directions"].as_array_mut().unwrap() {
        direction["checks"] = json!([]);
    }
    let mut converted = run("alarm", 20, &[0, 1], true);
    converted["host"] = json!({ "convert.tools": { "value": "simpleP2P", "source": "the text" } });
    for alarm in [unlisted, converted] {
        for before in [vec![as_run(run("health", 10, &[0, 1], false))], Vec::new()] {
            let door = Door::open().await;
            for report in before.iter().chain([&alarm, &look("look", 30, &[0, 1])]) {
                door.send(report).await.unwrap();
            }
            let (id, verdict, _) = standing(&door).await;
            assert_eq!((id.as_str(), verdict), ("alarm", Verdict::Broken));
            door.send(&as_run(run("mended", 40, &[0, 1], false)))
                .await
                .unwrap();
            assert_eq!(standing(&door).await.0, "mended");
        }
    }
}

#[tokio::test]
async fn what_a_look_saw_is_over_when_a_later_look_reads_it_as_good() {
    for gpus in [&[0][..], &[0, 1]] {
        let door = Door::open().await;
        let mut untold = look_at_rows("untold", 20, gpus, false);
        untold["conclusion"] = json!({ "verdict": "unknown", "exit_code": 3, "reason": "could not tell" });
        for report in [
            look_at_rows("fault", 10, gpus, true),
            untold,
            look("unread", 30, gpus),
        ] {
            door.send(&report).await.unwrap();
            let (id, verdict, _) = standing(&door).await;
            assert_eq!((id.as_str(), verdict), ("fault", Verdict::Broken));
        }
        door.send(&look_at_rows("read", 40, gpus, false)).await.unwrap();
        let (id, verdict, _) = standing(&door).await;
        assert_eq!((id.as_str(), verdict), ("read", Verdict::NoFaultSeen));
    }
}

#[tokio::test]
async fn each_alarm_has_to_be_over() {
    let door = Door::open().await;
    let mut links = look("links", 20, &[0, 1]);
    links["gpus"][0]["facts"]["nvlink.links_active"] = json!({ "value": 3, "source": "test" });
    links["conclusion"] = json!({ "verdict": "degraded", "exit_code": 1, "reason": "3 of 18 links" });
    let mut healed = look("healed", 30, &[0, 1]);
    healed["gpus"][0]["facts"]["nvlink.links_active"] = json!({ "value": 18, "source": "test" });
    let mut degraded = look_at_rows("degraded", 40, &[0, 1], false);
    degraded["gpus"][0]["facts"]["nvlink.links_active"] = json!({ "value": 3, "source": "test" });
    degraded["conclusion"] = links["conclusion"].clone();
    for report in [look_at_rows("fault", 10, &[0, 1], true), links, healed] {
        door.send(&report).await.unwrap();
        let (id, verdict, _) = standing(&door).await;
        assert_eq!((id.as_str(), verdict), ("fault", Verdict::Broken));
    }
    // Without the time of sending it counts from its arrival, which says nothing of whether it saw the fault.
    let mut doubtful = degraded.clone();
    doubtful["report_id"] = json!("doubtful");
    doubtful["finished_at"] = look("doubtful", 5, &[0, 1])["finished_at"].clone();
    let arrival = Arrival {
        received_at: AT,
        sent_at: None,
    };
    door.send_at(doubtful.to_string().as_bytes(), arrival)
        .await
        .unwrap();
    assert_eq!(standing(&door).await.0, "fault");
    // A warning stays, and the fault is over.
    door.send(&degraded).await.unwrap();
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("degraded", Verdict::Degraded));
}

#[tokio::test]
async fn on_a_node_with_a_gpu_that_is_not_for_use_alarms_end_too() {
    let beside = |mut report: Value, absence: &str| {
        report["absent"] = json!([{ "absence": absence, "pci_address": "0000:00:99.0", "reason": "test", "source": "test" }]);
        report
    };
    for (later, id, absence) in [
        (look_at_rows("read", 20, &[0, 1], false), "read", "other_driver"),
        (as_run(run("run", 20, &[0, 1], false)), "run", "other_driver"),
        (look_at_rows("read", 20, &[0, 1], false), "read", "without_driver"),
    ] {
        let door = Door::open().await;
        let mut failed = look("failed", 10, &[0, 1]);
        failed["failures"] =
            json!([{ "step": "cuInit", "code": 999, "code_name": null, "message": "unknown error" }]);
        failed["conclusion"] = json!({ "verdict": "unknown", "exit_code": 3, "reason": "cuInit" });
        for report in [failed, later] {
            door.send(&beside(report, absence)).await.unwrap();
        }
        assert_eq!(standing(&door).await.0, id);
    }
}

#[tokio::test]
async fn an_alarm_is_worse_than_a_warning_that_a_run_proved() {
    let door = Door::open().await;
    let mut warned = as_run(run("warned", 5, &[0, 1], false));
    warned["conclusion"] = json!({ "verdict": "degraded", "exit_code": 1, "reason": "one link is narrow" });
    for report in [
        &warned,
        &look_at_rows("fault", 10, &[0, 1], true),
        &look("unread", 20, &[0, 1]),
    ] {
        door.send(report).await.unwrap();
    }
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("fault", Verdict::Broken));
    door.send(&look_at_rows("read", 30, &[0, 1], false))
        .await
        .unwrap();
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("warned", Verdict::Degraded));
}

#[tokio::test]
async fn an_alarm_that_comes_late_stands_unless_the_look_after_it_reads_it_as_good() {
    let with_fact = |name: &str, value: &str| {
        let mut look = look_at_rows("look", 30, &[0, 1], false);
        look["host"][name] = json!({ "value": value, "source": "test" });
        look
    };
    for (later, stands) in [
        (look("look", 30, &[0, 1]), "fault"),
        (look_at_rows("look", 30, &[0, 1], false), "look"),
        (with_fact("environment.cuda_visible_devices", "0,1"), "fault"),
        (with_fact("convert.tools", "nvbandwidth"), "fault"),
    ] {
        let door = Door::open().await;
        // Both senders tell what their clocks say.
        let arrival = Arrival {
            received_at: AT,
            sent_at: Some(AT),
        };
        for report in [later, look_at_rows("fault", 10, &[0, 1], true)] {
            let body = report.to_string();
            door.send_at(body.as_bytes(), arrival).await.unwrap();
        }
        assert_eq!(standing(&door).await.0, stands);
    }
}

#[tokio::test]
async fn what_a_run_met_on_one_gpu_stands_until_a_later_run() {
    let of_one = |id: &str, minute| {
        let mut run = as_run(run(id, minute, &[0], false));
        run["conclusion"]["verdict"] = json!("no_fault_seen");
        run
    };
    let mut wrong = of_one("wrong", 10);
    wrong["failures"] = json!([{
        "step": "own_memory", "code": null, "code_name": null, "message": "wrong", "cause": "data_mismatch",
    }]);
    wrong["conclusion"] = json!({ "verdict": "broken", "exit_code": 2, "reason": "wrong data" });
    let door = Door::open().await;
    for report in [&wrong, &look("look", 20, &[0])] {
        door.send(report).await.unwrap();
    }
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("wrong", Verdict::Broken));
    // A run over some GPUs says nothing of the others.
    let mut some = of_one("some", 30);
    some["host"] = json!({ "environment.cuda_visible_devices": { "value": "0", "source": "environment" } });
    door.send(&some).await.unwrap();
    assert_eq!(standing(&door).await.0, "wrong");
    door.send(&of_one("good", 40)).await.unwrap();
    assert_eq!(standing(&door).await.0, "good");
}

#[tokio::test]
async fn a_run_of_two_gpus_that_proves_nothing_ends_no_alarm_of_a_run() {
    let mut alarm = as_run(run("alarm", 10, &[0, 1], true));
    alarm["pairs"][0]["directions"][0]["checks"] = json!([]);
    alarm["pairs"][0]["directions"][1]["checks"] = json!([]);
    let untried = as_run(look("untried", 20, &[0, 1]));
    let door = Door::open().await;
    for report in [&alarm, &untried] {
        door.send(report).await.unwrap();
    }
    assert_eq!(standing(&door).await.0, "alarm");
}

#[tokio::test]
async fn a_run_beside_a_state_that_could_not_be_read_ends_nothing() {
    let mut unread = as_run(run("unread", 20, &[0, 1], false));
    unread["host"] = json!({ "nvml.driver_version": { "value": "580.95.05", "source": "test" } });
    unread["gpus"][1]["facts"]["remapped_rows.failure"] =
        json!({ "source": "test", "gap": { "kind": "failed", "reason": "NVML error 999" } });
    let door = Door::open().await;
    door.send(&as_run(run("fault", 10, &[0, 1], true))).await.unwrap();
    let accepted = door.send(&unread).await.unwrap();
    assert_eq!(accepted.verdict, Verdict::Unknown);
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("fault", Verdict::Broken));
    door.send(&as_run(run("mended", 30, &[0, 1], false)))
        .await
        .unwrap();
    assert_eq!(standing(&door).await.0, "mended");
}

#[tokio::test]
async fn rows_that_were_not_remapped_during_a_run_stand_until_they_are_read_as_good() {
    let with = |id: &str, minute: u8, (name, value): (&str, Value)| {
        let mut report = as_run(run(id, minute, &[0, 1], false));
        report["gpus"][0]["facts"][name] = json!({ "value": value, "source": "test" });
        report
    };
    let door = Door::open().await;
    let told = with("told", 10, ("during.remapped_rows.failure", json!(1)));
    assert_eq!(door.send(&told).await.unwrap().verdict, Verdict::Broken);
    // An older agent, which does not know the state.
    door.send(&as_run(run("absent", 20, &[0, 1], false)))
        .await
        .unwrap();
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("told", Verdict::Broken));
    door.send(&with("read", 30, ("remapped_rows.failure", json!(false))))
        .await
        .unwrap();
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("read", Verdict::Healthy));
}

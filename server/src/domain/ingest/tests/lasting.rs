//! Alarms that no later look can tell again: they stand until a later run.

use serde_json::{Value, json};

use super::looks::{as_look, as_run};
use super::{Door, Verdict, run, standing};

fn look(id: &str, minute: u8, gpus: &[u32]) -> Value {
    as_look(run(id, minute, gpus, false))
}

/// A look that tells of a fault that is open.
fn look_at_fault(id: &str, minute: u8, gpus: &[u32]) -> Value {
    let mut look = look(id, minute, gpus);
    look["conclusion"] = json!({ "verdict": "broken", "exit_code": 2, "reason": "Xid 79 of GPU-0" });
    look
}

#[tokio::test]
async fn what_a_run_met_stands_until_a_later_run() {
    let mut unlisted = as_run(run("alarm", 20, &[0, 1], true));
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
async fn what_a_look_saw_is_over_when_a_later_look_does_not_see_it() {
    for gpus in [&[0][..], &[0, 1]] {
        let door = Door::open().await;
        door.send(&look_at_fault("fault", 10, gpus)).await.unwrap();
        let (id, verdict, _) = standing(&door).await;
        assert_eq!((id.as_str(), verdict), ("fault", Verdict::Broken));
        door.send(&look("cleared", 20, gpus)).await.unwrap();
        let (id, verdict, _) = standing(&door).await;
        assert_eq!((id.as_str(), verdict), ("cleared", Verdict::NoFaultSeen));
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

//! Alarms that no later look can tell again: they stand until a later run.

use serde_json::{Value, json};

use super::{Door, Verdict, run, standing};

fn look(id: &str, minute: u8, gpus: &[u32]) -> Value {
    let mut look = run(id, minute, gpus, false);
    look["pairs"] = json!([]);
    look["conclusion"]["verdict"] = json!("no_fault_seen");
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
        for before in [vec![run("health", 10, &[0, 1], false)], Vec::new()] {
            let door = Door::open().await;
            for report in before.iter().chain([&alarm, &look("look", 30, &[0, 1])]) {
                door.send(report).await.unwrap();
            }
            let (id, verdict, _) = standing(&door).await;
            assert_eq!((id.as_str(), verdict), ("alarm", Verdict::Broken));
            door.send(&run("mended", 40, &[0, 1], false)).await.unwrap();
            assert_eq!(standing(&door).await.0, "mended");
        }
    }
}

#[tokio::test]
async fn what_a_run_met_on_one_gpu_stands_until_a_later_run() {
    let opened = |mut report: Value| {
        report["parts"] = json!([{ "name": "opening", "seconds": 1.0 }]);
        report
    };
    let mut wrong = opened(look("wrong", 10, &[0]));
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
    let mut some = opened(look("some", 30, &[0]));
    some["host"] = json!({ "environment.cuda_visible_devices": { "value": "0", "source": "environment" } });
    door.send(&some).await.unwrap();
    assert_eq!(standing(&door).await.0, "wrong");
    door.send(&opened(look("good", 40, &[0]))).await.unwrap();
    assert_eq!(standing(&door).await.0, "good");
}

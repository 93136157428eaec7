//! GPUs that are gone in a boot, in whatever order the reports come.

use serde_json::{Value, json};

use super::looks::{as_look, as_run};
use super::{AT, Arrival, Door, Verdict, run, standing};

const ALL: &[u32] = &[0, 1, 2, 3];
const FEWER: &[u32] = &[0, 1, 2];

fn proof(id: &str, minute: u8, gpus: &[u32], boot: &str) -> Value {
    let mut run = as_run(run(id, minute, gpus, false));
    run["node"]["boot_id"] = json!(boot);
    run
}

fn look(id: &str, minute: u8, gpus: &[u32], boot: &str) -> Value {
    as_look(proof(id, minute, gpus, boot))
}

/// What stands after these reports, in each order.
async fn in_each_order(reports: &[Value]) -> Vec<(String, Verdict, String)> {
    let mut told = Vec::new();
    for order in orders(reports.len()) {
        let door = Door::open().await;
        for place in order {
            let arrival = Arrival {
                received_at: AT,
                sent_at: Some(AT),
            };
            let body = reports[place].to_string();
            door.send_at(body.as_bytes(), arrival).await.unwrap();
        }
        told.push(standing(&door).await);
    }
    told
}

pub(super) fn orders(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else {
        return vec![Vec::new()];
    };
    let mut all = Vec::new();
    for order in orders(last) {
        for place in 0..=last {
            let mut order = order.clone();
            order.insert(place, last);
            all.push(order);
        }
    }
    all
}

#[tokio::test]
async fn gpus_that_are_gone_in_a_boot_are_told_in_each_order() {
    for reports in [
        vec![look("all", 10, ALL, "a"), proof("fewer", 20, FEWER, "a")],
        vec![proof("all", 10, ALL, "a"), look("fewer", 20, FEWER, "a")],
        vec![look("all", 10, ALL, "a"), look("fewer", 20, FEWER, "a")],
        vec![
            look("all", 10, ALL, "a"),
            proof("fewer", 20, FEWER, "a"),
            look("again", 30, FEWER, "a"),
        ],
        vec![
            proof("all", 10, ALL, "a"),
            look("fewer", 20, FEWER, "a"),
            proof("again", 30, FEWER, "a"),
        ],
        vec![
            look("all", 10, ALL, "a"),
            look("fewer", 20, FEWER, "a"),
            look("again", 30, FEWER, "a"),
        ],
        // One that is gone does not come back with a new boot.
        vec![
            look("all", 10, ALL, "a"),
            look("fewer", 20, FEWER, "a"),
            proof("booted", 30, FEWER, "b"),
        ],
    ] {
        for (_, verdict, reason) in in_each_order(&reports).await {
            assert_eq!(verdict, Verdict::Unknown, "{reports:?}");
            assert!(reason.contains("GPU-3, which the node had"), "{reason}");
        }
    }
}

#[tokio::test]
async fn gpus_that_are_there_again_or_were_taken_out_are_not_gone() {
    let expecting = |mut report: Value| {
        report["host"] = json!({ "expected.gpus": { "value": 3, "source": "--expect" } });
        report
    };
    let mut mended = proof("mended", 30, &[0, 1, 2, 4], "b");
    mended["gpus"][3]["pci_address"]["value"] = json!("0000:03:00.0");
    for (reports, id) in [
        // In another boot they may have been taken out.
        (
            vec![look("all", 10, ALL, "a"), proof("fewer", 20, FEWER, "b")],
            "fewer",
        ),
        (
            vec![proof("all", 10, ALL, "a"), proof("fewer", 20, FEWER, "b")],
            "fewer",
        ),
        (
            vec![
                look("all", 10, ALL, "a"),
                expecting(proof("fewer", 20, FEWER, "a")),
            ],
            "fewer",
        ),
        (
            vec![
                look("all", 10, ALL, "a"),
                proof("fewer", 20, FEWER, "a"),
                proof("back", 30, ALL, "a"),
            ],
            "back",
        ),
        (
            vec![
                proof("all", 10, ALL, "a"),
                proof("fewer", 20, FEWER, "a"),
                proof("back", 30, ALL, "b"),
            ],
            "back",
        ),
        (
            vec![
                proof("all", 10, ALL, "a"),
                look("fewer", 20, FEWER, "a"),
                look("back", 30, ALL, "a"),
            ],
            "all",
        ),
        // Another in its place, after a boot.
        (
            vec![look("all", 10, ALL, "a"), proof("fewer", 20, FEWER, "a"), mended],
            "mended",
        ),
    ] {
        for (standing, verdict, reason) in in_each_order(&reports).await {
            assert_eq!(
                (standing.as_str(), verdict),
                (id, Verdict::Healthy),
                "{reason} {reports:?}"
            );
        }
    }
}

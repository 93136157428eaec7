//! What happened to a node: another name, other GPUs, a clock that is wrong, an installation anew; told and shown.

use peerless::store::Scope;
use serde_json::{Value, json as object};
use time::Duration;

use crate::reports::report;
use crate::test_app::{NOW, TestApp, json};

struct Fleet {
    app: TestApp,
    upload: String,
    read: String,
}

impl Fleet {
    async fn start() -> Self {
        let app = TestApp::start().await;
        let upload = app.token(&[Scope::Report]).await;
        let read = app.token(&[Scope::Fleet]).await;
        Self { app, upload, read }
    }

    /// A report of the node with these GPUs.
    async fn send(&self, id: &str, node: &str, gpus: &[&str], change: impl Fn(&mut Value)) {
        self.send_dated(id, node, gpus, (change, None)).await;
    }

    /// The same with the time of sending.
    async fn send_dated(
        &self,
        id: &str,
        node: &str,
        gpus: &[&str],
        (change, date): (impl Fn(&mut Value), Option<&str>),
    ) {
        let mut body = report(id);
        body["node"]["id"] = node.into();
        let fact = |value: Value| object!({"value": value, "source": "test"});
        body["gpus"] = gpus
            .iter()
            .enumerate()
            .map(|(number, uuid)| {
                object!({
                    "cuda_ordinal": number, "nvml_index": fact(number.into()), "uuid": fact((*uuid).into()),
                    "pci_address": fact("0000:00:06.0".into()), "name": fact("NVIDIA Test".into()),
                    "memory_bytes": fact(1.into()), "compute_capability": fact("9.0".into()),
                })
            })
            .collect();
        change(&mut body);
        let request = self
            .app
            .post("/api/v1/reports")
            .bearer_auth(&self.upload)
            .json(&body);
        let request = match date {
            Some(date) => request.header("date", date),
            None => request,
        };
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
    }

    /// What happened to the node, newest first: kind and text.
    async fn events(&self, node: &str) -> Vec<(String, String)> {
        let path = format!("/api/v1/nodes/{node}");
        let node = json(self.app.get_with(&path, &self.read).await).await;
        let events = node["events"].as_array().unwrap();
        let word = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
        events
            .iter()
            .map(|event| (word(event, "kind"), word(event, "text")))
            .collect()
    }

    async fn kinds(&self, node: &str) -> Vec<String> {
        self.events(node)
            .await
            .into_iter()
            .map(|(kind, _)| kind)
            .collect()
    }

    fn later(&self, minutes: i64) {
        self.app.clock.set(NOW + Duration::minutes(minutes));
    }
}

fn nothing(_: &mut Value) {}

#[tokio::test]
async fn another_name_is_told_once() {
    let fleet = Fleet::start().await;
    fleet.send("run-1", "n1", &[], nothing).await;
    assert!(fleet.events("n1").await.is_empty());
    let renamed = |body: &mut Value| {
        body["node"]["hostname"] = "host-2".into();
        body["finished_at"] = "2026-01-02T03:02:00Z".into();
    };
    fleet.send("run-2", "n1", &[], renamed).await;
    fleet.send("run-3", "n1", &[], renamed).await;
    // Out of the spool: it is of before the name was changed.
    fleet.send("run-0", "n1", &[], nothing).await;
    // A host name that was redacted is no other name.
    let redacted = |body: &mut Value| {
        renamed(body);
        body["node"]["hostname"] = Value::Null;
    };
    fleet.send("run-4", "n1", &[], redacted).await;
    let events = fleet.events("n1").await;
    assert_eq!(
        events,
        [(
            "renamed".to_owned(),
            "renamed: the host was host-1 and is host-2 now".to_owned()
        )]
    );
    let page = fleet
        .app
        .get_with("/nodes/n1", &fleet.read)
        .await
        .text()
        .await
        .unwrap();
    assert!(
        page.contains("the host was host-1 and is host-2 now") && page.contains("/reports/run-2?node=n1"),
        "{page}"
    );
}

#[tokio::test]
async fn gpus_that_move_are_told_on_both_nodes() {
    let fleet = Fleet::start().await;
    fleet.send("a1", "n1", &["GPU-a", "GPU-b"], nothing).await;
    fleet.send("b1", "n2", &["GPU-c"], nothing).await;
    // A job's own GPUs, and a node whose driver is away, say nothing of the others.
    let some = |body: &mut Value| {
        body["host"] = object!({"environment.cuda_visible_devices": {"value": "0", "source": "test"}});
    };
    fleet.send("a2", "n1", &["GPU-a"], some).await;
    fleet.send("a3", "n1", &[], nothing).await;
    assert!(fleet.kinds("n1").await.is_empty());
    fleet.later(1);
    fleet.send("b2", "n2", &["GPU-b", "GPU-c"], nothing).await;
    assert_eq!(
        fleet.events("n2").await[0].1,
        "GPUs changed: came GPU-b (before on node n1)"
    );
    assert_eq!(
        fleet.events("n1").await[0].1,
        "node n2 shows GPUs that were last seen here: GPU-b"
    );
    fleet.later(2);
    fleet.send("a4", "n1", &["GPU-a", "GPU-d"], nothing).await;
    assert_eq!(
        fleet.events("n1").await[0].1,
        "GPUs changed: went away GPU-b (now on node n2); came GPU-d"
    );
    // The same again is no news.
    fleet.later(3);
    fleet.send("a5", "n1", &["GPU-a", "GPU-d"], nothing).await;
    fleet.send("b3", "n2", &["GPU-b", "GPU-c"], nothing).await;
    assert_eq!(fleet.kinds("n1").await, ["gpus_changed", "gpus_elsewhere"]);
    assert_eq!(fleet.kinds("n2").await, ["gpus_changed"]);
}

#[tokio::test]
async fn a_machine_that_comes_back_under_another_id_is_told() {
    let fleet = Fleet::start().await;
    fleet.send("a1", "old", &["GPU-a", "GPU-b"], nothing).await;
    fleet.send("b1", "new", &["GPU-a", "GPU-b"], nothing).await;
    let (kind, text) = fleet.events("new").await.remove(0);
    assert_eq!(kind, "reinstalled");
    assert!(
        text.contains("all of these GPUs were last seen on node old"),
        "{text}"
    );
    assert_eq!(fleet.kinds("old").await, ["gpus_elsewhere"]);
    // By what it enrolled as.
    let join = fleet.app.token(&[Scope::Enrol]).await;
    for node in ["first", "second"] {
        let body = object!({"node": node, "machine": "one machine"});
        let request = fleet.app.post("/api/v1/enrol").bearer_auth(&join).json(&body);
        assert_eq!(request.send().await.unwrap().status(), 201);
        fleet.send(&format!("{node}-1"), node, &[], nothing).await;
    }
    let (kind, text) = fleet.events("second").await.remove(0);
    assert_eq!(kind, "reinstalled");
    assert!(text.contains("enrolled before as node first"), "{text}");
    assert!(fleet.kinds("first").await.is_empty());
}

#[tokio::test]
async fn a_clock_that_is_ahead_is_told_until_it_is_right() {
    let fleet = Fleet::start().await;
    let ahead = |body: &mut Value| body["finished_at"] = "2026-01-02T04:04:05Z".into();
    fleet.send("run-1", "n1", &[], ahead).await;
    fleet.later(1);
    fleet.send("run-2", "n1", &[], ahead).await;
    assert_eq!(
        fleet.events("n1").await,
        [(
            "clock_ahead".to_owned(),
            "the clock is 60 minutes ahead of the server's: times of this node are wrong".to_owned()
        )]
    );
    fleet.later(10);
    let right = |body: &mut Value| body["finished_at"] = "2026-01-02T03:14:00Z".into();
    fleet.send("run-3", "n1", &[], right).await;
    assert_eq!(fleet.kinds("n1").await, ["clock_right", "clock_ahead"]);
}

#[tokio::test]
async fn a_clock_that_is_behind_is_told_and_its_report_counts_from_when_it_ran() {
    let fleet = Fleet::start().await;
    fleet.send("run-1", "n1", &[], nothing).await;
    let hours_ago = |body: &mut Value| {
        body["started_at"] = "2026-01-01T20:00:00Z".into();
        body["finished_at"] = "2026-01-01T20:00:05Z".into();
    };
    // Sent five seconds after the run: the clock is seven hours behind.
    let date = Some("Thu, 01 Jan 2026 20:00:10 GMT");
    fleet.send_dated("run-2", "n1", &[], (hours_ago, date)).await;
    let (kind, text) = fleet.events("n1").await.remove(0);
    assert_eq!(kind, "clock_behind");
    assert!(text.contains("423 minutes behind the server's"), "{text}");
    let node = json(fleet.app.get_with("/api/v1/nodes/n1", &fleet.read).await).await;
    assert_eq!(node["last_seen"]["id"], "run-2");
    assert_eq!(node["last_seen"]["ended_at"], "2026-01-02T03:04:00Z");
    assert_eq!(node["last_seen"]["finished_at"], "2026-01-01T20:00:05Z");
    let page = fleet.app.get_with("/reports/run-2?node=n1", &fleet.read).await;
    let page = page.text().await.unwrap();
    assert!(page.contains("clock is wrong or in doubt"), "{page}");
    // Out of the spool: it waited, and nothing is wrong.
    fleet.later(1);
    let date = Some("Fri, 02 Jan 2026 03:05:05 GMT");
    fleet.send_dated("run-0", "n1", &[], (hours_ago, date)).await;
    assert_eq!(fleet.kinds("n1").await, ["clock_behind"]);
    // From a sender that does not say when it sent it.
    fleet.send("other-1", "n2", &[], nothing).await;
    fleet.send("other-0", "n2", &[], hours_ago).await;
    let (kind, text) = fleet.events("n2").await.remove(0);
    assert_eq!(kind, "clock_unsure");
    assert!(text.contains("it waited, or the clock is behind"), "{text}");
}

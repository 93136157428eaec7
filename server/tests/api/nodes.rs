//! Nodes narrowed, sorted and counted; the page of a node; gauges.

use peerless::store::Scope;
use serde_json::{Value, json as object};
use time::Duration;

use crate::baseline::bench;
use crate::reports::report;
use crate::test_app::{NOW, TestApp, json, problem};

pub struct Fleet {
    pub app: TestApp,
    upload: String,
    pub read: String,
}

#[expect(clippy::needless_pass_by_value, reason = "callers make it")]
fn fact(value: Value) -> Value {
    object!({ "value": value, "source": "test" })
}

/// A fault that the agent holds open; no record explains it.
/// Causes of the faults that tests make.
const CAUSES: [&str; 2] = ["xid-48", "xid-79"];

fn ids_of(causes: &[&str]) -> Vec<String> {
    causes.iter().map(|cause| id_of(cause)).collect()
}

fn id_of(cause: &str) -> String {
    format!("{cause}@0000:00:06.0")
}

pub fn fault(cause: &str, action: &str) -> Value {
    object!({
        "id": id_of(cause), "cause": cause, "nature": "event", "bearing": "fault",
        "device": "0000:00:06.0", "severity": "fatal", "action": action, "count": 1,
        "first_at": "2026-01-02T02:00:00Z", "last_at": "2026-01-02T02:00:00Z", "text": format!("{cause} was seen"),
    })
}

impl Fleet {
    pub async fn start() -> Self {
        Self::of(TestApp::start().await).await
    }

    pub async fn of(app: TestApp) -> Self {
        let upload = app.token(&[Scope::Report]).await;
        let read = app.token(&[Scope::Fleet]).await;
        Self { app, upload, read }
    }

    /// A look of a node with this driver, which holds these faults open. A person has cleared those that it no longer has.
    pub async fn look(&self, id: &str, node: &str, driver: &str, open: &[Value]) {
        let mut body = report(id);
        let is_fault = |entry: &Value| entry["bearing"] != "event";
        let is_good = !open.iter().any(is_fault);
        let verdict = if is_good { "no_fault_seen" } else { "broken" };
        body["schema"]["minor"] = 6.into();
        body["node"] = object!({ "id": node, "hostname": format!("{node}.rack1"), "boot_id": null });
        body["host"] = object!({ "driver.version": fact(driver.into()) });
        body["gpus"] = object!([{
            "cuda_ordinal": 0, "nvml_index": fact(0.into()), "uuid": fact(format!("GPU-{node}").into()),
            "pci_address": fact("0000:00:06.0".into()), "name": fact("NVIDIA Test".into()),
            "memory_bytes": fact(1.into()), "compute_capability": fact("9.0".into()),
        }]);
        body["health"] = object!({
            "verdict": verdict, "open": open, "look": { "verdict": "no_fault_seen", "reason": "nothing" },
            "whole_node": true,
        });
        if open.is_empty() {
            let clear = object!({ "at": "2026-01-02T02:30:00Z", "by": "ops", "reason": "test", "entries": ids_of(&CAUSES) });
            body["health"]["clears"] = object!([clear]);
        }
        let code = if is_good { 0 } else { 2 };
        body["conclusion"] = object!({ "verdict": verdict, "exit_code": code, "reason": "as the look says" });
        let sent = self
            .app
            .post("/api/v1/reports")
            .bearer_auth(&self.upload)
            .json(&body)
            .send();
        let answer = sent.await.unwrap();
        assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
    }

    pub async fn get(&self, path: &str) -> Value {
        let answer = self.app.get_with(path, &self.read).await;
        assert_eq!(answer.status(), 200, "{path}");
        json(answer).await
    }

    pub async fn page(&self, path: &str) -> String {
        let answer = self.app.get_with(path, &self.read).await;
        assert_eq!(answer.status(), 200, "{path}");
        answer.text().await.unwrap()
    }

    async fn ids(&self, query: &str) -> Vec<String> {
        let nodes = self.get(&format!("/api/v1/nodes?{query}")).await;
        let nodes = nodes["nodes"].as_array().unwrap();
        nodes
            .iter()
            .map(|node| node["id"].as_str().unwrap().to_owned())
            .collect()
    }
}

async fn four_nodes() -> Fleet {
    let fleet = Fleet::start().await;
    fleet
        .look("r1", "n1", "570.1", &[fault("xid-79", "reset_gpu")])
        .await;
    fleet
        .look(
            "r2",
            "n2",
            "570.1",
            &[fault("xid-79", "reset_gpu"), fault("xid-48", "reboot_node")],
        )
        .await;
    fleet.look("r3", "n3", "580.1", &[]).await;
    fleet.look("r4", "n4", "580.1", &[]).await;
    fleet
}

#[tokio::test]
async fn nodes_are_narrowed_and_sorted_over_http() {
    let fleet = four_nodes().await;
    let summary = fleet.get("/api/v1/nodes?q=N2.RACK").await["nodes"][0]["summary"].clone();
    assert_eq!(summary["verdict"], "broken");
    assert_eq!(
        summary["action"], "reboot_node",
        "of two faults the one that takes more"
    );
    assert_eq!(summary["cause"]["rule"], "health/xid-48");
    assert_eq!(
        (&summary["model"], &summary["driver"]),
        (&"NVIDIA Test".into(), &"570.1".into())
    );
    for (query, expected) in [
        ("verdict=broken", vec!["n1", "n2"]),
        ("action=reset_gpu", vec!["n1"]),
        ("action=none&driver=580.1", vec!["n3", "n4"]),
        ("model=NVIDIA%20Test&sort=-id", vec!["n4", "n3", "n2", "n1"]),
        ("sort=verdict", vec!["n1", "n2", "n3", "n4"]),
        ("model=unknown", vec![]),
        ("silent_hours=1", vec![]),
        ("simulated=false&verdict=no_fault_seen", vec!["n3", "n4"]),
    ] {
        assert_eq!(fleet.ids(query).await, expected, "{query}");
    }
    fleet.app.clock.set(NOW + Duration::hours(3));
    assert_eq!(fleet.ids("silent_hours=1&verdict=broken").await, ["n1", "n2"]);

    let mut seen = Vec::new();
    let mut query = "sort=verdict&limit=3".to_owned();
    loop {
        let page = fleet.get(&format!("/api/v1/nodes?{query}")).await;
        let nodes = page["nodes"].as_array().unwrap();
        seen.extend(nodes.iter().map(|node| node["id"].as_str().unwrap().to_owned()));
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        query = format!("sort=verdict&limit=3&cursor={cursor}");
    }
    assert_eq!(seen, ["n1", "n2", "n3", "n4"]);

    for (query, why) in [
        ("verdict=brokn", "did you mean broken?"),
        ("sort=name", "sort"),
        ("action=x", "action"),
        ("record=x", "record"),
        (
            "record=cuda/peer-access-unsupported-by-hardwar",
            "near it: cuda/peer-access-unsupported-by-hardware",
        ),
        ("label=rack", "label"),
        ("silent_hours=0", "silent_hours"),
        ("cursor=n%201", "cursor"),
        ("sort=gpus&cursor=n1", "cursor"),
        ("cursor=AAAA", "no node AAAA"),
        ("sort=gpus&cursor=2~AAAA", "no node AAAA"),
        ("cursor=n1&cursor=n2", "twice"),
        ("limit=1&limit=2", "twice"),
        ("limit=x", "limit"),
        ("verdict=broken&verdict=healthy", "twice"),
        ("vedict=broken", "did you mean verdict?"),
        ("label=rak=r17", "no node has a label `rak`"),
    ] {
        let answer = fleet
            .app
            .get_with(&format!("/api/v1/nodes?{query}"), &fleet.read)
            .await;
        let told = problem(answer, 400, "bad_query").await;
        assert!(told["detail"].as_str().unwrap().contains(why), "{query}: {told}");
    }
    assert_eq!(
        fleet.get("/api/v1/reports?node=n1").await["reports"][0]["id"],
        "r1"
    );
    let typo = fleet.app.get_with("/api/v1/reports?node=n11", &fleet.read).await;
    let told = problem(typo, 404, "not_found").await;
    assert!(told["detail"].as_str().unwrap().contains("`n11`"), "{told}");
}

#[tokio::test]
async fn a_node_that_is_silent_is_not_shown_as_healthy() {
    let fleet = Fleet::start().await;
    let proof = bench("n1", 3, 1.0);
    let sent = fleet.app.post("/api/v1/reports").bearer_auth(&fleet.upload);
    assert_eq!(sent.json(&proof).send().await.unwrap().status(), 201);
    let green = "<div class=\"verdict good\">";
    assert!(fleet.page("/nodes/n1").await.contains(green));
    fleet.app.clock.set(NOW + Duration::days(3));
    let page = fleet.page("/nodes/n1").await;
    assert!(!page.contains(green), "{page}");
    assert!(page.contains("Last seen healthy"), "{page}");
    assert!(page.contains("days ago, silent since"), "{page}");
    let list = fleet.page("/nodes").await;
    assert!(list.contains("Last seen healthy"), "{list}");
    let chinese = fleet.page("/nodes/n1?lang=zh").await;
    assert!(chinese.contains("最近一次上报为健康"), "{chinese}");
}

/// Links of the page to lists, each with the number that it promises.
fn counts(page: &str) -> Vec<(String, usize)> {
    let mut counts = Vec::new();
    for (start, before, behind) in [
        ("<a href=\"/nodes?", "</a> <span class=\"count\">", "</span>"),
        ("<td class=\"num\"><a href=\"/nodes?", "\">", "</a>"),
    ] {
        for part in page.split(start).skip(1) {
            let (query, rest) = part.split_once('"').unwrap();
            let line = rest.split("</td>").next().unwrap().split("</li>").next().unwrap();
            let number = line
                .rsplit_once(before)
                .and_then(|(_, number)| number.split_once(behind));
            if let Some(Ok(number)) = number.map(|(number, _)| number.parse()) {
                counts.push((query.replace("&#38;", "&").replace("&amp;", "&"), number));
            }
        }
    }
    counts
}

#[tokio::test]
async fn every_count_of_the_page_leads_to_a_list_of_that_length() {
    let fleet = four_nodes().await;
    let page = fleet.page("/nodes").await;
    let counts = counts(&page);
    for wanted in [
        "verdict=broken",
        "action=reset_gpu",
        "model=NVIDIA%20Test",
        "driver=570.1",
    ] {
        assert!(
            counts.iter().any(|(query, _)| query == wanted),
            "{wanted}: {counts:?}"
        );
    }
    for (query, number) in counts {
        assert_eq!(fleet.ids(&query).await.len(), number, "{query}");
    }
    // A filter stays when another is added, and is told with a link that takes it back.
    let narrowed = fleet.page("/nodes?verdict=broken&sort=-id&q=rack1").await;
    assert!(
        narrowed.contains("verdict=broken&#38;driver=570.1&#38;sort=-id"),
        "{narrowed}"
    );
    assert!(
        narrowed.contains("href=\"/nodes?q=rack1&#38;sort=-id\""),
        "{narrowed}"
    );
    assert!(
        narrowed.contains("n2.rack1") && !narrowed.contains("n3.rack1"),
        "{narrowed}"
    );
    assert!(
        fleet
            .page("/nodes?q=nothing")
            .await
            .contains("No node meets all of this")
    );
}

#[tokio::test]
async fn the_page_of_a_node_says_what_to_do_and_what_is_different() {
    let fleet = four_nodes().await;
    let page = fleet.page("/nodes/n2").await;
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(
        at("xid-48 was seen") < at("reboot the node"),
        "cause, then what to do first"
    );
    assert!(at("reboot the node") < at("id=\"open\""));
    assert!(page.contains("so there is nothing to compare with"), "{page}");
    assert!(page.contains("<svg") && page.contains("Broken</title>"), "{page}");
}

#[tokio::test]
async fn gauges_count_nodes_and_their_labels_are_words() {
    let fleet = four_nodes().await;
    fleet.app.clock.set(NOW + Duration::hours(30));
    fleet.look("r5", "n5", "580.1", &[]).await;
    let told = fleet.app.get("/metrics").await.text().await.unwrap();
    for line in [
        "fleet_nodes{verdict=\"broken\"} 2\n",
        "fleet_nodes{verdict=\"no_fault_seen\"} 3\n",
        "fleet_nodes{verdict=\"healthy\"} 0\n",
        "fleet_nodes_by_action{action=\"reset_gpu\"} 1\n",
        "fleet_nodes_by_action{action=\"reboot_node\"} 1\n",
        "fleet_nodes_by_action{action=\"none\"} 3\n",
        "fleet_nodes_by_action{action=\"unknown\"} 0\n",
        "fleet_counted 1\n",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let silent = told
        .lines()
        .find(|line| line.starts_with("fleet_silent_nodes "))
        .unwrap();
    // The runs of all reports ended before the server's clock began.
    assert_eq!(silent, "fleet_silent_nodes 5");
    assert!(!told.contains("n1"), "no name of a node: {told}");
}

#[tokio::test]
async fn the_page_of_a_record_leads_to_its_nodes_for_those_who_may_see_them() {
    let fleet = Fleet::start().await;
    let path = "/r/cuda/peer-access-unsupported-by-hardware";
    let link = "/nodes?record=cuda%2Fpeer-access-unsupported-by-hardware";
    assert!(fleet.page(path).await.contains(link));
    let nobody = fleet.app.get(path).await.text().await.unwrap();
    assert!(!nobody.contains("/nodes?record"));
}

//! Lists of nodes by names that no record and no node has: a typo is no all-clear, and former ids still lead to the nodes.

use peerless::store::Scope;
use serde_json::{Value, json as object};

use crate::nodes::Fleet;
use crate::reports::report;
use crate::test_app::problem;

const ID: &str = "cuda/peer-access-unsupported-by-hardware";

async fn ids(fleet: &Fleet, query: &str) -> Vec<Value> {
    let listed = fleet.get(&format!("/api/v1/nodes?{query}")).await;
    let nodes = listed["nodes"].as_array().unwrap();
    nodes.iter().map(|node| node["id"].clone()).collect()
}

#[tokio::test]
async fn a_record_that_there_is_not_is_refused_with_those_near_it() {
    let fleet = Fleet::start().await;
    for path in [
        format!("/api/v1/nodes?record={ID}x"),
        format!("/nodes?record={ID}x"),
    ] {
        let answer = fleet.app.get_with(&path, &fleet.read).await;
        assert_eq!(answer.status(), 400, "{path}");
        let told = answer.text().await.unwrap();
        assert!(told.contains(&format!("near it: {ID}")), "{told}");
    }
    let page = fleet.page(&format!("/nodes?record={ID}")).await;
    assert!(
        page.contains(ID),
        "one that no node shows is asked for before any does"
    );
}

#[tokio::test]
async fn a_former_id_of_a_record_still_leads_to_its_nodes() {
    let fleet = Fleet::start().await;
    let upload = fleet.app.token(&[Scope::Report]).await;
    let mut body = report("r1");
    let text = "RuntimeError: CUDA error: peer access is not supported between these two devices";
    body["logs"] = object!([{"source": "kmsg", "when": "during", "text": text}]);
    let sent = fleet.app.post("/api/v1/reports").bearer_auth(&upload);
    assert_eq!(sent.json(&body).send().await.unwrap().status(), 201);
    let before = ids(&fleet, &format!("record={ID}")).await;
    assert_eq!(before.len(), 1);

    let publisher = fleet.app.token(&[Scope::Publish]).await;
    let new = "cuda/no-peer-access";
    let path = format!("/api/v1/records/{ID}/-/rename?new_id={new}");
    let renamed = fleet.app.post(&path).bearer_auth(&publisher);
    assert_eq!(renamed.send().await.unwrap().status(), 200);
    assert_eq!(ids(&fleet, &format!("record={new}")).await, before);
    assert_eq!(ids(&fleet, &format!("record={ID}")).await, before);
    let page = fleet.page(&format!("/nodes?record={ID}")).await;
    assert!(page.contains(new) && !page.contains("No node meets"), "{page}");
}

#[tokio::test]
async fn a_model_or_driver_that_no_node_has_is_said_with_those_that_nodes_have() {
    let fleet = Fleet::start().await;
    fleet.look("r1", "n1", "570.1", &[]).await;
    let listed = fleet.get("/api/v1/nodes?driver=570.2&model=NVIDIA%20Tset").await;
    assert_eq!(listed["nodes"], object!([]));
    let notes = listed["notes"].to_string();
    for said in [
        "no node has the GPU model `NVIDIA Tset`; nodes have NVIDIA Test",
        "no node has the driver `570.2`; nodes have 570.1",
    ] {
        assert!(notes.contains(said), "{notes}");
    }
    // Nodes have both, only none has them together with the rest.
    let other = fleet.get("/api/v1/nodes?driver=570.1&q=elsewhere").await;
    assert_eq!(other.get("notes"), None, "{other}");
    let page = fleet.page("/nodes?driver=570.2").await;
    assert!(
        page.contains("No node has the driver “570.2”. Nodes have: 570.1."),
        "{page}"
    );
    // Of no node all would be true.
    let reassures = ["calls for an explanation", "each of these nodes"];
    assert!(!reassures.iter().any(|said| page.contains(said)), "{page}");
    let page = fleet.page("/nodes?driver=570.1").await;
    assert!(reassures.iter().all(|said| page.contains(said)), "{page}");
    let page = fleet.page("/nodes?driver=570.2&lang=zh").await;
    assert!(
        page.contains("没有节点使用驱动“570.2”。现有节点使用：570.1。"),
        "{page}"
    );
    // A form sends what was not filled in.
    fleet.page("/nodes?model=&q=").await;
    for empty in ["model=", "q=", "verdict=", "label="] {
        let path = format!("/api/v1/nodes?{empty}");
        let refused = fleet.app.get_with(&path, &fleet.read).await;
        problem(refused, 400, "bad_query").await;
    }
}

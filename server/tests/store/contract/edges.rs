//! Edges: stated by one record, seen from both ends.

use std::sync::Arc;

use kb_core::transition::EdgeKind;
use peerless::store::{By, StoredEdge};
use serde_json::{Value, json};

use crate::support::{Place, at, id, published, record, record_with};

fn leading_to(name: &str, graph: Value) -> (String, String) {
    record_with(name, "one", json!({"transition_graph": graph}), json!({}))
}

fn edge(from: &str, kind: EdgeKind, to: &str, resolved: bool) -> StoredEdge {
    StoredEdge {
        from: id(from),
        kind,
        to: to.to_owned(),
        resolved,
        probability: None,
        condition: None,
        distinction: None,
        typical_delay: None,
    }
}

pub(crate) async fn edges_are_kept_as_stated_and_seen_from_both_ends(place: Arc<Place>) {
    let store = place.store().await;
    let graph = json!({
        "leads_to": [{"error_id": "cuda/b", "probability": 0.3, "condition": "under load", "typical_delay": "1 s"}],
        "preceded_by": [{"error_id": "cuda/b", "probability": null}],
        "frequently_confused_with": [{"error_id": "the one with the NVLink", "distinction": "看"}],
    });
    published(&*store, "cuda/a", leading_to("cuda/a", graph)).await;
    published(&*store, "cuda/b", record("cuda/b", "one")).await;

    let leads = StoredEdge {
        probability: Some(0.3),
        condition: Some("under load".to_owned()),
        typical_delay: Some("1 s".to_owned()),
        ..edge("cuda/a", EdgeKind::LeadsTo, "cuda/b", true)
    };
    let preceded = edge("cuda/a", EdgeKind::PrecededBy, "cuda/b", true);
    let confused = StoredEdge {
        distinction: Some("看".to_owned()),
        ..edge(
            "cuda/a",
            EdgeKind::FrequentlyConfusedWith,
            "the one with the NVLink",
            false,
        )
    };
    // No inverse is made up: the other end sees the same statements.
    assert_eq!(
        store.edges_around(&id("cuda/b")).await.unwrap(),
        [leads.clone(), preceded.clone()]
    );
    assert_eq!(
        store.edges_around(&id("cuda/a")).await.unwrap(),
        [leads, preceded, confused]
    );
    assert_eq!(store.edges_around(&id("cuda/c")).await.unwrap(), []);
}

pub(crate) async fn an_unknown_target_is_resolved_when_it_appears(place: Arc<Place>) {
    let store = place.store().await;
    let graph = json!({"leads_to": [{"error_id": "cuda/later"}]});
    published(&*store, "cuda/a", leading_to("cuda/a", graph)).await;
    let resolved = async |around: &str| {
        let edges = store.edges_around(&id(around)).await.unwrap();
        edges.iter().map(|edge| edge.resolved).collect::<Vec<_>>()
    };
    assert_eq!(resolved("cuda/a").await, [false]);
    assert_eq!(resolved("cuda/later").await, [false]);
    published(&*store, "cuda/later", record("cuda/later", "one")).await;
    assert_eq!(resolved("cuda/a").await, [true]);
    assert_eq!(resolved("cuda/later").await, [true]);
    store
        .withdraw(&id("cuda/later"), &By::system("ada"), at(9))
        .await
        .unwrap();
    assert_eq!(resolved("cuda/a").await, [false]);

    // By a former id too.
    let graph = json!({"leads_to": [{"error_id": "cuda/old"}]});
    published(&*store, "cuda/b", leading_to("cuda/b", graph)).await;
    assert_eq!(resolved("cuda/b").await, [false]);
    let aliases = record_with("cuda/new", "one", json!({"aliases": ["cuda/old"]}), json!({}));
    published(&*store, "cuda/new", aliases).await;
    assert_eq!(resolved("cuda/b").await, [true]);
    assert_eq!(resolved("cuda/new").await, [true]);
}

pub(crate) async fn edges_are_rebuilt_with_the_published_revision(place: Arc<Place>) {
    let store = place.store().await;
    let to = |target: &str| leading_to("cuda/a", json!({"leads_to": [{"error_id": target}]}));
    published(&*store, "cuda/a", to("cuda/b")).await;
    published(&*store, "cuda/a", to("cuda/c")).await;
    let targets = async || {
        let edges = store.edges_around(&id("cuda/a")).await.unwrap();
        edges.into_iter().map(|edge| edge.to).collect::<Vec<_>>()
    };
    assert_eq!(targets().await, ["cuda/c"]);
    assert_eq!(store.edges_around(&id("cuda/b")).await.unwrap(), []);
    store
        .withdraw(&id("cuda/a"), &By::system("ada"), at(9))
        .await
        .unwrap();
    assert!(targets().await.is_empty());
}

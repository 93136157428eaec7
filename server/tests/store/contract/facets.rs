//! Versions and settings of nodes, beside what is wrong with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kb_core::ids::NodeId;
use peerless::store::{Store, ToldFacets};

use crate::support::{Place, at, report};

fn told(second: i64, bios: &str, simulated: bool) -> ToldFacets {
    ToldFacets {
        simulated,
        model: "NVIDIA H200".to_owned(),
        told_at: at(second),
        facets: BTreeMap::from([("bios.version".to_owned(), bios.to_owned())]),
    }
}

async fn bios(store: &dyn Store, simulated: bool) -> Vec<(String, String)> {
    let nodes = store.facets(simulated, 10).await.unwrap();
    let each = nodes
        .into_iter()
        .map(|node| (node.node.to_string(), node.facets["bios.version"].clone()));
    each.collect()
}

pub(crate) async fn the_report_that_ended_last_tells_and_kinds_are_apart(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    store.save_report(report("n1", "r0", 1)).await.unwrap();
    let node: NodeId = "n1".parse().unwrap();
    store.note_facets(&node, &told(20, "2.4", false)).await.unwrap();
    // One that waited changes nothing.
    store.note_facets(&node, &told(10, "2.3", false)).await.unwrap();
    assert_eq!(bios(store, false).await, [("n1".to_owned(), "2.4".to_owned())]);
    store.note_facets(&node, &told(30, "2.7", false)).await.unwrap();
    assert_eq!(bios(store, false).await, [("n1".to_owned(), "2.7".to_owned())]);
    assert_eq!(bios(store, true).await, []);
    store
        .note_facets(&node, &told(40, "made up", true))
        .await
        .unwrap();
    assert_eq!(bios(store, true).await, [("n1".to_owned(), "made up".to_owned())]);
    assert_eq!(bios(store, false).await.len(), 1);
}

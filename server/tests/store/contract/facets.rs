//! Versions and settings of nodes, beside what is wrong with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use peerless::store::{NewReport, Store, ToldFacets};

use crate::support::{Place, at, report};

fn told(second: i64, bios: &str, simulated: bool) -> ToldFacets {
    ToldFacets {
        simulated,
        model: "NVIDIA H200".to_owned(),
        told_at: at(second),
        facets: BTreeMap::from([("bios.version".to_owned(), bios.to_owned())]),
        untold: Vec::new(),
    }
}

async fn keep(store: &dyn Store, (node, id): (&str, &str), told: ToldFacets) {
    let sent = NewReport {
        simulated: told.simulated,
        facets: Some(told),
        ..report(node, id, 50)
    };
    store.save_report(sent).await.unwrap();
}

async fn bios(store: &dyn Store, simulated: bool) -> Vec<(String, String)> {
    let nodes = store.facets(simulated, None, 10).await.unwrap();
    let each = nodes
        .into_iter()
        .map(|node| (node.node.to_string(), node.facets["bios.version"].clone()));
    each.collect()
}

pub(crate) async fn the_report_that_ended_last_tells_and_kinds_are_apart(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    keep(store, ("n1", "r1"), told(20, "2.4", false)).await;
    // One that waited changes nothing.
    keep(store, ("n1", "r2"), told(10, "2.3", false)).await;
    assert_eq!(bios(store, false).await, [("n1".to_owned(), "2.4".to_owned())]);
    keep(store, ("n1", "r3"), told(30, "2.7", false)).await;
    assert_eq!(bios(store, false).await, [("n1".to_owned(), "2.7".to_owned())]);
    assert_eq!(bios(store, true).await, []);
    keep(store, ("n1", "r4"), told(40, "made up", true)).await;
    assert_eq!(bios(store, true).await, [("n1".to_owned(), "made up".to_owned())]);
    assert_eq!(bios(store, false).await.len(), 1);
}

pub(crate) async fn what_a_report_cannot_tell_stays_and_pages_go_on(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    keep(store, ("n1", "r1"), told(20, "2.4", false)).await;
    let look = ToldFacets {
        facets: BTreeMap::from([("mig.mode".to_owned(), "off".to_owned())]),
        untold: vec!["bios.version".to_owned()],
        ..told(30, "", false)
    };
    keep(store, ("n1", "r2"), look.clone()).await;
    assert_eq!(bios(store, false).await, [("n1".to_owned(), "2.4".to_owned())]);
    // Of other GPUs nothing is taken over.
    let other = ToldFacets {
        model: "NVIDIA B200".to_owned(),
        told_at: at(40),
        ..look
    };
    keep(store, ("n1", "r3"), other).await;
    let nodes = store.facets(false, None, 10).await.unwrap();
    assert!(!nodes[0].facets.contains_key("bios.version"), "{nodes:?}");
    keep(store, ("n2", "r4"), told(20, "2.5", false)).await;
    keep(store, ("n3", "r5"), told(20, "2.5", false)).await;
    let first = store.facets(false, None, 2).await.unwrap();
    let names: Vec<&str> = first.iter().map(|node| node.node.as_str()).collect();
    assert_eq!(names, ["n1", "n2"]);
    let rest = store.facets(false, Some(&first[1].node), 2).await.unwrap();
    let names: Vec<&str> = rest.iter().map(|node| node.node.as_str()).collect();
    assert_eq!(names, ["n3"]);
}

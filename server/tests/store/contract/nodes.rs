//! Nodes.

use std::sync::Arc;

use kb_core::ids::NodeId;
use peerless::store::NewReport;

use crate::support::{Place, at, report};

pub(crate) async fn nodes_come_with_their_latest_report(place: Arc<Place>) {
    let store = place.store().await;
    store.save_report(report("n1", "a1", 10)).await.unwrap();
    let renamed = NewReport {
        hostname: Some("other".to_owned()),
        gpus: 8,
        ..report("n1", "a2", 20)
    };
    store.save_report(renamed).await.unwrap();
    let nodes = store.nodes(None, 10).await.unwrap();
    assert_eq!(nodes.len(), 1);
    let node = &nodes[0];
    assert_eq!(
        (node.first_seen, node.reports, node.hostname.as_deref()),
        (at(10), 2, Some("other"))
    );
    assert_eq!((node.latest.id.as_str(), node.latest.gpus), ("a2", 8));
}

pub(crate) async fn a_late_arrival_does_not_take_the_place_of_a_later_one(place: Arc<Place>) {
    let store = place.store().await;
    store.save_report(report("n1", "a2", 20)).await.unwrap();
    let late = NewReport {
        hostname: Some("old name".to_owned()),
        ..report("n1", "a1", 10)
    };
    store.save_report(late).await.unwrap();
    let node = &store.nodes(None, 10).await.unwrap()[0];
    assert_eq!((node.reports, node.latest.id.as_str()), (2, "a2"));
    assert_eq!(node.hostname.as_deref(), Some("n1.example"));
}

pub(crate) async fn the_latest_is_the_run_that_ended_last(place: Arc<Place>) {
    let store = place.store().await;
    store.save_report(report("n1", "new", 20)).await.unwrap();
    let drained = NewReport {
        finished_at: at(8),
        hostname: Some("old name".to_owned()),
        ..report("n1", "from-the-spool", 60)
    };
    store.save_report(drained).await.unwrap();
    let node = &store.nodes(None, 10).await.unwrap()[0];
    assert_eq!((node.reports, node.latest.id.as_str()), (2, "new"));
    assert_eq!(node.hostname.as_deref(), Some("n1.example"));
}

pub(crate) async fn a_clock_that_runs_ahead_does_not_stay_the_latest(place: Arc<Place>) {
    let store = place.store().await;
    let ahead = NewReport {
        finished_at: at(5_000),
        ..report("n1", "ahead", 20)
    };
    store.save_report(ahead).await.unwrap();
    store.save_report(report("n1", "set-right", 30)).await.unwrap();
    let node = &store.nodes(None, 10).await.unwrap()[0];
    assert_eq!(node.latest.id.as_str(), "set-right");
}

pub(crate) async fn nodes_come_in_pages(place: Arc<Place>) {
    let store = place.store().await;
    for name in ["n-c", "N.a", "n_b"] {
        store.save_report(report(name, "r1", 10)).await.unwrap();
    }
    let page = async |after: Option<&str>, limit| {
        let after: Option<NodeId> = after.map(|after| after.parse().unwrap());
        let nodes = store.nodes(after.as_ref(), limit).await.unwrap();
        nodes
            .iter()
            .map(|node| node.id.to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(page(None, 2).await, "N.a n-c");
    assert_eq!(page(Some("n-c"), 2).await, "n_b");
    assert_eq!(page(Some("n_b"), 2).await, "");
}

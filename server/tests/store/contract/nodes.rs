//! Nodes.

use std::sync::Arc;

use kb_core::ids::{NodeId, Seq};
use kb_core::verdict::Verdict;
use peerless::store::{NewReport, Weight};

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

/// A report with a verdict that is worth so much.
fn verdict(id: &str, second: i64, verdict: Verdict, weight: Weight) -> NewReport {
    NewReport {
        verdict,
        weight,
        ..report("n1", id, second)
    }
}

/// Ids of what stands and of what was seen last, when these reports came in this order.
async fn told(place: &Place, reports: Vec<NewReport>) -> (String, String) {
    let store = place.store().await;
    for report in reports {
        store.save_report(report).await.unwrap();
    }
    let node = store.node(&"n1".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(store.nodes(None, 1).await.unwrap(), std::slice::from_ref(&node));
    (node.latest.id.to_string(), node.last_seen.id.to_string())
}

fn ids(latest: &str, last_seen: &str) -> (String, String) {
    (latest.to_owned(), last_seen.to_owned())
}

pub(crate) async fn a_proven_fault_stands_until_a_later_proof(place: Arc<Place>) {
    let hang = verdict("hang", 10, Verdict::Broken, Weight::Proof);
    let look = verdict("look", 20, Verdict::Unknown, Weight::Look);
    assert_eq!(told(&place, vec![hang, look]).await, ids("hang", "look"));
    let failed = verdict("failed", 30, Verdict::Unknown, Weight::Alarm);
    assert_eq!(told(&place, vec![failed]).await, ids("hang", "failed"));
    // Proven before the fault, and come after it.
    let drained = NewReport {
        finished_at: at(3),
        ..verdict("before", 40, Verdict::Healthy, Weight::Proof)
    };
    assert_eq!(told(&place, vec![drained]).await, ids("hang", "failed"));
    let mended = verdict("mended", 50, Verdict::Healthy, Weight::Proof);
    assert_eq!(told(&place, vec![mended]).await, ids("mended", "mended"));
}

pub(crate) async fn proven_health_ends_with_an_alarm(place: Arc<Place>) {
    let proven = verdict("proven", 10, Verdict::Healthy, Weight::Proof);
    let look = verdict("look", 20, Verdict::Unknown, Weight::Look);
    assert_eq!(told(&place, vec![proven, look]).await, ids("proven", "look"));
    let alarm = verdict("alarm", 30, Verdict::Unknown, Weight::Alarm);
    assert_eq!(told(&place, vec![alarm]).await, ids("alarm", "alarm"));
}

pub(crate) async fn without_a_proof_the_latest_stands(place: Arc<Place>) {
    let looks = [10, 20].map(|second| {
        let id = format!("look-{second}");
        verdict(&id, second, Verdict::Unknown, Weight::Look)
    });
    assert_eq!(told(&place, looks.to_vec()).await, ids("look-20", "look-20"));
    let store = place.store().await;
    assert_eq!(store.node(&"n2".parse().unwrap()).await.unwrap(), None);
}

pub(crate) async fn a_standing_fault_is_correlated_again_too(place: Arc<Place>) {
    let hang = verdict("hang", 10, Verdict::Broken, Weight::Proof);
    let look = verdict("look", 20, Verdict::Unknown, Weight::Look);
    told(&place, vec![hang, look]).await;
    let waiting = place
        .store()
        .await
        .reports_to_correlate(Seq(1), 10)
        .await
        .unwrap();
    let ids: Vec<&str> = waiting.iter().map(|report| report.listing.id.as_str()).collect();
    assert_eq!(ids, ["hang", "look"]);
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

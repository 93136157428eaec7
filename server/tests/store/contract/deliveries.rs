//! What waits to be told to another program.

use std::sync::Arc;

use peerless::store::{AuditQuery, By, Delivery, DeliveryEnd, MOST_DELIVERIES, NewAudit, NewDelivery, Store};
use serde_json::json;
use time::OffsetDateTime;

use crate::support::{Place, at};

fn made(id: &str, second: i64) -> NewDelivery {
    NewDelivery {
        id: id.to_owned(),
        kind: "review.asked",
        body: format!("{{\"of\":\"{id}\"}}"),
        made_at: at(second),
    }
}

/// Rows of the audit that tell nothing.
async fn note(store: &dyn Store, count: usize) {
    for _ in 0..count {
        let entry = NewAudit::new("login", "ada", &By::system("test"), at(1));
        store.note(entry).await.unwrap();
    }
}

/// The queue with these deliveries, of a row of the audit each.
async fn queue(store: &dyn Store, deliveries: &[NewDelivery]) {
    store.begin_deliveries().await.unwrap();
    note(store, deliveries.len()).await;
    let state = store.delivery_state(at(0)).await.unwrap();
    let rows = (state.queued_to.unwrap(), state.audit);
    assert_eq!(
        store.queue_audit(rows, deliveries, at(10)).await.unwrap(),
        Some(0)
    );
}

async fn claim(store: &dyn Store, now: OffsetDateTime, until: i64) -> Option<Delivery> {
    store.claim_delivery(now, at(until)).await.unwrap()
}

pub(crate) async fn rows_of_the_audit_are_queued_once(place: Arc<Place>) {
    let store = place.store().await;
    note(store.as_ref(), 3).await;
    assert_eq!(store.delivery_state(at(0)).await.unwrap().queued_to, None);
    // What was done before there was a webhook is not told.
    store.begin_deliveries().await.unwrap();
    store.begin_deliveries().await.unwrap();
    let state = store.delivery_state(at(0)).await.unwrap();
    assert_eq!((state.queued_to, state.audit), (Some(3), 3));
    note(store.as_ref(), 2).await;
    let rows = store.audit_after(3, 10).await.unwrap();
    let numbers: Vec<i64> = rows.iter().map(|row| row.n).collect();
    assert_eq!(numbers, [4, 5]);
    assert_eq!(store.audit_after(3, 1).await.unwrap().len(), 1);

    let events = [made("audit-4", 4), made("audit-5", 5)];
    assert_eq!(store.queue_audit((3, 5), &events, at(10)).await.unwrap(), Some(0));
    // Another server that has read the same rows is too late.
    assert_eq!(store.queue_audit((3, 5), &events, at(10)).await.unwrap(), None);
    assert_eq!(
        store.queue_audit((3, 4), &events[..1], at(10)).await.unwrap(),
        None
    );
    let state = store.delivery_state(at(9)).await.unwrap();
    assert_eq!(
        (state.queued_to, state.waiting, state.is_due),
        (Some(5), 2, false)
    );
    assert!(store.delivery_state(at(10)).await.unwrap().is_due);
}

pub(crate) async fn one_server_has_a_delivery_until_its_claim_ends(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    queue(store, &[made("b", 2), made("a", 1)]).await;
    assert_eq!(claim(store, at(9), 100).await, None);
    // The older of two that are due at once comes first.
    let first = claim(store, at(10), 100).await.unwrap();
    assert_eq!(
        (first.id.as_str(), first.attempts, first.until),
        ("a", 0, at(100))
    );
    assert_eq!((first.body.as_str(), first.made_at), ("{\"of\":\"a\"}", at(1)));
    let second = claim(store, at(10), 100).await.unwrap();
    assert_eq!(second.id, "b");
    assert_eq!(claim(store, at(99), 200).await, None);
    let failed = DeliveryEnd::Failed {
        again_at: at(50),
        why: "it answered 500".to_owned(),
    };
    assert!(store.settle_delivery(&first, &failed, at(20)).await.unwrap());
    assert!(
        store
            .settle_delivery(&second, &DeliveryEnd::Taken, at(20))
            .await
            .unwrap()
    );
    assert_eq!(claim(store, at(49), 200).await, None);
    let again = claim(store, at(50), 200).await.unwrap();
    assert_eq!((again.id.as_str(), again.attempts), ("a", 1));
    // The server that had it died: another one gets it, and whatever the first says of it then does not count.
    let other = claim(store, at(200), 300).await.unwrap();
    assert_eq!(other.id, "a");
    assert!(
        !store
            .settle_delivery(&again, &DeliveryEnd::Taken, at(201))
            .await
            .unwrap()
    );
    assert!(
        store
            .settle_delivery(&other, &DeliveryEnd::Taken, at(201))
            .await
            .unwrap()
    );
    assert_eq!(store.delivery_state(at(999)).await.unwrap().waiting, 0);
}

pub(crate) async fn a_clock_that_was_ahead_holds_no_delivery_up(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    queue(store, &[made("a", 1)]).await;
    let ahead = claim(store, at(90_000), 90_060).await.unwrap();
    assert!(store.delivery_state(at(20)).await.unwrap().is_due);
    let right = claim(store, at(20), 80).await.unwrap();
    assert_eq!((right.id, right.until), (ahead.id, at(80)));
    assert!(!store.delivery_state(at(21)).await.unwrap().is_due);
    assert_eq!(claim(store, at(21), 81).await, None);
}

pub(crate) async fn what_is_given_up_stands_in_the_audit(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    queue(store, &[made("a", 1)]).await;
    let only = claim(store, at(10), 100).await.unwrap();
    let end = DeliveryEnd::GivenUp {
        why: "it answered 410".to_owned(),
    };
    assert!(store.settle_delivery(&only, &end, at(20)).await.unwrap());
    assert!(!store.settle_delivery(&only, &end, at(20)).await.unwrap());
    assert_eq!(store.delivery_state(at(999)).await.unwrap().waiting, 0);
    let query = AuditQuery {
        action: Some("webhook".to_owned()),
        limit: 10,
        ..AuditQuery::default()
    };
    let rows = store.audit(&query).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].action.as_str(), rows[0].subject.as_str()),
        ("webhook.give_up", "a")
    );
    let detail = json!({ "event": "review.asked", "why": "it answered 410", "attempts": 1 });
    assert_eq!(rows[0].detail, detail);
}

pub(crate) async fn the_queue_is_bounded(place: Arc<Place>) {
    let store = place.store().await;
    store.begin_deliveries().await.unwrap();
    note(store.as_ref(), 1).await;
    let most = i64::from(MOST_DELIVERIES);
    let events: Vec<NewDelivery> = (0..most + 3).map(|n| made(&format!("{n:06}"), n)).collect();
    let dropped = store.queue_audit((0, 1), &events, at(10)).await.unwrap();
    assert_eq!(dropped, Some(3));
    let state = store.delivery_state(at(10)).await.unwrap();
    assert_eq!(state.waiting, u64::from(MOST_DELIVERIES));
    // The oldest are gone, and the audit says how many.
    assert_eq!(claim(store.as_ref(), at(10), 100).await.unwrap().id, "000003");
    let rows = store.audit_after(1, 10).await.unwrap();
    assert_eq!((rows.len(), &rows[0].detail["events"]), (1, &json!(3)));
}

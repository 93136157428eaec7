//! What begins and ends on nodes, told to the webhook and to Alertmanager.

use peerless::config::TellArgs;
use peerless::domain::tell::{LONGEST_PAUSE, WINDOW, collect_fleet, look_for_silence};
use peerless::store::NewDelivery;
use peerless::web::webhook::Alertmanagers;
use serde_json::{Value, json as object};
use time::{Duration, OffsetDateTime};

use crate::nodes::{Fleet, fault};
use crate::process::until;
use crate::receiver::{Came, Receiver, begun, metric, secret, set};
use crate::test_app::{NOW, TestApp};

const NAME: &str = "rule:health/xid-79";

fn reset() -> Value {
    fault("xid-79", "reset_gpu")
}

/// Waits for so many messages.
async fn messages(receiver: &Receiver, count: usize) -> Vec<Came> {
    until("the messages come", || async { receiver.came().len() >= count }).await;
    let came = receiver.came();
    assert_eq!(came.len(), count, "{came:?}");
    came
}

async fn acknowledge(fleet: &Fleet, node: &str) {
    let request = fleet.app.post(&format!("/api/v1/nodes/{node}/findings"));
    let body = object!({ "finding": NAME, "step": "acknowledge" });
    let answer = request.bearer_auth(&fleet.read).json(&body).send().await.unwrap();
    assert_eq!(answer.status(), 200);
}

#[tokio::test]
async fn a_fault_of_many_nodes_is_one_message() {
    let receiver = Receiver::start(&[500]);
    let secret = secret();
    let app = TestApp::start_with(|options| {
        set(options, &receiver, &secret);
        options.settings.public_url = Some("https://kb.example.org".to_owned());
    })
    .await;
    begun(&app).await;
    let fleet = Fleet::of(app).await;
    for (report, node) in [("r1", "n1"), ("r2", "n2"), ("r3", "n3")] {
        fleet.look(report, node, "570.1", &[reset()]).await;
    }
    fleet.look("r4", "n4", "570.1", &[]).await;
    acknowledge(&fleet, "n3").await;
    let set_clock = |after: Duration| fleet.app.clock.set(NOW + after);
    set_clock(WINDOW);
    messages(&receiver, 1).await;
    metric(&fleet.app, "webhook_failed_total 1").await;
    // Tried again.
    set_clock(Duration::minutes(2));
    let came = messages(&receiver, 2).await;
    assert_eq!((&came[0].id, &came[0].body), (&came[1].id, &came[1].body));
    assert!(came.iter().all(|came| came.is_signed));
    let (body, data) = (&came[1].body, &came[1].body["data"]);
    assert_eq!(body["type"], "finding.began");
    assert_eq!(
        (&data["cause"], &data["nodes"]),
        (&object!(NAME), &object!(["n1", "n2"]))
    );
    assert_eq!(
        (&data["node_count"], &data["action"]),
        (&object!(2), &object!("reset_gpu"))
    );
    assert_eq!(data["url"], "https://kb.example.org/nodes");

    // Another node with the same cause waits until the group may be told again; what has ended is a message of its own.
    fleet.look("r5", "n5", "570.1", &[reset()]).await;
    fleet.look("r6", "n1", "570.1", &[]).await;
    set_clock(Duration::minutes(4));
    let came = messages(&receiver, 3).await;
    let data = &came[2].body["data"];
    assert_eq!(
        (&came[2].body["type"], &data["nodes"]),
        (&object!("finding.ended"), &object!(["n1"]))
    );
    assert_eq!(data["url"], "https://kb.example.org/nodes/n1");
    set_clock(Duration::minutes(8));
    let came = messages(&receiver, 4).await;
    let data = &came[3].body["data"];
    assert_eq!(
        (&came[3].body["type"], &data["nodes"]),
        (&object!("finding.began"), &object!(["n5"]))
    );
}

#[tokio::test]
async fn a_receiver_that_hangs_holds_up_no_fault() {
    let receiver = Receiver::start(&vec![500; 20_000]);
    let secret = secret();
    let app = TestApp::start_with(|options| set(options, &receiver, &secret)).await;
    begun(&app).await;
    let fleet = Fleet::of(app).await;
    let hangs = Duration::seconds(15);
    receiver.slow_down(&fleet.app, hangs);
    // With so many an event is due again before all were tried.
    let made: Vec<NewDelivery> = (0..=LONGEST_PAUSE.whole_seconds() / hangs.whole_seconds())
        .map(|n| NewDelivery {
            id: format!("old-{n}"),
            kind: "review.asked",
            body: "{}".to_owned(),
            made_at: NOW,
        })
        .collect();
    let audit = fleet.app.store.delivery_state(NOW).await.unwrap().audit;
    let queued = async || {
        let rows = (audit, audit);
        fleet.app.store.queue_audit(rows, &made, NOW).await.unwrap()
    };
    until("the events are queued", || async { queued().await == Some(0) }).await;
    until("the receiver hangs", || async { !receiver.came().is_empty() }).await;
    fleet.look("r1", "n1", "570.1", &[reset()]).await;
    until("the fault is told", || async {
        !receiver.of_type("finding.began").is_empty()
    })
    .await;
}

#[tokio::test]
async fn alertmanager_is_told_what_is_open_again_and_again() {
    let receiver = Receiver::start(&[500]);
    let app = TestApp::start_with(|options| {
        options.settings.tell.alertmanager = vec![format!("{}/", receiver.url)];
        options.settings.tell.alert_labels = vec!["node".to_owned()];
    })
    .await;
    // That it does not take anything is known before there is a fault.
    assert_eq!(messages(&receiver, 1).await[0].body, object!([]));
    metric(&app, "alertmanager_failed_total 1").await;
    let fleet = Fleet::of(app).await;
    fleet.look("r1", "n1", "570.1", &[reset()]).await;
    fleet.look("r2", "n2", "570.1", &[reset()]).await;
    let set_clock = |minutes: i64| fleet.app.clock.set(NOW + Duration::minutes(minutes));
    set_clock(1);
    assert_eq!(messages(&receiver, 2).await[1].body.as_array().unwrap().len(), 2);
    metric(&fleet.app, "alertmanager_delivered_total 1").await;
    acknowledge(&fleet, "n2").await;
    set_clock(2);
    let came = messages(&receiver, 3).await;
    assert_eq!(came[2].path, "/api/v2/alerts");
    let alerts = came[2].body.as_array().unwrap();
    assert_eq!(alerts.len(), 2);
    let labels = object!({
        "alertname": "PeerlessFinding", "cause": NAME, "node": "n1", "severity": "fatal", "action": "reset_gpu",
    });
    assert_eq!(alerts[0]["labels"], labels);
    let summary = alerts[0]["annotations"]["summary"].as_str().unwrap();
    assert!(summary.contains("(1 node: n1)"), "{summary}");
    // What is open ends by itself unless it is heard of again; what is acknowledged has ended.
    let ends = |alert: &Value| {
        let at = |name: &str| {
            let format = &time::format_description::well_known::Rfc3339;
            OffsetDateTime::parse(alert[name].as_str().unwrap(), format).unwrap()
        };
        assert!(at("startsAt") <= at("endsAt"));
        at("endsAt")
    };
    assert_eq!(ends(&alerts[0]), NOW + Duration::minutes(7));
    assert_eq!(alerts[1]["labels"]["node"], "n2");
    assert_eq!(ends(&alerts[1]), NOW + Duration::minutes(1));
    // After that nothing is said of it, and an end is told.
    fleet.look("r3", "n1", "570.1", &[]).await;
    set_clock(6);
    let came = messages(&receiver, 4).await;
    let alerts = came[3].body.as_array().unwrap();
    assert_eq!((alerts.len(), &alerts[0]["labels"]["node"]), (1, &object!("n1")));
    assert_eq!(ends(&alerts[0]), NOW + Duration::minutes(2));
}

#[tokio::test]
async fn a_request_that_is_refused_withholds_no_other_alerts() {
    let receiver = Receiver::start(&[400]);
    let settings = TellArgs {
        alertmanager: vec![receiver.url.clone()],
        ..TellArgs::default()
    };
    let told = Alertmanagers::of(&settings).unwrap().unwrap();
    let alerts: Vec<Value> = (0..501).map(|n| object!({ "labels": { "node": n } })).collect();
    let sent = told.send(&alerts).await;
    let why: Vec<String> = sent
        .into_iter()
        .map(|sent| sent.unwrap_err().to_string())
        .collect();
    assert_eq!(why, ["it answered 400"]);
    let came = receiver.came();
    assert_eq!(came.len(), 2);
    assert_eq!(came[1].body, object!([{ "labels": { "node": 500 } }]));
}

#[tokio::test]
async fn silence_is_told_after_three_looks_of_the_servers_own() {
    let fleet = Fleet::of(TestApp::start().await).await;
    for (report, node) in [("r1", "n1"), ("r2", "n2")] {
        fleet.look(report, node, "570.1", &[]).await;
    }
    let store = fleet.app.store.as_ref();
    let look = async |minutes: i64| {
        let now = NOW + Duration::minutes(minutes);
        look_for_silence(store, now).await.unwrap();
        let generation = fleet.app.state.knowledge.current();
        collect_fleet(store, &generation, (&[], None), now).await.unwrap();
        store.delivery_state(now).await.unwrap().waiting
    };
    let day = 25 * 60;
    // There was no server for a day: nodes get time to report.
    assert_eq!(look(0).await, 0);
    assert_eq!(look(day).await, 0);
    assert_eq!(look(day + 5).await, 0);
    assert_eq!(look(day + 10).await, 0);
    assert_eq!(look(day + 20).await, 1);
    assert_eq!(look(day + 30).await, 1);
    let now = NOW + Duration::minutes(day + 30);
    let told = store.claim_delivery(now, now).await.unwrap().unwrap();
    let body: Value = serde_json::from_str(&told.body).unwrap();
    assert_eq!(
        (&body["data"]["cause"], &body["data"]["nodes"]),
        (&object!("node-silent"), &object!(["n1", "n2"]))
    );
    assert_eq!(body["data"]["title"], "No run ended within 24 hours");
}

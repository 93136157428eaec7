//! What began and ended on nodes, told once.

use std::sync::Arc;

use kb_core::report::Bearing;
use kb_core::severity::{Action, Severity};
use peerless::store::{
    By, FindingChange, FindingStep, Gravity, GroupName, NewDelivery, NewReport, NodeAlert, SILENT, Seen,
    SilenceLook, Store, ToldGroup, Turn,
};
use time::Duration;

use super::fleet_summary::{finding, found};
use crate::support::{Place, at, report};

pub(super) const RESET: (Bearing, Severity, Action) = (Bearing::Fault, Severity::Fatal, Action::ResetGpu);
const NOTICE: (Bearing, Severity, Action) = (Bearing::Event, Severity::Info, Action::FixApplication);
pub(super) const NAME: &str = "rule:xid-79";
/// Turns are taken at a second and last this long.
const TURN: i64 = 30;

/// A run of a node that shows the fault, or nothing.
async fn run(store: &dyn Store, node: &str, second: i64, shows: bool) {
    let mut findings = vec![finding(None, "a-notice", NOTICE)];
    if shows {
        findings.push(finding(None, "xid-79", RESET));
    }
    let sent = NewReport {
        simulated: false,
        found: found(findings),
        ..report(node, &format!("r{second}"), second)
    };
    store.save_report(sent).await.unwrap();
}

fn seen(second: i64) -> Seen {
    Seen {
        now: at(second),
        silent_before: at(-1_000_000),
    }
}

/// What was not told: the node and whether it has ended.
pub(super) async fn untold(store: &dyn Store, second: i64) -> Vec<(String, bool)> {
    let untold = store.untold(seen(second), 100).await.unwrap().list;
    let told = |alert: &NodeAlert| (alert.node.to_string(), alert.ended_at.is_some());
    untold.iter().map(told).collect()
}

pub(super) fn group(cause: &str, has_ended: bool, nodes: &[&str]) -> ToldGroup {
    ToldGroup {
        name: GroupName {
            kind: if has_ended { "ended" } else { "began" }.to_owned(),
            cause: cause.to_owned(),
            labels: "{}".to_owned(),
        },
        has_ended,
        nodes: nodes.iter().map(|node| node.parse().unwrap()).collect(),
    }
}

/// Tells a group in a turn of its own.
pub(super) async fn tell(store: &dyn Store, second: i64, told: ToldGroup) {
    let turn = Turn {
        name: "fleet",
        until: at(second + TURN),
        now: at(second),
    };
    assert!(store.take_turn("fleet", turn.now, turn.until).await.unwrap());
    let made = NewDelivery {
        id: format!("fleet-{second}"),
        kind: "finding.began",
        body: "{}".to_owned(),
        made_at: turn.now,
    };
    assert_eq!(store.tell(turn, &[told], &[made]).await.unwrap(), Some(0));
}

pub(crate) async fn a_beginning_and_an_end_are_told_once(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    run(store, "n1", 10, true).await;
    run(store, "n2", 11, true).await;
    run(store, "n3", 12, false).await;
    // Made up by a stand-in for the driver.
    let simulated = NewReport {
        found: found(vec![finding(None, "xid-79", RESET)]),
        ..report("n4", "r1", 13)
    };
    store.save_report(simulated).await.unwrap();
    let alerts = store.untold(seen(20), 100).await.unwrap().list;
    let first = alerts.first().unwrap();
    assert_eq!(
        (first.cause.as_str(), first.title.as_str()),
        (NAME, "the title of xid-79")
    );
    let gravity = Gravity {
        bearing: RESET.0,
        severity: Some(RESET.1),
        action: Some(RESET.2),
    };
    assert_eq!((first.opened_at, first.gravity), (at(5), gravity));
    let both = [("n1".to_owned(), false), ("n2".to_owned(), false)];
    assert_eq!(untold(store, 20).await, both);
    for (limit, read, is_cut) in [(1, 1, true), (3, 2, false)] {
        let untold = store.untold(seen(20), limit).await.unwrap();
        assert_eq!((untold.list.len(), untold.is_cut), (read, is_cut));
    }

    tell(store, 20, group(NAME, false, &["n1", "n2"])).await;
    assert_eq!(untold(store, 21).await, []);
    assert_eq!(store.delivery_state(at(20)).await.unwrap().waiting, 1);
    let told = store.told_groups(at(19)).await.unwrap();
    assert_eq!(told, [group(NAME, false, &[]).name]);
    assert_eq!(store.told_groups(at(20)).await.unwrap(), []);
    // It goes on, which is no news.
    run(store, "n1", 30, true).await;
    assert_eq!(untold(store, 31).await, []);
    run(store, "n1", 40, false).await;
    let ended = [("n1".to_owned(), true)];
    assert_eq!(untold(store, 41).await, ended);
    // Of all that is open, and of what ended lately.
    let states = async |ended_after: i64| {
        let alerts = store.alerts(seen(41), at(ended_after), 100).await.unwrap().list;
        let state = |alert: &NodeAlert| (alert.node.to_string(), alert.ended_at);
        alerts.iter().map(state).collect::<Vec<_>>()
    };
    let open = ("n2".to_owned(), None);
    assert_eq!(states(39).await, [open.clone(), ("n1".to_owned(), Some(at(40)))]);
    assert_eq!(states(40).await, [open]);
    // Each kind has a limit of its own.
    for (limit, is_cut) in [(1, true), (2, false)] {
        let alerts = store.alerts(seen(41), at(39), limit).await.unwrap();
        assert_eq!((alerts.list.len(), alerts.is_cut), (2, is_cut));
    }

    tell(store, 60, group(NAME, true, &["n1"])).await;
    assert_eq!(untold(store, 61).await, []);
    // It comes back before its end was told, and goes before its beginning was: the receiver hears what it has to.
    run(store, "n1", 70, true).await;
    assert_eq!(untold(store, 71).await, [("n1".to_owned(), false)]);
    run(store, "n1", 80, false).await;
    assert_eq!(untold(store, 81).await, []);
}

pub(crate) async fn what_is_harmless_now_has_ended(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    run(store, "n1", 10, true).await;
    run(store, "n2", 11, true).await;
    tell(store, 20, group(NAME, false, &["n1", "n2"])).await;
    assert_eq!(untold(store, 21).await, []);
    // An editor says that it is no fault, or the node is one that is made up.
    let harmless = NewReport {
        simulated: false,
        found: found(vec![finding(None, "xid-79", (Bearing::Event, RESET.1, RESET.2))]),
        ..report("n1", "r50", 50)
    };
    store.save_report(harmless).await.unwrap();
    let ended = [("n1".to_owned(), true)];
    assert_eq!(untold(store, 60).await, ended);
    let ends = store.untold(seen(60), 100).await.unwrap().list;
    assert_eq!(ends[0].ended_at, Some(at(60)));
    tell(store, 60, group(NAME, true, &["n1"])).await;
    assert_eq!(untold(store, 61).await, []);
    // It weighs again.
    run(store, "n1", 70, true).await;
    assert_eq!(untold(store, 71).await, [("n1".to_owned(), false)]);
}

pub(crate) async fn what_is_acknowledged_or_silenced_is_not_told(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    for (node, second) in [("n1", 10), ("n2", 11), ("n3", 12)] {
        run(store, node, second, true).await;
    }
    let step = async |node: &str, step: FindingStep, second: i64| {
        let change = FindingChange {
            node: node.parse().unwrap(),
            name: NAME.to_owned(),
            step,
            by: By::system("ada"),
            at: at(second),
        };
        assert!(store.change_finding(change).await.unwrap());
    };
    step("n1", FindingStep::Acknowledge { note: None }, 20).await;
    let until = at(100);
    step("n2", FindingStep::Silence { until, note: None }, 20).await;
    let nodes = async |second: i64| {
        let all = untold(store, second).await;
        all.into_iter().map(|(node, _)| node).collect::<Vec<_>>()
    };
    assert_eq!(nodes(50).await, ["n3"]);
    // Alertmanager hears for a time that they need nobody's eyes any more.
    let alerts = async |second: i64, after: i64| {
        let alerts = store.alerts(seen(second), at(after), 100).await.unwrap().list;
        let state = |alert: &NodeAlert| (alert.node.to_string(), alert.ended_at.is_some());
        alerts.iter().map(state).collect::<Vec<_>>()
    };
    let all = ["n1", "n2", "n3"].map(|node| (node.to_owned(), node != "n3"));
    assert_eq!(alerts(50, 10).await, all);
    assert_eq!(alerts(50, 30).await, all[2..]);
    // A silence ends by itself.
    assert_eq!(nodes(100).await, ["n2", "n3"]);
    step("n1", FindingStep::Release, 101).await;
    assert_eq!(nodes(102).await, ["n1", "n2", "n3"]);
}

pub(crate) async fn one_server_has_a_turn(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    run(store, "n1", 10, true).await;
    let take = async |now, until| store.take_turn("fleet", at(now), at(until)).await.unwrap();
    assert!(take(10, 40).await);
    assert!(!take(39, 69).await);
    assert!(take(40, 70).await);
    assert!(store.take_turn("other", at(40), at(50)).await.unwrap());
    // A clock was a day ahead, and is right again.
    assert!(store.take_turn("ahead", at(90_000), at(90_030)).await.unwrap());
    assert!(store.take_turn("ahead", at(10), at(40)).await.unwrap());
    assert!(!store.take_turn("ahead", at(9), at(39)).await.unwrap());
    // Who was slower than its turn is told so, and nothing was changed.
    let late = Turn {
        name: "fleet",
        until: at(40),
        now: at(41),
    };
    let told = [group(NAME, false, &["n1"])];
    assert_eq!(store.tell(late, &told, &[]).await.unwrap(), None);
    assert_eq!(untold(store, 42).await.len(), 1);
}

pub(crate) async fn a_node_is_silent_after_three_looks_of_the_servers_own(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    for (node, second) in [("n1", 10), ("n2", 11), ("n3", 500)] {
        run(store, node, second, false).await;
    }
    let silent_before = at(100);
    let look = async |second: i64| {
        let look = SilenceLook {
            now: at(second),
            every: Duration::seconds(60),
            silent_before,
        };
        store.look_for_silence(look).await.unwrap()
    };
    let told = async |second: i64| {
        let now = at(second);
        let untold = store.untold(Seen { now, silent_before }, 100).await.unwrap().list;
        assert!(untold.iter().all(|alert| alert.cause == SILENT));
        let told = |alert: &NodeAlert| (alert.node.to_string(), alert.ended_at.is_some());
        untold.iter().map(told).collect::<Vec<_>>()
    };
    assert!(look(1000).await);
    // Another server looks at the same time, which is no look of its own.
    assert!(!look(1001).await);
    assert!(look(1060).await);
    assert_eq!(told(1061).await, []);
    // There was no server for a long time, so that nodes could not report: looks count from the first again.
    assert!(look(1300).await);
    assert!(look(1360).await);
    assert_eq!(told(1361).await, []);
    run(store, "n2", 1370, false).await;
    assert!(look(1420).await);
    assert_eq!(told(1421).await, [("n1".to_owned(), false)]);
    let alerts = store
        .alerts(
            Seen {
                now: at(1421),
                silent_before,
            },
            at(0),
            100,
        )
        .await
        .unwrap()
        .list;
    assert_eq!(alerts.len(), 1);
    assert_eq!((alerts[0].node.as_str(), alerts[0].opened_at), ("n1", at(5)));

    tell(store, 1430, group(SILENT, false, &["n1"])).await;
    assert_eq!(told(1431).await, []);
    run(store, "n1", 1440, false).await;
    assert_eq!(told(1441).await, [("n1".to_owned(), true)]);
    // Its end is never told where the webhook is gone: looks count from the first again.
    assert!(look(1480).await);
    let alerts = async |second: i64, silent_before: i64| {
        let seen = Seen {
            now: at(second),
            silent_before: at(silent_before),
        };
        store.alerts(seen, at(0), 100).await.unwrap().list.len()
    };
    assert_eq!(alerts(1481, 2000).await, 0);
    tell(store, 1490, group(SILENT, true, &["n1"])).await;
    assert_eq!(told(1491).await, []);
    assert!(look(1540).await);
    assert_eq!(told(1541).await, []);
}

//! Nodes.

use std::sync::Arc;

use kb_core::ids::{NodeId, Seq};
use kb_core::verdict::Verdict;
use peerless::store::{
    Bounds, By, Causes, Judged, Labels, Machine, MachineClock, MovedGpu, NewReport, NewToken, NodeChange,
    NodeEvent, NodeQuery, Origin, Refuted, ReportSaved, Scope, Weight,
};

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
    let nodes = store.nodes(&NodeQuery::first(10)).await.unwrap();
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
    let node = &store.nodes(&NodeQuery::first(10)).await.unwrap()[0];
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
    let node = &store.nodes(&NodeQuery::first(10)).await.unwrap()[0];
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
    let node = &store.nodes(&NodeQuery::first(10)).await.unwrap()[0];
    assert_eq!(node.latest.id.as_str(), "set-right");
}

pub(crate) async fn a_known_end_goes_before_the_nodes_clock(place: Arc<Place>) {
    let store = place.store().await;
    store.save_report(report("n1", "first", 20)).await.unwrap();
    let behind = NewReport {
        finished_at: at(-5_000),
        ended_at: Some(at(25)),
        ..report("n1", "behind", 30)
    };
    store.save_report(behind).await.unwrap();
    let node = store.node(&"n1".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(
        (node.latest.id.as_str(), node.last_seen.id.as_str()),
        ("behind", "behind")
    );
    assert_eq!(node.latest.ended_at, Some(at(25)));
    let proofs = store.proofs(&node.id, true, 10).await.unwrap();
    let order: Vec<&str> = proofs.proofs.iter().map(|proof| proof.id.as_str()).collect();
    assert_eq!(order, ["behind", "first"]);
    assert_eq!(proofs.latest.unwrap().id.as_str(), "behind");
}

/// A report with a verdict that is worth so much.
fn verdict(id: &str, second: i64, verdict: Verdict, weight: Weight) -> NewReport {
    NewReport {
        verdict,
        weight,
        ..report("n1", id, second)
    }
}

/// The report as the node's `place`-th, which shows that the faults of others are over.
fn ending(ends: &[&str], place: u32, report: NewReport) -> NewReport {
    NewReport {
        judged: Some(Judged {
            reports: place - 1,
            ends: ends.iter().map(|id| id.parse().unwrap()).collect(),
            ..Judged::default()
        }),
        ..report
    }
}

/// Ids of what stands and of what was seen last, when these reports came in this order.
async fn told(place: &Place, reports: Vec<NewReport>) -> (String, String) {
    let store = place.store().await;
    for report in reports {
        store.save_report(report).await.unwrap();
    }
    let node = store.node(&"n1".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(
        store.nodes(&NodeQuery::first(1)).await.unwrap(),
        std::slice::from_ref(&node)
    );
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
    let mended = ending(&["hang", "failed"], 5, mended);
    assert_eq!(told(&place, vec![mended]).await, ids("mended", "mended"));
}

pub(crate) async fn an_alarm_displaces_none_that_is_worse(place: Arc<Place>) {
    let alarm = |id, second, told| verdict(id, second, told, Weight::Alarm);
    let unknown = alarm("unknown", 10, Verdict::Unknown);
    let degraded = alarm("degraded", 20, Verdict::Degraded);
    let refused = alarm("refused", 30, Verdict::Refused);
    let broken = alarm("broken", 40, Verdict::Broken);
    let milder = alarm("milder", 50, Verdict::Refused);
    let again = alarm("again", 60, Verdict::Broken);
    for (report, stands) in [
        (unknown, "unknown"),
        (degraded, "unknown"),
        (refused, "refused"),
        (broken, "broken"),
        (milder, "broken"),
        (again, "again"),
    ] {
        let last_seen = report.id.to_string();
        assert_eq!(told(&place, vec![report]).await, ids(stands, &last_seen));
    }
}

pub(crate) async fn a_simulated_run_ends_no_proven_fault(place: Arc<Place>) {
    let hang = NewReport {
        simulated: false,
        ..verdict("hang", 10, Verdict::Broken, Weight::Proof)
    };
    let simulated = verdict("simulated", 20, Verdict::Healthy, Weight::Proof);
    assert_eq!(told(&place, vec![hang, simulated]).await, ids("hang", "hang"));
}

pub(crate) async fn a_simulated_run_says_nothing_of_a_real_node(place: Arc<Place>) {
    let real = |id: &str, second, told| NewReport {
        simulated: false,
        ..verdict(id, second, told, Weight::Alarm)
    };
    let before = verdict("before", 30, Verdict::Healthy, Weight::Proof);
    assert_eq!(told(&place, vec![before]).await, ids("before", "before"));
    // The first report in earnest counts, whatever time a stand-in told.
    let first = real("first", 10, Verdict::Unknown);
    assert_eq!(told(&place, vec![first]).await, ids("first", "first"));
    let alarm = real("alarm", 40, Verdict::Broken);
    let after = verdict("after", 50, Verdict::Healthy, Weight::Proof);
    assert_eq!(told(&place, vec![alarm, after]).await, ids("alarm", "alarm"));
}

pub(crate) async fn a_real_look_takes_no_real_proof_away(place: Arc<Place>) {
    let real = |id: &str, second, told, weight| NewReport {
        simulated: false,
        ..verdict(id, second, told, weight)
    };
    let hang = real("hang", 10, Verdict::Broken, Weight::Proof);
    let simulated = verdict("simulated", 20, Verdict::Healthy, Weight::Proof);
    told(&place, vec![hang, simulated]).await;
    // Older builds took a simulated run for the latest, and for a proof.
    place.run("UPDATE node SET latest_report = 'simulated'").await;
    let look = real("look", 30, Verdict::NoFaultSeen, Weight::Look);
    assert_eq!(told(&place, vec![look]).await, ids("hang", "look"));
    place.run("UPDATE node SET proof_report = 'simulated'").await;
    let look = real("again", 40, Verdict::Unknown, Weight::Look);
    assert_eq!(told(&place, vec![look]).await, ids("hang", "again"));
}

pub(crate) async fn a_simulated_fault_takes_the_place_of_no_real_one(place: Arc<Place>) {
    let hang = NewReport {
        simulated: false,
        ..verdict("hang", 10, Verdict::Broken, Weight::Proof)
    };
    let healthy = verdict("healthy", 20, Verdict::Healthy, Weight::Proof);
    let fault = NewReport {
        judged: Some(Judged {
            is_over: false,
            ends: Vec::new(),
            named: Vec::new(),
            warns: Vec::new(),
            reports: 2,
            judged_anew: 0,
            refuted: vec![Refuted {
                id: "healthy".parse().unwrap(),
                weight: Weight::Look,
                reason: "of fewer GPUs".to_owned(),
                causes: Causes::default(),
                finding: None,
                is_over: false,
            }],
        }),
        ..verdict("fault", 30, Verdict::Degraded, Weight::Proof)
    };
    assert_eq!(
        told(&place, vec![hang, healthy, fault]).await,
        ids("hang", "hang")
    );
    let store = place.store().await;
    let proofs = store.proofs(&"n1".parse().unwrap(), true, 10).await.unwrap();
    let proofs: Vec<&str> = proofs.proofs.iter().map(|proof| proof.id.as_str()).collect();
    assert_eq!(proofs, ["fault"], "what it refutes is refuted");
}

pub(crate) async fn a_fault_that_comes_late_refutes_later_health(place: Arc<Place>) {
    let store = place.store().await;
    let fewer = verdict("fewer", 20, Verdict::Healthy, Weight::Proof);
    assert_eq!(told(&place, vec![fewer]).await, ids("fewer", "fewer"));
    let node = "n1".parse().unwrap();
    let known = store.proofs(&node, true, 10).await.unwrap();
    assert_eq!((known.reports, known.proofs.len()), (1, 1));
    let fault = |reports| NewReport {
        finished_at: at(3),
        judged: Some(Judged {
            is_over: false,
            ends: Vec::new(),
            named: Vec::new(),
            warns: Vec::new(),
            reports,
            judged_anew: 0,
            refuted: vec![Refuted {
                id: "fewer".parse().unwrap(),
                weight: Weight::Look,
                reason: "of fewer GPUs".to_owned(),
                causes: Causes::default(),
                finding: None,
                is_over: false,
            }],
        }),
        ..verdict("fault", 40, Verdict::Broken, Weight::Proof)
    };
    let overtaken = store.save_report(fault(0)).await.unwrap();
    assert_eq!(overtaken, ReportSaved::Overtaken);
    assert_eq!(told(&place, vec![fault(1)]).await, ids("fault", "fewer"));
    let seen = store.node(&node).await.unwrap().unwrap().last_seen;
    assert_eq!(
        (seen.verdict, seen.weight, seen.reason.as_str()),
        (Verdict::Unknown, Weight::Look, "of fewer GPUs")
    );
}

pub(crate) async fn a_fault_ends_alone(place: Arc<Place>) {
    let proven = verdict("proven", 10, Verdict::Healthy, Weight::Proof);
    let warned = verdict("warned", 40, Verdict::Degraded, Weight::Alarm);
    let late = verdict("late", 30, Verdict::Broken, Weight::Proof);
    let alarm = verdict("alarm", 50, Verdict::Broken, Weight::Alarm);
    // The worst stands, in whatever order they come, and a proof before an alarm.
    let reports = vec![proven, warned, late, alarm];
    assert_eq!(told(&place, reports).await, ids("late", "alarm"));
    // An end of one is no end of another.
    let look = |id: &str, second| verdict(id, second, Verdict::NoFaultSeen, Weight::Look);
    let first = ending(&["late"], 5, look("first", 60));
    assert_eq!(told(&place, vec![first]).await, ids("alarm", "first"));
    let second = ending(&["alarm"], 6, look("second", 70));
    assert_eq!(told(&place, vec![second]).await, ids("warned", "second"));
    let third = ending(&["warned"], 7, look("third", 80));
    assert_eq!(told(&place, vec![third]).await, ids("proven", "third"));
}

pub(crate) async fn what_another_tool_failed_at_stands_until_a_proof(place: Arc<Place>) {
    let converted = |id: &str, second, weight| NewReport {
        origin: Origin::Converted,
        machine: None,
        ..verdict(id, second, Verdict::Unknown, weight)
    };
    let wrong = converted("wrong", 10, Weight::Alarm);
    assert_eq!(told(&place, vec![wrong]).await, ids("wrong", "wrong"));
    // Neither another tool's look nor one of the agent ends it.
    let fine = converted("fine", 20, Weight::Look);
    assert_eq!(told(&place, vec![fine]).await, ids("wrong", "wrong"));
    let look = verdict("look", 30, Verdict::NoFaultSeen, Weight::Look);
    assert_eq!(told(&place, vec![look]).await, ids("wrong", "look"));
    let proof = ending(
        &["wrong"],
        4,
        verdict("proof", 40, Verdict::Healthy, Weight::Proof),
    );
    assert_eq!(told(&place, vec![proof]).await, ids("proof", "proof"));
    // The same beside proven health; and it hides no fault that is proven or that the agent tells of.
    let again = converted("again", 50, Weight::Alarm);
    let look = verdict("after", 60, Verdict::NoFaultSeen, Weight::Look);
    assert_eq!(told(&place, vec![again, look]).await, ids("again", "after"));
    let lost = verdict("lost", 70, Verdict::Broken, Weight::Alarm);
    assert_eq!(told(&place, vec![lost]).await, ids("lost", "lost"));
    let fault = verdict("fault", 80, Verdict::Broken, Weight::Proof);
    let late = converted("late", 90, Weight::Alarm);
    assert_eq!(told(&place, vec![fault, late]).await, ids("fault", "late"));
}

pub(crate) async fn another_tools_look_hides_no_alarm(place: Arc<Place>) {
    let proven = verdict("proven", 10, Verdict::Healthy, Weight::Proof);
    let alarm = verdict("alarm", 20, Verdict::Broken, Weight::Alarm);
    let converted = NewReport {
        origin: Origin::Converted,
        machine: None,
        ..verdict("converted", 30, Verdict::Unknown, Weight::Look)
    };
    let reports = vec![proven, alarm, converted];
    assert_eq!(told(&place, reports).await, ids("alarm", "alarm"));
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
        let nodes = store
            .nodes(&NodeQuery::first(limit).after(after.as_ref()))
            .await
            .unwrap();
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

pub(crate) async fn nodes_are_narrowed_by_the_labels_of_their_join_token(place: Arc<Place>) {
    let store = place.store().await;
    let labels = Labels::from([
        ("rack".to_owned(), "r17".to_owned()),
        ("site".to_owned(), "a".to_owned()),
    ]);
    let token = |id: &str, bounds: Bounds| NewToken {
        id: id.to_owned(),
        secret_sha256: format!("{:064x}", 7),
        name: "join".to_owned(),
        scopes: vec![Scope::Enrol],
        created_at: at(1),
        expires_at: None,
        bounds,
        person: None,
    };
    let bounds = Bounds {
        labels: labels.clone(),
        ..Bounds::default()
    };
    let (labelled, plain) = (token("labelled", bounds), token("plain", Bounds::default()));
    store
        .create_tokens(vec![labelled.clone(), plain], &By::system("ada"))
        .await
        .unwrap();
    assert_eq!(store.token("labelled").await.unwrap().unwrap().token, labelled);
    let enrol = async |by: &str, id: &str, node: &str| {
        let bounds = Bounds {
            node: Some(node.parse().unwrap()),
            machine_sha256: Some(node.to_owned()),
            enrolled_by: Some(by.to_owned()),
            ..Bounds::default()
        };
        store
            .enrol_node(by, token(id, bounds), &By::system("ada"))
            .await
            .unwrap();
    };
    enrol("labelled", "t1", "n1").await;
    enrol("labelled", "t2", "n2").await;
    for node in ["n1", "n2", "n3"] {
        store.save_report(report(node, "r1", 10)).await.unwrap();
    }
    let with = async |label: Option<(&str, &str)>| {
        let mut query = NodeQuery::first(10);
        query.filter.labels = label
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into_iter()
            .collect();
        let nodes = store.nodes(&query).await.unwrap();
        nodes.iter().map(|node| node.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(with(Some(("rack", "r17"))).await, ["n1", "n2"]);
    assert_eq!(with(Some(("rack", "a"))).await, [""; 0]);
    assert_eq!(with(None).await, ["n1", "n2", "n3"]);
    let node = store.node(&"n1".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(node.labels, labels);
    // Those of the token that it joined with last.
    enrol("plain", "t3", "n1").await;
    assert_eq!(with(Some(("rack", "r17"))).await, ["n2"]);
    // All tokens, or none.
    let twice = vec![token("new", Bounds::default()), token("t1", Bounds::default())];
    store.create_tokens(twice, &By::system("ada")).await.unwrap_err();
    assert_eq!(store.token("new").await.unwrap(), None);
}

pub(crate) async fn what_happened_to_a_node_is_kept_on_every_node_that_it_concerns(place: Arc<Place>) {
    let store = place.store().await;
    let with = |node: &str, id: &str, second, gpus: &[&str]| NewReport {
        machine: Some(Machine {
            gpus: gpus.iter().map(|&gpu| gpu.to_owned()).collect(),
            shows_all: true,
            clock: MachineClock::Right,
        }),
        ..report(node, id, second)
    };
    store
        .save_report(with("n1", "a1", 10, &["GPU-a", "GPU-b"]))
        .await
        .unwrap();
    store.save_report(with("n2", "b1", 20, &["GPU-c"])).await.unwrap();
    store
        .save_report(with("n2", "b2", 30, &["GPU-b", "GPU-c"]))
        .await
        .unwrap();
    // Sent again it tells nothing again.
    store
        .save_report(with("n2", "b2", 30, &["GPU-b", "GPU-c"]))
        .await
        .unwrap();
    let events = async |node: &str| store.node_events(&node.parse().unwrap(), 10).await.unwrap();
    let came = NodeEvent {
        at: at(30),
        report: Some("b2".parse().unwrap()),
        change: NodeChange::GpusChanged {
            left: Vec::new(),
            came: vec![MovedGpu {
                uuid: "GPU-b".to_owned(),
                node: Some("n1".parse().unwrap()),
            }],
        },
    };
    assert_eq!(events("n2").await, [came]);
    let elsewhere = NodeEvent {
        at: at(30),
        report: None,
        change: NodeChange::GpusElsewhere {
            gpus: vec!["GPU-b".to_owned()],
            node: "n2".parse().unwrap(),
        },
    };
    assert_eq!(events("n1").await, [elsewhere]);
    store.save_report(with("n1", "a2", 40, &["GPU-a"])).await.unwrap();
    assert_eq!(events("n1").await.len(), 2);
    let last = store.node_events(&"n1".parse().unwrap(), 1).await.unwrap();
    assert_eq!(last[0].change.kind(), "gpus_changed");
}

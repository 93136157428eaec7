//! All nodes together.

use std::sync::Arc;

use kb_core::ids::{RecordId, Revision, Seq};
use kb_core::verdict::Verdict;
use peerless::store::{
    By, Fleet, FleetQuery, Gravity, Merge, NewFinding, NewReport, NodeFilter, NodeQuery, Store, VerdictCount,
    Weight,
};

use crate::support::{Place, at, id, published, record, report};

fn query() -> FleetQuery {
    FleetQuery {
        filter: NodeFilter::default(),
        silent_before: time::OffsetDateTime::UNIX_EPOCH,
        faults: 10,
        oldest: 10,
        labels: 10,
    }
}

async fn fleet(store: &dyn Store) -> Fleet {
    store.fleet(&query()).await.unwrap()
}

fn count(verdict: Verdict, nodes: u64, gpus: u64, simulated: u64) -> VerdictCount {
    VerdictCount {
        verdict,
        nodes,
        gpus,
        simulated,
    }
}

pub(crate) async fn nodes_are_counted_by_the_verdict_that_stands(place: Arc<Place>) {
    let store = place.store().await;
    assert_eq!(fleet(&*store).await, Fleet::default());
    let told = |node: &str, id: &str, second, verdict, weight| NewReport {
        verdict,
        weight,
        simulated: node == "n2",
        ..report(node, id, second)
    };
    let reports = [
        // A later look ends no proven fault.
        told("n1", "hang", 10, Verdict::Broken, Weight::Proof),
        told("n1", "look", 20, Verdict::Unknown, Weight::Look),
        // Nor proven health, which an alarm does.
        told("n2", "proven", 10, Verdict::Healthy, Weight::Proof),
        told("n2", "look", 20, Verdict::Unknown, Weight::Look),
        told("n3", "proven", 10, Verdict::Healthy, Weight::Proof),
        told("n3", "alarm", 20, Verdict::Degraded, Weight::Alarm),
        // Without a proof the latest stands.
        told("n4", "look", 10, Verdict::Unknown, Weight::Look),
        NewReport {
            gpus: 8,
            simulated: false,
            ..report("n5", "real", 10)
        },
    ];
    for report in reports {
        store.save_report(report).await.unwrap();
    }
    let mut counted = fleet(&*store).await.verdicts;
    counted.sort_by_key(|count| Verdict::ALL.iter().position(|verdict| *verdict == count.verdict));
    assert_eq!(
        counted,
        [
            count(Verdict::Healthy, 2, 8, 1),
            count(Verdict::Degraded, 1, 2, 0),
            count(Verdict::Unknown, 1, 2, 0),
            count(Verdict::Broken, 1, 2, 0),
        ]
    );
    // The same rule in two places: what the list of nodes says.
    for node in store.nodes(&NodeQuery::first(10)).await.unwrap() {
        assert!(
            counted.iter().any(|count| count.verdict == node.latest.verdict),
            "{node:?}"
        );
    }
}

fn finding(record: Option<&str>, rule: &str, title: &str) -> NewFinding {
    NewFinding {
        record: record.map(|record| (id(record), Revision(1))),
        rule: rule.to_owned(),
        subject: "report".to_owned(),
        title: title.to_owned(),
        evidence: "[]".to_owned(),
        gravity: Gravity::default(),
        by_policy: None,
    }
}

pub(crate) async fn faults_are_counted_by_node(place: Arc<Place>) {
    let store = place.store().await;
    let keep = async |node: &str, report_id: &str, second, findings: Vec<NewFinding>| {
        let kept = NewReport {
            simulated: report_id == "stand-in",
            ..report(node, report_id, second)
        };
        let (node, id) = (kept.node.clone(), kept.id.clone());
        store.save_report(kept).await.unwrap();
        store
            .replace_findings(&node, &id, Seq(1), findings)
            .await
            .unwrap();
    };
    let twice = vec![
        finding(Some("cuda/a"), "rule-1", "one"),
        finding(Some("cuda/a"), "Rule-2", "Other"),
    ];
    // Overtaken: what it showed is over.
    keep(
        "n1",
        "old",
        10,
        vec![finding(Some("cuda/gone"), "rule-1", "gone")],
    )
    .await;
    keep("n1", "new", 20, twice).await;
    keep("n2", "new", 20, vec![finding(Some("cuda/a"), "rule-1", "one")]).await;
    keep("n3", "new", 20, vec![finding(None, "unexplained", "refused")]).await;
    // What a stand-in showed is nobody's fault.
    for node in ["n4", "n5", "n6"] {
        let shown = vec![
            finding(Some("cuda/a"), "rule-1", "one"),
            finding(None, "unexplained", "refused"),
        ];
        keep(node, "stand-in", 20, shown).await;
    }
    let told = fleet(&*store).await.faults;
    let names = (told[0].rule.as_str(), told[0].title.as_str());
    assert_eq!(names, ("Rule-2", "Other"), "the first by their bytes");
    let faults: Vec<(Option<RecordId>, u64)> = told
        .into_iter()
        .map(|fault| (fault.record, fault.nodes))
        .collect();
    assert_eq!(faults, [(Some(id("cuda/a")), 2), (None, 1)]);
    let first = FleetQuery { faults: 1, ..query() };
    assert_eq!(store.fleet(&first).await.unwrap().faults.len(), 1);

    // What was found before a merge counts for the record that is left.
    for name in ["cuda/a", "cuda/b"] {
        published(&*store, name, record(name, name)).await;
    }
    let merge = Merge {
        id: id("cuda/a"),
        into: id("cuda/b"),
        by: By::system("ada"),
        reason: None,
        expected: None,
        approves: None,
        at: at(30),
    };
    store.merge(merge).await.unwrap().unwrap();
    let told = fleet(&*store).await.faults;
    assert_eq!((&told[0].record, told[0].nodes), (&Some(id("cuda/b")), 2));
}

pub(crate) async fn the_silent_are_counted_and_the_oldest_come_first(place: Arc<Place>) {
    let store = place.store().await;
    for (node, second) in [("n1", 50), ("n2", 30), ("n3", 40)] {
        store.save_report(report(node, "r1", second)).await.unwrap();
    }
    let asked = FleetQuery {
        // The runs ended five seconds before their reports came.
        silent_before: at(35),
        oldest: 2,
        ..query()
    };
    let fleet = store.fleet(&asked).await.unwrap();
    assert_eq!(fleet.silent, 1, "35 itself is not before 35");
    let oldest: Vec<_> = fleet
        .oldest
        .iter()
        .map(|heard| (heard.id.as_str(), heard.at, heard.hostname.as_deref()))
        .collect();
    assert_eq!(
        oldest,
        [
            ("n2", at(25), Some("n2.example")),
            ("n3", at(35), Some("n3.example"))
        ]
    );
}

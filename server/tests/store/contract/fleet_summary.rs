//! Summaries of nodes, kept as reports come.

use std::sync::Arc;

use kb_core::ids::{Revision, Seq};
use kb_core::report::Bearing;
use kb_core::severity::{Action, Severity};
use kb_core::verdict::Verdict;
use peerless::store::{
    By, Cause, Found, Gravity, Hardware, Judged, Merge, NewFinding, NewReport, NodeFinding, NodeListing,
    Store, Weight,
};

use crate::support::{Place, at, id, published, record, report};

pub(super) fn hardware(model: &str, driver: &str) -> Hardware {
    let told = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Hardware {
        model: told(model),
        driver: told(driver),
    }
}

pub(super) fn finding(record: Option<&str>, rule: &str, gravity: (Bearing, Severity, Action)) -> NewFinding {
    NewFinding {
        record: record.map(|record| (id(record), Revision(1))),
        rule: rule.to_owned(),
        subject: "report".to_owned(),
        title: format!("the title of {rule}"),
        evidence: "[]".to_owned(),
        gravity: Gravity {
            bearing: gravity.0,
            severity: Some(gravity.1),
            action: Some(gravity.2),
        },
        by_policy: None,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as a report has it")]
pub(super) fn found(findings: Vec<NewFinding>) -> Option<Found> {
    Some(Found {
        rule_set: Some("test".to_owned()),
        seq: Seq(1),
        findings,
    })
}

/// That the report of this second, one every ten, ends the faults of others.
fn ending(ends: &[&str], second: i64) -> Option<Judged> {
    (!ends.is_empty()).then(|| Judged {
        reports: u32::try_from(second / 10 - 1).unwrap(),
        ends: ends.iter().map(|id| id.parse().unwrap()).collect(),
        ..Judged::default()
    })
}

async fn node(store: &dyn Store, name: &str) -> NodeListing {
    store.node(&name.parse().unwrap()).await.unwrap().unwrap()
}

async fn findings(store: &dyn Store, name: &str) -> Vec<NodeFinding> {
    store.node_findings(&name.parse().unwrap()).await.unwrap()
}

const RESET: (Bearing, Severity, Action) = (Bearing::Fault, Severity::Fatal, Action::ResetGpu);
const LOOK: (Bearing, Severity, Action) = (Bearing::Warning, Severity::Warning, Action::CheckHardware);
const NOTICE: (Bearing, Severity, Action) = (Bearing::Event, Severity::Info, Action::FixApplication);

pub(crate) async fn a_summary_is_kept_with_the_report(place: Arc<Place>) {
    let store = place.store().await;
    let sent = NewReport {
        verdict: Verdict::Broken,
        gpus: 8,
        simulated: false,
        hardware: hardware("NVIDIA H200", "570.1"),
        found: found(vec![finding(Some("xid/79"), "health/xid-79", RESET)]),
        ..report("n1", "r1", 10)
    };
    store.save_report(sent).await.unwrap();
    let summary = node(&*store, "n1").await.summary;
    assert_eq!(summary.verdict, Verdict::Broken);
    assert_eq!((summary.since, summary.heard_at), (at(5), at(5)));
    assert_eq!((summary.gpus, summary.simulated), (8, false));
    assert_eq!(summary.model.as_deref(), Some("NVIDIA H200"));
    assert_eq!(summary.driver.as_deref(), Some("570.1"));
    let cause = Cause {
        record: Some(id("xid/79")),
        rule: "health/xid-79".to_owned(),
    };
    assert_eq!(
        (summary.cause, summary.action),
        (Some(cause), Some(Action::ResetGpu))
    );
    // The findings came with the report, in one transaction.
    let kept = store
        .findings(&"n1".parse().unwrap(), &"r1".parse().unwrap())
        .await
        .unwrap();
    assert_eq!(kept[0].finding, finding(Some("xid/79"), "health/xid-79", RESET));

    // A report that names neither model nor driver: the driver is away. What is known stays.
    let look = NewReport {
        verdict: Verdict::Unknown,
        weight: Weight::Alarm,
        simulated: false,
        gpus: 0,
        ..report("n1", "r2", 20)
    };
    store.save_report(look).await.unwrap();
    let summary = node(&*store, "n1").await.summary;
    assert_eq!((summary.heard_at, summary.gpus), (at(15), 8));
    assert_eq!(summary.model.as_deref(), Some("NVIDIA H200"));
    assert_eq!(summary.verdict, Verdict::Broken, "a look ends no proven fault");
}

pub(crate) async fn a_verdict_stands_since_the_run_that_showed_it_first(place: Arc<Place>) {
    let store = place.store().await;
    let mut told = Vec::new();
    for (name, second, verdict, ends) in [
        ("r1", 10, Verdict::Healthy, &[][..]),
        ("r2", 20, Verdict::Healthy, &[]),
        ("r3", 30, Verdict::Broken, &[]),
        ("r4", 40, Verdict::Broken, &["r3"]),
        ("r5", 50, Verdict::Healthy, &["r4"]),
    ] {
        let sent = NewReport {
            verdict,
            judged: ending(ends, second),
            ..report("n1", name, second)
        };
        store.save_report(sent).await.unwrap();
        told.push(node(&*store, "n1").await.summary.since);
    }
    assert_eq!(told, [at(5), at(5), at(25), at(25), at(45)]);
}

pub(crate) async fn a_late_report_tells_nothing_of_the_machine(place: Arc<Place>) {
    let store = place.store().await;
    for (name, second, driver) in [("new", 20, "580.1"), ("from-the-spool", 10, "570.1")] {
        let sent = NewReport {
            hardware: hardware("NVIDIA H200", driver),
            found: found(vec![finding(None, name, LOOK)]),
            ..report("n1", name, second)
        };
        store.save_report(sent).await.unwrap();
    }
    let summary = node(&*store, "n1").await.summary;
    assert_eq!(summary.driver.as_deref(), Some("580.1"));
    let names: Vec<String> = findings(&*store, "n1")
        .await
        .into_iter()
        .map(|one| one.name)
        .collect();
    assert_eq!(names, ["rule:new"]);
}

pub(crate) async fn the_worst_that_is_open_is_the_cause(place: Arc<Place>) {
    let store = place.store().await;
    let keep = async |name: &str, second, (verdict, ends): (_, &[&str]), findings| {
        let sent = NewReport {
            verdict,
            judged: ending(ends, second),
            found: found(findings),
            ..report("n1", name, second)
        };
        store.save_report(sent).await.unwrap();
        let summary = node(&*store, "n1").await.summary;
        (summary.cause.map(|cause| cause.rule), summary.action)
    };
    let some = |rule: &str| Some(rule.to_owned());
    let both = vec![
        finding(Some("pcie/slow"), "slow", LOOK),
        finding(Some("xid/79"), "lost", RESET),
        finding(Some("xid/31"), "fault-of-a-program", NOTICE),
    ];
    assert_eq!(
        keep("r1", 10, (Verdict::Broken, &[]), both).await,
        (some("lost"), Some(Action::ResetGpu))
    );
    let slow = vec![finding(Some("pcie/slow"), "slow", LOOK)];
    assert_eq!(
        keep("r2", 20, (Verdict::Degraded, &["r1"]), slow).await,
        (some("slow"), Some(Action::CheckHardware))
    );
    // What says nothing against the node is no cause: of a good verdict nothing is to do, of another nobody knows.
    let notice = || vec![finding(Some("xid/31"), "fault-of-a-program", NOTICE)];
    assert_eq!(
        keep("r3", 30, (Verdict::Healthy, &["r2"]), notice()).await,
        (None, Some(Action::None))
    );
    assert_eq!(
        keep("r4", 40, (Verdict::Broken, &[]), notice()).await,
        (None, None)
    );

    // Records changed: what they say now is what counts.
    let now = vec![finding(Some("xid/79"), "lost", RESET)];
    let (node_id, report_id) = ("n1".parse().unwrap(), "r4".parse().unwrap());
    store
        .replace_findings(&node_id, &report_id, Seq(2), now)
        .await
        .unwrap();
    let summary = node(&*store, "n1").await.summary;
    assert_eq!(summary.action, Some(Action::ResetGpu));
}

pub(crate) async fn findings_open_go_on_end_and_come_again(place: Arc<Place>) {
    let store = place.store().await;
    let keep = async |name: &str, second, ends: &[&str], findings| {
        let sent = NewReport {
            verdict: Verdict::Broken,
            judged: ending(ends, second),
            found: found(findings),
            ..report("n1", name, second)
        };
        store.save_report(sent).await.unwrap();
        findings_of(&*store).await
    };
    let lost = || finding(Some("xid/79"), "lost", RESET);
    let other = || finding(None, "slow", LOOK);
    let two_subjects = NewFinding {
        subject: "gpu 3".to_owned(),
        ..lost()
    };
    let first = keep("r1", 10, &[], vec![lost(), two_subjects]).await;
    assert_eq!(first, [("xid/79".to_owned(), true, at(5), at(5), at(5), None, 1)]);
    assert_eq!(findings(&*store, "n1").await[0].subjects, 2);
    let both = keep("r2", 20, &["r1"], vec![lost(), other()]).await;
    assert_eq!(
        both,
        [
            ("xid/79".to_owned(), true, at(5), at(5), at(15), None, 2),
            ("rule:slow".to_owned(), true, at(15), at(15), at(15), None, 1),
        ]
    );
    // Correlated again, a report counts once.
    let (node_id, report_id) = ("n1".parse().unwrap(), "r2".parse().unwrap());
    store
        .replace_findings(&node_id, &report_id, Seq(2), vec![lost(), other()])
        .await
        .unwrap();
    assert_eq!(findings_of(&*store).await, both);
    // What is open is told, whatever a later report shows.
    let still = keep("late", 25, &[], vec![other()]).await;
    assert!(still.iter().all(|(_, is_open, ..)| *is_open), "{still:?}");
    let ended = keep("r3", 40, &["r2", "late"], vec![other()]).await;
    assert_eq!(
        ended,
        [
            ("rule:slow".to_owned(), true, at(15), at(15), at(35), None, 3),
            ("xid/79".to_owned(), false, at(5), at(5), at(15), Some(at(40)), 2),
        ]
    );
    let again = keep("r4", 50, &["r3"], vec![lost()]).await;
    assert_eq!(
        again[0],
        ("xid/79".to_owned(), true, at(5), at(45), at(45), None, 3)
    );
}

type Life = (
    String,
    bool,
    time::OffsetDateTime,
    time::OffsetDateTime,
    time::OffsetDateTime,
    Option<time::OffsetDateTime>,
    u32,
);

async fn findings_of(store: &dyn Store) -> Vec<Life> {
    let life = |one: NodeFinding| {
        (
            one.name,
            one.is_open,
            one.first_at,
            one.opened_at,
            one.last_at,
            one.ended_at,
            one.reports,
        )
    };
    findings(store, "n1").await.into_iter().map(life).collect()
}

pub(crate) async fn findings_follow_their_record_into_another(place: Arc<Place>) {
    let store = place.store().await;
    for name in ["cuda/a", "cuda/b"] {
        published(&*store, name, record(name, name)).await;
    }
    let keep = async |name: &str, second| {
        let sent = NewReport {
            found: found(vec![finding(Some("cuda/a"), "rule", LOOK)]),
            ..report("n1", name, second)
        };
        store.save_report(sent).await.unwrap();
    };
    keep("r1", 10).await;
    let merge = Merge {
        id: id("cuda/a"),
        into: id("cuda/b"),
        by: By::system("ada"),
        reason: None,
        expected: None,
        approves: None,
        at: at(15),
    };
    store.merge(merge).await.unwrap().unwrap();
    keep("r2", 20).await;
    assert_eq!(
        findings_of(&*store).await,
        [("cuda/b".to_owned(), true, at(5), at(5), at(15), None, 2)]
    );
}

pub(crate) async fn a_database_of_before_has_summaries(place: Arc<Place>) {
    let store = place.store().await;
    let told = [
        ("n1", "r1", 10, Verdict::Healthy),
        ("n1", "r2", 20, Verdict::Broken),
        ("n1", "r3", 30, Verdict::Broken),
        ("n2", "r1", 10, Verdict::Healthy),
    ];
    for (node, name, second, verdict) in told {
        let sent = NewReport {
            verdict,
            hardware: hardware("NVIDIA H200", "570.1"),
            found: found(vec![finding(Some("xid/79"), "lost", RESET)]),
            ..report(node, name, second)
        };
        store.save_report(sent).await.unwrap();
    }
    let of_now = node(&*store, "n1").await.summary;
    drop(store);
    // As the migration before left it: the tables of this one and of later ones are gone.
    for later in [
        "DROP INDEX report_ruled_out",
        "ALTER TABLE report DROP COLUMN ruled_out",
        "ALTER TABLE node DROP COLUMN judged_anew",
        "DROP INDEX report_by_end",
        "DROP INDEX report_good",
        "DROP TABLE seed_set",
        "DROP TABLE node_facets",
        "ALTER TABLE token DROP COLUMN adopts",
        "DROP TABLE advice",
        "ALTER TABLE report DROP COLUMN rule_set",
        "ALTER TABLE finding DROP COLUMN by_policy",
        "DROP INDEX report_open",
        "ALTER TABLE report DROP COLUMN open_causes",
        "ALTER TABLE report DROP COLUMN gone_from",
        "ALTER TABLE report DROP COLUMN only_warns",
        "DROP INDEX report_healthy",
        "DROP TABLE baseline",
        "DROP TABLE bundle_taken",
        "DROP TABLE delivery",
        "DROP TABLE node_silence",
        "DROP TABLE turn",
        "DROP TABLE told_group",
    ] {
        place.run(later).await;
    }
    place.run("DROP TABLE node_finding").await;
    place.run("DROP TABLE node_summary").await;
    for column in ["severity", "action", "bearing"] {
        place
            .run(match column {
                "severity" => "ALTER TABLE finding DROP COLUMN severity",
                "action" => "ALTER TABLE finding DROP COLUMN action",
                _ => "ALTER TABLE finding DROP COLUMN bearing",
            })
            .await;
    }
    place
        .run("DELETE FROM _sqlx_migrations WHERE version >= 25")
        .await;
    let store = place.store().await;
    let summary = node(&*store, "n1").await.summary;
    assert_eq!((summary.verdict, summary.gpus), (of_now.verdict, of_now.gpus));
    assert_eq!(
        (summary.since, summary.heard_at),
        (at(20), of_now.heard_at),
        "when the report came"
    );
    assert_eq!((summary.model, summary.cause), (None, None));
    assert_eq!(findings(&*store, "n1").await[0].name, "xid/79");
    // Of faults that say the same the latest is open.
    for (node, open) in [("n1", &["r3"][..]), ("n2", &[])] {
        let known = store.proofs(&node.parse().unwrap(), true, 9).await.unwrap();
        let ids: Vec<&str> = known.open.iter().map(|fault| fault.report.id.as_str()).collect();
        assert_eq!(ids, open, "{node}");
    }
    // The rest is read from the reports when the program looks at them again.
    let waiting = store.reports_to_correlate(Seq(1), 10).await.unwrap();
    let waiting: Vec<_> = waiting
        .iter()
        .map(|report| (report.listing.node.as_str(), report.listing.id.as_str()))
        .collect();
    assert_eq!(waiting, [("n2", "r1"), ("n1", "r3")]);
    let (node_id, report_id) = ("n1".parse().unwrap(), "r3".parse().unwrap());
    store
        .note_hardware(&node_id, &report_id, &hardware("NVIDIA H200", "570.1"))
        .await
        .unwrap();
    let again = vec![finding(Some("xid/79"), "lost", RESET)];
    store
        .replace_findings(&node_id, &report_id, Seq(1), again)
        .await
        .unwrap();
    let summary = node(&*store, "n1").await.summary;
    assert_eq!((summary.model, summary.driver), (of_now.model, of_now.driver));
    assert_eq!((summary.cause, summary.action), (of_now.cause, of_now.action));
    assert_eq!(findings(&*store, "n1").await[0].reports, 1);
}

//! What is open of a node.

use std::sync::Arc;

use kb_core::ids::{NodeId, ReportId};
use kb_core::report::Bearing;
use kb_core::severity::{Action, Severity};
use kb_core::verdict::Verdict;
use peerless::store::{Causes, Judged, NewReport, OPEN_FAULTS, ReportSaved, Weight};

use super::fleet_summary::{finding, found};
use crate::support::{Place, at, report};

fn node(text: &str) -> NodeId {
    text.parse().unwrap()
}

fn report_id(text: &str) -> ReportId {
    text.parse().unwrap()
}

pub(crate) async fn what_is_open_is_told_in_the_order_of_the_runs(place: Arc<Place>) {
    let store = place.store().await;
    let fault = |id: &str, second, causes: &[&str]| NewReport {
        verdict: Verdict::Broken,
        weight: Weight::Alarm,
        causes: Causes {
            names: causes.iter().map(|name| (*name).to_owned()).collect(),
            gone_from: None,
            only_warns: None,
        },
        ..report("n1", id, second)
    };
    let gone = NewReport {
        finished_at: at(5),
        causes: Causes {
            names: vec!["gpu:\"GPU-1\"\n".to_owned()],
            gone_from: Some(report_id("before")),
            only_warns: None,
        },
        ..fault("late", 50, &[])
    };
    let over = NewReport {
        judged: Some(Judged {
            reports: 3,
            is_over: true,
            ..Judged::default()
        }),
        ..fault("over", 60, &["run"])
    };
    let real = NewReport {
        node: node("n2"),
        simulated: false,
        ..fault("real", 40, &["run"])
    };
    let causes = gone.causes.clone();
    for report in [
        fault("first", 20, &["a", "b"]),
        fault("second", 30, &[]),
        gone,
        over,
        real,
    ] {
        assert_eq!(store.save_report(report).await.unwrap(), ReportSaved::Stored);
    }
    let open = async |of, simulated| {
        let known = store.proofs(&node(of), simulated, 9).await.unwrap();
        assert!(!known.has_more_open);
        known.open
    };
    let told = open("n1", true).await;
    let names: Vec<&str> = told.iter().map(|fault| fault.report.id.as_str()).collect();
    assert_eq!(names, ["late", "first", "second"]);
    assert_eq!(told[0].causes, causes);
    assert_eq!(told[1].causes.names, ["a", "b"]);
    assert_eq!(open("n1", false).await, []);
    assert_eq!(open("n2", false).await.len(), 1);
}

pub(crate) async fn more_faults_than_are_read_at_once_are_told(place: Arc<Place>) {
    let store = place.store().await;
    for number in 0..=OPEN_FAULTS {
        let fault = NewReport {
            verdict: Verdict::Broken,
            weight: Weight::Alarm,
            ..report("n1", &format!("r{number}"), i64::from(number) + 10)
        };
        store.save_report(fault).await.unwrap();
        let known = store.proofs(&node("n1"), true, 1).await.unwrap();
        assert_eq!(known.has_more_open, number == OPEN_FAULTS);
    }
    let known = store.proofs(&node("n1"), true, 1).await.unwrap();
    assert_eq!(known.open.len(), usize::try_from(OPEN_FAULTS).unwrap());
    assert_eq!(known.open[0].report.id, report_id("r0"));
    // The newest too, so that what tells the same as that is seen to.
    let newest: Vec<&str> = known
        .newest_open
        .iter()
        .map(|fault| fault.report.id.as_str())
        .collect();
    assert_eq!(newest, [format!("r{OPEN_FAULTS}")]);
}

/// A database of before has faults whose causes are not known; who reads their reports names them.
pub(crate) async fn a_fault_that_is_open_is_named_later(place: Arc<Place>) {
    let store = place.store().await;
    let fault = NewReport {
        verdict: Verdict::Broken,
        weight: Weight::Alarm,
        ..report("n1", "r1", 10)
    };
    store.save_report(fault).await.unwrap();
    let causes = Causes {
        names: vec!["gpu:GPU-1".to_owned(), "run".to_owned()],
        gone_from: None,
        only_warns: None,
    };
    let names = NewReport {
        judged: Some(Judged {
            reports: 1,
            named: vec![(report_id("r1"), causes.clone())],
            ..Judged::default()
        }),
        ..report("n1", "r2", 20)
    };
    assert_eq!(store.save_report(names).await.unwrap(), ReportSaved::Stored);
    let known = store.proofs(&node("n1"), true, 1).await.unwrap();
    assert_eq!(known.open[0].causes, causes);
}

/// The fault of a report is over, and what it warned of is not: the node is no worse than that, and the report stays what it was.
pub(crate) async fn a_warning_stands_behind_the_fault_that_is_over(place: Arc<Place>) {
    let store = place.store().await;
    let proof = |id: &str, second, verdict| NewReport {
        verdict,
        weight: Weight::Proof,
        ..report("n1", id, second)
    };
    let explains =
        |rule: &str, bearing| finding(None, rule, (bearing, Severity::Error, Action::CheckHardware));
    let broken = NewReport {
        causes: Causes {
            names: vec!["run".to_owned()],
            ..Causes::default()
        },
        found: found(vec![
            explains("untold", Bearing::Unknown),
            explains("refused-without-link", Bearing::Warning),
        ]),
        ..proof("broken", 10, Verdict::Broken)
    };
    let good = NewReport {
        judged: Some(Judged {
            reports: 1,
            warns: vec![(report_id("broken"), "it is slow".to_owned())],
            ..Judged::default()
        }),
        ..proof("good", 20, Verdict::Healthy)
    };
    let last = NewReport {
        judged: Some(Judged {
            reports: 2,
            ends: vec![report_id("broken")],
            ..Judged::default()
        }),
        ..proof("last", 30, Verdict::Healthy)
    };
    let stands = async || {
        let node = store.node(&node("n1")).await.unwrap().unwrap();
        assert_eq!(node.summary.verdict, node.latest.verdict);
        (
            node.latest.id.to_string(),
            node.latest.verdict,
            node.latest.reason,
        )
    };
    store.save_report(broken).await.unwrap();
    assert_eq!(stands().await.1, Verdict::Broken);
    store.save_report(good).await.unwrap();
    let (id, verdict, reason) = stands().await;
    assert_eq!((id.as_str(), verdict), ("broken", Verdict::Degraded));
    assert!(reason.starts_with("it is slow"), "{reason}");
    let open = store.proofs(&node("n1"), true, 9).await.unwrap().open;
    assert_eq!(open[0].report.verdict, Verdict::Degraded);
    assert_eq!(open[0].causes.only_warns.as_deref(), Some("it is slow"));
    let kept = store.report(None, &report_id("broken")).await.unwrap().unwrap();
    assert_eq!(kept.listing.verdict, Verdict::Broken);
    // What only explains the fault that is over is not in place of the warning, and nothing is worse than that.
    let findings = store.node_findings(&node("n1")).await.unwrap();
    let open = findings.into_iter().filter(|finding| finding.is_open);
    let mut open: Vec<(String, Bearing)> = open.map(|finding| (finding.name, finding.bearing)).collect();
    open.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = ["rule:refused-without-link", "rule:verdict/degraded"];
    assert_eq!(open, expected.map(|name| (name.to_owned(), Bearing::Warning)));
    store.save_report(last).await.unwrap();
    assert_eq!(stands().await.0, "last");
    // What is over is over with its warning, should the report be open again.
    place
        .run("UPDATE report SET open_causes = '[]' WHERE id = 'broken'")
        .await;
    let again = store.proofs(&node("n1"), true, 9).await.unwrap().open;
    assert_eq!(again[0].causes.only_warns, None);
}

pub(crate) async fn a_run_that_warns_is_open_until_it_is_ended(place: Arc<Place>) {
    let store = place.store().await;
    let proof = |id: &str, second, verdict| NewReport {
        verdict,
        weight: Weight::Proof,
        ..report("n1", id, second)
    };
    for report in [
        proof("slow", 10, Verdict::Degraded),
        proof("healthy", 20, Verdict::Healthy),
    ] {
        store.save_report(report).await.unwrap();
    }
    let stands = async |store: &dyn peerless::store::Store| {
        let node = store.node(&node("n1")).await.unwrap().unwrap();
        (node.latest.id.to_string(), node.summary.verdict)
    };
    assert_eq!(stands(&*store).await, ("slow".to_owned(), Verdict::Degraded));
    drop(store);
    // As a database of before has it.
    place.run("UPDATE report SET open_causes = NULL").await;
    place.run("ALTER TABLE report DROP COLUMN only_warns").await;
    place.run("ALTER TABLE node_finding DROP COLUMN about").await;
    place.run("DROP INDEX report_ruled_out").await;
    place.run("ALTER TABLE report DROP COLUMN ruled_out").await;
    place.run("ALTER TABLE node DROP COLUMN judged_anew").await;
    place.run("DROP INDEX report_by_end").await;
    place.run("DROP INDEX report_good").await;
    place
        .run("DELETE FROM _sqlx_migrations WHERE version >= 38")
        .await;
    let store = place.store().await;
    let known = store.proofs(&node("n1"), true, 1).await.unwrap();
    assert_eq!(known.open.len(), 1);
    assert_eq!(known.open[0].causes.names, ["report:slow"]);
    let ends = NewReport {
        judged: Some(Judged {
            reports: 2,
            ends: vec![report_id("slow")],
            ..Judged::default()
        }),
        ..proof("measured", 30, Verdict::Healthy)
    };
    store.save_report(ends).await.unwrap();
    assert_eq!(stands(&*store).await, ("measured".to_owned(), Verdict::Healthy));
}

pub(crate) async fn reports_around_a_time_are_those_whose_runs_ended_there(place: Arc<Place>) {
    let store = place.store().await;
    let late = NewReport {
        finished_at: at(15),
        ..report("n1", "late", 50)
    };
    let real = NewReport {
        simulated: false,
        ..report("n1", "real", 45)
    };
    let of_another = report("n2", "of-another", 40);
    for report in [
        report("n1", "first", 10),
        report("n1", "second", 20),
        report("n1", "third", 30),
        of_another,
        real,
        late,
    ] {
        store.save_report(report).await.unwrap();
    }
    let after = async |second, limit| -> Vec<String> {
        let found = store
            .reports_after(&node("n1"), true, at(second), limit)
            .await
            .unwrap();
        found.into_iter().map(|report| report.id.to_string()).collect()
    };
    // Runs of these reports ended five seconds before they came.
    assert_eq!(after(15, 9).await, ["third"]);
    assert_eq!(after(14, 9).await, ["second", "late", "third"]);
    assert_eq!(after(0, 2).await, ["first", "second"]);
    let before = async |second| {
        let found = store.report_before(&node("n1"), true, at(second)).await.unwrap();
        found.map(|report| report.id.to_string())
    };
    assert_eq!(before(4).await, None);
    assert_eq!(before(14).await.as_deref(), Some("first"));
    assert_eq!(before(19).await.as_deref(), Some("late"));
}

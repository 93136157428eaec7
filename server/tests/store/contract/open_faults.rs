//! What is open of a node.

use std::sync::Arc;

use kb_core::ids::{NodeId, ReportId, Seq};
use kb_core::verdict::Verdict;
use peerless::store::{Causes, Found, Judged, NewReport, OPEN_FAULTS, ReportSaved, Weight};

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
        },
        ..report("n1", id, second)
    };
    let gone = NewReport {
        finished_at: at(5),
        causes: Causes {
            names: vec!["gpu:\"GPU-1\"\n".to_owned()],
            gone_from: Some(report_id("before")),
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

pub(crate) async fn what_is_open_is_judged_again_by_another_policy(place: Arc<Place>) {
    let store = place.store().await;
    let judged_by = |id: &str, second, (verdict, weight)| NewReport {
        verdict,
        weight,
        found: Some(Found {
            seq: Seq(1),
            rule_set: "before".to_owned(),
            findings: Vec::new(),
        }),
        ..report("n1", id, second)
    };
    let alarm = |verdict| (verdict, Weight::Alarm);
    for report in [
        judged_by("over", 10, (Verdict::NoFaultSeen, Weight::Look)),
        judged_by("open", 20, alarm(Verdict::Unknown)),
        judged_by("stands", 30, alarm(Verdict::Broken)),
        judged_by("latest", 40, (Verdict::NoFaultSeen, Weight::Look)),
    ] {
        store.save_report(report).await.unwrap();
    }
    assert_eq!(store.judge_again(["before", "other"]).await.unwrap(), 0);
    assert_eq!(store.judge_again(["now", "now"]).await.unwrap(), 3);
    let waiting = store.reports_to_correlate(Seq(1), 9).await.unwrap();
    let ids: Vec<&str> = waiting.iter().map(|report| report.listing.id.as_str()).collect();
    assert_eq!(ids, ["open", "stands", "latest"]);
}

//! Reports and findings.

use std::sync::Arc;

use kb_core::ids::{NodeId, ReportId, Seq};
use kb_core::verdict::Verdict;
use peerless::store::{
    Gravity, NewFinding, NewReport, NodeQuery, ReportQuery, ReportSaved, Store, StoreError,
};
use tokio::task::JoinSet;

use crate::support::{Place, at, id, report, revision};

fn node(text: &str) -> NodeId {
    text.parse().unwrap()
}

fn report_id(text: &str) -> ReportId {
    text.parse().unwrap()
}

fn finding(title: &str) -> NewFinding {
    NewFinding {
        record: Some((id("cuda/a"), revision(3))),
        rule: "gns".to_owned(),
        subject: "pair 0-1".to_owned(),
        title: title.to_owned(),
        evidence: "[]".to_owned(),
        gravity: Gravity::default(),
        by_policy: None,
    }
}

async fn titles(store: &dyn Store, of: &NewReport) -> Vec<(u32, String, i64)> {
    let findings = store.findings(&of.node, &of.id).await.unwrap();
    findings
        .into_iter()
        .map(|kept| (kept.ordinal, kept.finding.title, kept.seq.0))
        .collect()
}

pub(crate) async fn a_report_is_kept_once(place: Arc<Place>) {
    let store = place.store().await;
    let sent = NewReport {
        hostname: None,
        verdict: Verdict::Refused,
        ..report("n1", "r1", 10)
    };
    assert_eq!(
        store.save_report(sent.clone()).await.unwrap(),
        ReportSaved::Stored
    );
    let again = NewReport {
        received_at: at(99),
        ..sent.clone()
    };
    assert_eq!(store.save_report(again).await.unwrap(), ReportSaved::Duplicate);

    let kept = store.report(Some(&sent.node), &sent.id).await.unwrap().unwrap();
    assert_eq!((kept.body_zstd, kept.body_bytes), (sent.body_zstd, 4096));
    let listing = kept.listing;
    assert_eq!((listing.received_at, listing.finished_at), (at(10), at(5)));
    assert_eq!(
        (listing.hostname, listing.verdict, listing.gpus),
        (None, Verdict::Refused, 2)
    );
    assert!(listing.simulated);
    let nodes = store.nodes(&NodeQuery::first(10)).await.unwrap();
    assert_eq!((nodes[0].reports, nodes[0].latest.received_at), (1, at(10)));
    assert_eq!(store.report(None, &report_id("r2")).await.unwrap(), None);
    assert_eq!(store.report(Some(&node("n2")), &sent.id).await.unwrap(), None);
}

pub(crate) async fn every_verdict_comes_back(place: Arc<Place>) {
    let store = place.store().await;
    for (number, verdict) in Verdict::ALL.into_iter().enumerate() {
        let sent = NewReport {
            verdict,
            ..report(&format!("n{number}"), "r1", 10)
        };
        store.save_report(sent.clone()).await.unwrap();
        let kept = store.report(Some(&sent.node), &sent.id).await.unwrap().unwrap();
        assert_eq!(kept.listing.verdict, verdict);
    }
    assert_eq!(
        store.nodes(&NodeQuery::first(10)).await.unwrap().len(),
        Verdict::ALL.len()
    );
}

pub(crate) async fn another_body_under_the_same_id_is_a_conflict(place: Arc<Place>) {
    let store = place.store().await;
    let sent = report("n1", "r1", 10);
    store.save_report(sent.clone()).await.unwrap();
    let other = NewReport {
        body_sha256: format!("{:064}", 2),
        body_zstd: vec![1],
        hostname: Some("changed".to_owned()),
        ..report("n1", "r1", 20)
    };
    assert_eq!(store.save_report(other).await.unwrap(), ReportSaved::Conflict);
    let kept = store.report(None, &sent.id).await.unwrap().unwrap();
    assert_eq!(kept.body_zstd, sent.body_zstd);
    let nodes = store.nodes(&NodeQuery::first(10)).await.unwrap();
    assert_eq!(
        (nodes[0].reports, nodes[0].hostname.as_deref()),
        (1, Some("n1.example"))
    );
}

pub(crate) async fn two_uploads_at_once_store_once(place: Arc<Place>) {
    let programs = [place.store().await, place.store().await];
    let mut tasks = JoinSet::new();
    for store in programs.iter().cycle().take(6) {
        let store = Arc::clone(store);
        tasks.spawn(async move { store.save_report(report("n1", "r1", 10)).await.unwrap() });
    }
    let outcomes = tasks.join_all().await;
    let stored = outcomes
        .iter()
        .filter(|saved| **saved == ReportSaved::Stored)
        .count();
    let duplicates = outcomes
        .iter()
        .filter(|saved| **saved == ReportSaved::Duplicate)
        .count();
    assert_eq!((stored, duplicates), (1, 5), "{outcomes:?}");
    assert_eq!(
        programs[0].nodes(&NodeQuery::first(10)).await.unwrap()[0].reports,
        1
    );
}

pub(crate) async fn an_id_of_two_nodes_needs_the_node(place: Arc<Place>) {
    let store = place.store().await;
    for name in ["n1", "n2"] {
        store.save_report(report(name, "r1", 10)).await.unwrap();
    }
    let error = store.report(None, &report_id("r1")).await.unwrap_err();
    assert!(matches!(error, StoreError::AmbiguousReport), "{error}");
    let kept = store
        .report(Some(&node("n2")), &report_id("r1"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(kept.listing.node, node("n2"));
}

pub(crate) async fn lists_come_newest_first_in_pages(place: Arc<Place>) {
    let store = place.store().await;
    // Two of the same moment: the id decides. Whole seconds and fractions: time decides, not text.
    for (name, number, second) in [("n1", "a", 10), ("n2", "b", 30), ("n1", "c", 20), ("n1", "d", 20)] {
        store.save_report(report(name, number, second)).await.unwrap();
    }
    let whole = NewReport {
        received_at: at(40).replace_nanosecond(0).unwrap(),
        ..report("n1", "e", 40)
    };
    let fraction = NewReport {
        received_at: at(40).replace_nanosecond(500_000_000).unwrap(),
        ..report("n1", "f", 40)
    };
    store.save_report(fraction).await.unwrap();
    store.save_report(whole).await.unwrap();

    let names = async |query: ReportQuery| {
        let page = store.reports(query).await.unwrap();
        page.iter()
            .map(|listing| listing.id.to_string())
            .collect::<String>()
    };
    let all = ReportQuery {
        limit: 10,
        ..ReportQuery::default()
    };
    assert_eq!(names(all.clone()).await, "febdca");
    assert_eq!(
        names(ReportQuery {
            node: Some(node("n1")),
            ..all.clone()
        })
        .await,
        "fedca"
    );
    let after_d = Some((at(20), report_id("d")));
    assert_eq!(
        names(ReportQuery {
            before: after_d.clone(),
            ..all.clone()
        })
        .await,
        "ca"
    );
    let one = ReportQuery {
        node: Some(node("n1")),
        before: after_d,
        limit: 1,
    };
    assert_eq!(names(one).await, "c");
}

pub(crate) async fn findings_are_replaced(place: Arc<Place>) {
    let store = place.store().await;
    let sent = report("n1", "r1", 10);
    store.save_report(sent.clone()).await.unwrap();
    let first = vec![
        finding("one"),
        NewFinding {
            record: None,
            ..finding("two")
        },
    ];
    store
        .replace_findings(&sent.node, &sent.id, Seq(4), first.clone())
        .await
        .unwrap();
    let kept = store.findings(&sent.node, &sent.id).await.unwrap();
    assert_eq!(
        kept.iter().map(|kept| kept.finding.clone()).collect::<Vec<_>>(),
        first
    );
    assert_eq!(
        store
            .report(None, &sent.id)
            .await
            .unwrap()
            .unwrap()
            .listing
            .findings,
        2
    );

    store
        .replace_findings(&sent.node, &sent.id, Seq(5), vec![finding("three")])
        .await
        .unwrap();
    assert_eq!(titles(&*store, &sent).await, [(0, "three".to_owned(), 5)]);
    store
        .replace_findings(&sent.node, &sent.id, Seq(6), vec![])
        .await
        .unwrap();
    assert!(titles(&*store, &sent).await.is_empty());
    assert_eq!(
        store.nodes(&NodeQuery::first(1)).await.unwrap()[0]
            .latest
            .findings,
        0
    );

    let missing = store
        .replace_findings(&sent.node, &report_id("r9"), Seq(6), vec![])
        .await
        .unwrap_err();
    assert!(matches!(missing, StoreError::NoReport(_, _)), "{missing}");
}

pub(crate) async fn newer_findings_are_not_replaced_by_older(place: Arc<Place>) {
    let store = place.store().await;
    let sent = report("n1", "r1", 10);
    store.save_report(sent.clone()).await.unwrap();
    store
        .replace_findings(&sent.node, &sent.id, Seq(5), vec![finding("new")])
        .await
        .unwrap();
    store
        .replace_findings(&sent.node, &sent.id, Seq(4), vec![])
        .await
        .unwrap();
    assert_eq!(titles(&*store, &sent).await, [(0, "new".to_owned(), 5)]);
}

pub(crate) async fn latest_reports_wait_for_correlation(place: Arc<Place>) {
    let store = place.store().await;
    for (name, number, second) in [
        ("n2", "b1", 5),
        ("n1", "a1", 10),
        ("n1", "a2", 30),
        ("n3", "c1", 20),
    ] {
        store.save_report(report(name, number, second)).await.unwrap();
    }
    let waiting = async |seq, limit| {
        let reports = store.reports_to_correlate(Seq(seq), limit).await.unwrap();
        reports
            .iter()
            .map(|report| report.listing.id.to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(waiting(1, 10).await, "b1 c1 a2");
    assert_eq!(waiting(1, 2).await, "b1 c1");
    store
        .replace_findings(&node("n2"), &report_id("b1"), Seq(1), vec![])
        .await
        .unwrap();
    store
        .replace_findings(&node("n1"), &report_id("a2"), Seq(2), vec![finding("x")])
        .await
        .unwrap();
    assert_eq!(waiting(1, 10).await, "c1");
    assert_eq!(waiting(2, 10).await, "b1 c1");
    assert_eq!(waiting(3, 10).await, "b1 c1 a2");
}

pub(crate) async fn reports_in_earnest_of_a_time_are_counted(place: Arc<Place>) {
    let store = place.store().await;
    for second in 1..=6 {
        let sent = NewReport {
            simulated: second == 2,
            ..report("n1", &format!("r{second}"), second)
        };
        store.save_report(sent).await.unwrap();
    }
    let listed = store
        .reports(ReportQuery {
            node: Some(node("n1")),
            before: None,
            limit: 9,
        })
        .await
        .unwrap();
    let place_of = |at: usize| (listed[at].received_at, listed[at].id.clone());
    let count = async |since: usize, before: usize| {
        let since = listed[since].received_at;
        store
            .reports_in_earnest(&node("n1"), since, place_of(before))
            .await
            .unwrap()
    };
    // The newest first: r6 to r1.
    assert_eq!(count(5, 0).await, 4);
    assert_eq!(count(3, 1).await, 2);
    assert_eq!(count(0, 0).await, 0);
}

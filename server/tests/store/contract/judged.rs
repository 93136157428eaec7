//! What stored reports tell by other rules than before.

use std::sync::Arc;

use kb_core::ids::{NodeId, ReportId, Seq};
use kb_core::verdict::Verdict;
use peerless::store::{Causes, Ended, Found, Judged, NewReport, ReportSaved, Weight};

use crate::support::{Place, report};

fn node(text: &str) -> NodeId {
    text.parse().unwrap()
}

fn report_id(text: &str) -> ReportId {
    text.parse().unwrap()
}

/// Beside so many reports of the node, of which so many had been judged anew.
fn beside(reports: u32, judged_anew: u32) -> Judged {
    Judged {
        reports,
        judged_anew,
        ..Judged::default()
    }
}

fn found(rule_set: &str) -> Found {
    Found {
        seq: Seq(1),
        rule_set: Some(rule_set.to_owned()),
        findings: Vec::new(),
    }
}

fn of(names: &[&str]) -> Causes {
    Causes {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Causes::default()
    }
}

pub(crate) async fn what_is_open_is_judged_again_by_another_policy(place: Arc<Place>) {
    let store = place.store().await;
    let judged_by = |id: &str, second, (verdict, weight)| NewReport {
        verdict,
        weight,
        found: Some(Found {
            seq: Seq(1),
            rule_set: Some("before".to_owned()),
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
    assert_eq!(store.judge_again(Some("before")).await.unwrap(), 0);
    assert_eq!(store.judge_again(Some("now")).await.unwrap(), 3);
    assert_eq!(store.judge_again(None).await.unwrap(), 3, "by whatever rules");
    let waiting = store.reports_to_correlate(Seq(1), 9).await.unwrap();
    let ids: Vec<&str> = waiting.iter().map(|report| report.listing.id.as_str()).collect();
    assert_eq!(ids, ["open", "stands", "latest"]);
    let node = "n1".parse().unwrap();
    let otherwise = store.reports_judged_otherwise(&node, "now").await.unwrap();
    let ids: Vec<&str> = otherwise
        .iter()
        .map(|report| report.listing.id.as_str())
        .collect();
    assert_eq!(ids, ["open", "stands", "latest"]);
    for (node, rules) in [("n1", "before"), ("n2", "now")] {
        let id = node.parse().unwrap();
        let found = store.reports_judged_otherwise(&id, rules).await.unwrap();
        assert!(found.is_empty(), "{node}, {rules}");
    }
}

pub(crate) async fn verdict_and_findings_change_together_with_the_rules(place: Arc<Place>) {
    let store = place.store().await;
    let by = |rule_set: &str, verdict, weight| NewReport {
        verdict,
        weight,
        found: Some(Found {
            seq: Seq(1),
            rule_set: Some(rule_set.to_owned()),
            findings: Vec::new(),
        }),
        judged: Some(Judged::default()),
        ..report("n1", "told", 10)
    };
    let look = NewReport {
        verdict: Verdict::NoFaultSeen,
        weight: Weight::Look,
        ..report("n1", "later", 20)
    };
    store
        .save_report(by("one", Verdict::Broken, Weight::Alarm))
        .await
        .unwrap();
    store.save_report(look).await.unwrap();
    let stands = async || {
        let node = store.node(&node("n1")).await.unwrap().unwrap();
        (node.latest.id.to_string(), node.summary.verdict)
    };
    let broken = ("told".to_owned(), Verdict::Broken);
    assert_eq!(stands().await, broken);
    // Judged beside fewer reports than there are now.
    let milder = by("two", Verdict::NoFaultSeen, Weight::Look);
    let saved = store.judge_report_anew(milder.clone()).await.unwrap();
    assert_eq!(saved, ReportSaved::Overtaken);
    assert_eq!(stands().await, broken);
    let beside_both = |report: NewReport| NewReport {
        judged: Some(beside(2, 0)),
        ..report
    };
    let saved = store.judge_report_anew(beside_both(milder)).await.unwrap();
    assert_eq!(saved, ReportSaved::Stored);
    assert_eq!(stands().await, ("later".to_owned(), Verdict::NoFaultSeen));
    assert!(store.proofs(&node("n1"), true, 1).await.unwrap().open.is_empty());
    // It tells of the node still: the rules may change once more.
    let judged_by = store.judged_by(&node("n1"), &report_id("told")).await.unwrap();
    let judged_by = judged_by.unwrap();
    assert_eq!((judged_by.rule_set.as_str(), judged_by.tells), ("two", true));
    assert_eq!(store.judge_again(Some("one")).await.unwrap(), 2);
    // What was judged beside it before its rules changed is held against it again.
    let again = beside_both(by("one", Verdict::Broken, Weight::Alarm));
    let saved = store.judge_report_anew(again.clone()).await.unwrap();
    assert_eq!(saved, ReportSaved::Overtaken);
    let upload = NewReport {
        judged: Some(beside(2, 0)),
        ..report("n1", "upload", 30)
    };
    assert_eq!(store.save_report(upload).await.unwrap(), ReportSaved::Overtaken);
    let again = NewReport {
        judged: Some(beside(2, 1)),
        ..again
    };
    assert_eq!(store.judge_report_anew(again).await.unwrap(), ReportSaved::Stored);
    assert_eq!(stands().await, broken);
    let none = store.judged_by(&node("n1"), &report_id("none")).await.unwrap();
    assert_eq!(none, None);
}

/// A part of a fault that rules take away is not forgotten with what is left of it.
pub(crate) async fn a_part_that_rules_take_away_tells_of_the_node_until_it_is_back(place: Arc<Place>) {
    let store = place.store().await;
    let by = |rule_set: &str, (verdict, weight), names: &[&str]| NewReport {
        verdict,
        weight,
        causes: of(names),
        found: Some(found(rule_set)),
        ..report("n1", "told", 10)
    };
    let broken = || by("one", (Verdict::Broken, Weight::Alarm), &["xid", "warning"]);
    let milder = by("two", (Verdict::Degraded, Weight::Alarm), &["warning"]);
    let later = NewReport {
        judged: Some(Judged {
            reports: 1,
            judged_anew: 1,
            ends: vec![report_id("told")],
            ..Judged::default()
        }),
        verdict: Verdict::NoFaultSeen,
        weight: Weight::Look,
        ..report("n1", "later", 20)
    };
    let tells = async || {
        let judged_by = store.judged_by(&node("n1"), &report_id("told")).await.unwrap();
        judged_by.unwrap().tells
    };
    store.save_report(broken()).await.unwrap();
    store.judge_report_anew(milder).await.unwrap();
    assert_eq!(store.save_report(later).await.unwrap(), ReportSaved::Stored);
    assert!(store.proofs(&node("n1"), true, 1).await.unwrap().open.is_empty());
    assert!(tells().await, "the rules may go");
    // It is back, and over: no rules took any of it.
    let over = NewReport {
        judged: Some(Judged {
            reports: 2,
            judged_anew: 1,
            is_over: true,
            ..Judged::default()
        }),
        ..broken()
    };
    assert_eq!(store.judge_report_anew(over).await.unwrap(), ReportSaved::Stored);
    assert!(!tells().await);
    // The same causes, and no fault any more.
    let of_n2 = |verdict, judged_anew| NewReport {
        node: node("n2"),
        judged: Some(beside(1, judged_anew)),
        ..by("one", (verdict, Weight::Alarm), &["xid"])
    };
    let first = NewReport {
        judged: None,
        ..of_n2(Verdict::Broken, 0)
    };
    store.save_report(first).await.unwrap();
    store
        .judge_report_anew(of_n2(Verdict::Degraded, 0))
        .await
        .unwrap();
    let good = NewReport {
        node: node("n2"),
        judged: Some(Judged {
            reports: 1,
            judged_anew: 1,
            ends: vec![report_id("told")],
            ..Judged::default()
        }),
        verdict: Verdict::Healthy,
        weight: Weight::Proof,
        ..report("n2", "good", 20)
    };
    assert_eq!(store.save_report(good).await.unwrap(), ReportSaved::Stored);
    let judged_by = store.judged_by(&node("n2"), &report_id("told")).await.unwrap();
    assert!(judged_by.unwrap().tells, "it was worse");
}

/// What was over but for a warning does not come back whole with the rules.
pub(crate) async fn what_was_over_when_rules_took_it_is_known_until_it_is_back(place: Arc<Place>) {
    let store = place.store().await;
    let by = |rule_set: &str, (verdict, weight), causes: Causes| NewReport {
        verdict,
        weight,
        causes,
        found: Some(found(rule_set)),
        ..report("n1", "told", 10)
    };
    let warning = |names: &[&str]| Causes {
        only_warns: Some("it was not measured".to_owned()),
        ..of(names)
    };
    let whole = (Verdict::Broken, Weight::Alarm);
    let later = NewReport {
        judged: Some(Judged {
            reports: 1,
            warns: vec![(report_id("told"), "it was not measured".to_owned())],
            ..Judged::default()
        }),
        verdict: Verdict::NoFaultSeen,
        weight: Weight::Look,
        ..report("n1", "later", 20)
    };
    let judged_by = async || {
        let judged_by = store.judged_by(&node("n1"), &report_id("told")).await.unwrap();
        judged_by.unwrap()
    };
    store
        .save_report(by("one", whole, of(&["xid", "warning"])))
        .await
        .unwrap();
    assert_eq!(store.save_report(later).await.unwrap(), ReportSaved::Stored);
    assert_eq!(judged_by().await.ended, None);
    let ended = Ended {
        verdict: Verdict::Broken,
        causes: warning(&["xid", "warning"]),
    };
    let milder = by("two", (Verdict::Degraded, Weight::Alarm), warning(&["warning"]));
    store.judge_report_anew(milder).await.unwrap();
    assert_eq!(judged_by().await.ended.as_ref(), Some(&ended));
    let none = by("three", (Verdict::NoFaultSeen, Weight::Look), Causes::default());
    store.judge_report_anew(none).await.unwrap();
    let without = judged_by().await;
    assert_eq!((without.ended.as_ref(), without.open), (Some(&ended), None));
    assert!(ended.covers(Verdict::Broken, &of(&["xid"])));
    assert!(!ended.covers(Verdict::Broken, &of(&["xid", "another"])));
    let back = by("one", whole, warning(&["xid", "warning"]));
    store.judge_report_anew(back).await.unwrap();
    let back = judged_by().await;
    assert_eq!(
        (back.ended, back.open),
        (None, Some(warning(&["xid", "warning"])))
    );
}

/// A run that came before a fault is judged before it.
pub(crate) async fn what_a_fault_may_have_refuted_is_judged_again_without_it(place: Arc<Place>) {
    let store = place.store().await;
    let by = |rule_set: &str, verdict, weight| NewReport {
        verdict,
        weight,
        causes: of(&["xid"]),
        found: Some(found(rule_set)),
        ..report("n1", "told", 10)
    };
    let latest = NewReport {
        found: Some(found("two")),
        verdict: Verdict::Unknown,
        weight: Weight::Look,
        ..report("n1", "latest", 20)
    };
    store
        .save_report(by("one", Verdict::Broken, Weight::Alarm))
        .await
        .unwrap();
    store.save_report(latest).await.unwrap();
    let due = async || {
        let due = store.reports_to_correlate(Seq(1), 9).await.unwrap();
        let ids = due.into_iter().map(|report| report.listing.id.to_string());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(due().await, [""; 0]);
    let milder = || by("two", Verdict::NoFaultSeen, Weight::Look);
    store.judge_report_anew(milder()).await.unwrap();
    assert_eq!(due().await, ["latest"]);
    store
        .replace_findings(&node("n1"), &report_id("latest"), Seq(1), Vec::new())
        .await
        .unwrap();
    // These rules have taken it already.
    store.judge_report_anew(milder()).await.unwrap();
    assert_eq!(due().await, [""; 0]);
}

pub(crate) async fn a_simulated_report_that_is_judged_anew_says_nothing_of_a_real_node(place: Arc<Place>) {
    let store = place.store().await;
    let simulated = |rule_set: &str, verdict, weight| NewReport {
        verdict,
        weight,
        causes: of(&["xid"]),
        found: Some(found(rule_set)),
        ..report("n1", "simulated", 10)
    };
    let broken = || simulated("one", Verdict::Broken, Weight::Alarm);
    store.save_report(broken()).await.unwrap();
    let milder = simulated("two", Verdict::NoFaultSeen, Weight::Look);
    store.judge_report_anew(milder).await.unwrap();
    let real = NewReport {
        simulated: false,
        verdict: Verdict::Healthy,
        weight: Weight::Proof,
        ..report("n1", "real", 20)
    };
    store.save_report(real).await.unwrap();
    let judged_by = store
        .judged_by(&node("n1"), &report_id("simulated"))
        .await
        .unwrap();
    assert!(
        !judged_by.unwrap().tells,
        "what it told is over with the first real report"
    );
    let again = NewReport {
        judged: Some(beside(2, 1)),
        ..broken()
    };
    assert_eq!(store.judge_report_anew(again).await.unwrap(), ReportSaved::Stored);
    let stands = store.node(&node("n1")).await.unwrap().unwrap();
    assert_eq!(
        (stands.latest.id, stands.latest.verdict),
        (report_id("real"), Verdict::Healthy)
    );
    assert!(store.proofs(&node("n1"), true, 1).await.unwrap().open.is_empty());
    let judged_by = store
        .judged_by(&node("n1"), &report_id("simulated"))
        .await
        .unwrap();
    assert_eq!(judged_by.unwrap().rule_set, "two");
}

/// Before, findings were made by the rules of the day, and the verdict beside them stayed.
pub(crate) async fn what_tells_of_a_node_in_a_database_of_before_is_judged_once_more(place: Arc<Place>) {
    let store = place.store().await;
    for (id, second) in [("over", 10), ("latest", 20)] {
        let told = NewReport {
            found: Some(found("now")),
            verdict: Verdict::NoFaultSeen,
            weight: Weight::Look,
            ..report("n1", id, second)
        };
        store.save_report(told).await.unwrap();
    }
    assert_eq!(store.judge_again(Some("now")).await.unwrap(), 0);
    drop(store);
    place.run("DROP INDEX report_ruled_out").await;
    place.run("ALTER TABLE report DROP COLUMN ruled_out").await;
    place.run("ALTER TABLE node DROP COLUMN judged_anew").await;
    place
        .run("DELETE FROM _sqlx_migrations WHERE version >= 44")
        .await;
    let store = place.store().await;
    assert_eq!(store.judge_again(Some("now")).await.unwrap(), 1);
}

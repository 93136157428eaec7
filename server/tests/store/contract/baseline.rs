//! Summaries of what nodes measured.

use std::sync::Arc;

use kb_core::baseline::{Cohort, Summary};
use kb_core::ids::NodeId;
use kb_core::verdict::Verdict;
use peerless::store::{KeptSeries, NewReport, PackedMeasurement, ReportSaved, Store, ToldBaseline, Weight};

use crate::support::{Place, at, report};

fn node(text: &str) -> NodeId {
    text.parse().unwrap()
}

fn cohort(driver_branch: u32, simulated: bool) -> Cohort {
    Cohort {
        model: "NVIDIA H200".to_owned(),
        driver_branch,
        simulated,
    }
}

fn series(key: &str, second: i64, figure: f64) -> KeptSeries {
    KeptSeries {
        key: key.to_owned(),
        at: at(second).unix_timestamp(),
        report: format!("r{second}"),
        summary: Summary::of(vec![figure; 2]).unwrap(),
    }
}

async fn seen(store: &dyn Store, id: &str) {
    store.save_report(report(id, "r0", 1)).await.unwrap();
}

/// Nodes of a cohort with the names and figures of their series.
async fn kept(store: &dyn Store, cohort: &Cohort) -> Vec<(String, Vec<(String, f64)>)> {
    let kept = store.baselines(cohort, 10).await.unwrap();
    let each = kept.into_iter().map(|one| {
        let mut series: Vec<(String, f64)> = one
            .series
            .iter()
            .map(|series| (series.key.clone(), series.summary.figures[0]))
            .collect();
        series.sort_by(|one, other| one.0.cmp(&other.0));
        (one.node.to_string(), series)
    });
    each.collect()
}

fn named(figures: &[(&str, f64)]) -> Vec<(String, f64)> {
    figures
        .iter()
        .map(|(key, figure)| ((*key).to_owned(), *figure))
        .collect()
}

pub(crate) async fn a_newer_figure_takes_the_place_of_an_older_one(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    let all = cohort(580, false);
    seen(store, "n1").await;
    let own = node("n1");
    let note = |series| store.note_baseline(&own, &all, series);
    note(vec![series("a", 20, 1.0), series("b", 20, 2.0)])
        .await
        .unwrap();
    note(vec![series("a", 30, 3.0)]).await.unwrap();
    let expected = [("n1".to_owned(), named(&[("a", 3.0), ("b", 2.0)]))];
    assert_eq!(kept(store, &all).await, expected);
    // A report that waited changes nothing that is newer, and the same again changes nothing at all.
    note(vec![series("a", 10, 9.0), series("c", 10, 4.0)])
        .await
        .unwrap();
    note(vec![series("a", 30, 3.0)]).await.unwrap();
    let expected = [("n1".to_owned(), named(&[("a", 3.0), ("b", 2.0), ("c", 4.0)]))];
    assert_eq!(kept(store, &all).await, expected);
    note(Vec::new()).await.unwrap();
    assert_eq!(kept(store, &all).await, expected);
    // A report brings its figures along. One that comes late, with an older driver, is kept without them.
    let with = |id: &str, cohort: &Cohort, series| NewReport {
        baseline: Some(ToldBaseline {
            cohort: cohort.clone(),
            series,
        }),
        ..report("n1", id, 50)
    };
    let newer = with("newer", &all, vec![series("a", 50, 5.0)]);
    let older = with("older", &cohort(570, false), vec![series("a", 40, 6.0)]);
    for sent in [newer, older] {
        assert_eq!(store.save_report(sent).await.unwrap(), ReportSaved::Stored);
    }
    let expected = [("n1".to_owned(), named(&[("a", 5.0), ("b", 2.0), ("c", 4.0)]))];
    assert_eq!(kept(store, &all).await, expected);
}

pub(crate) async fn cohorts_are_kept_apart(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    for id in ["n1", "n2", "n3"] {
        seen(store, id).await;
    }
    let (old, new, simulated) = (cohort(570, false), cohort(580, false), cohort(580, true));
    store
        .note_baseline(&node("n1"), &new, vec![series("a", 10, 1.0)])
        .await
        .unwrap();
    store
        .note_baseline(&node("n2"), &new, vec![series("a", 20, 2.0)])
        .await
        .unwrap();
    store
        .note_baseline(&node("n3"), &simulated, vec![series("a", 30, 3.0)])
        .await
        .unwrap();
    let one = |id: &str, figure| (id.to_owned(), named(&[("a", figure)]));
    // Those that measured last come first.
    assert_eq!(kept(store, &new).await, [one("n2", 2.0), one("n1", 1.0)]);
    assert_eq!(kept(store, &simulated).await, [one("n3", 3.0)]);
    assert_eq!(kept(store, &old).await, []);
    assert_eq!(store.baselines(&new, 1).await.unwrap().len(), 1);
    // Another driver: what was measured with the one before counts no more, and a report of that time that comes late neither.
    store
        .note_baseline(&node("n2"), &old, vec![series("b", 30, 5.0)])
        .await
        .unwrap();
    assert_eq!(kept(store, &new).await, [one("n1", 1.0)]);
    assert_eq!(kept(store, &old).await, [("n2".to_owned(), named(&[("b", 5.0)]))]);
    store
        .note_baseline(&node("n2"), &new, vec![series("a", 25, 2.0)])
        .await
        .unwrap();
    assert_eq!(kept(store, &new).await, [one("n1", 1.0)]);
}

pub(crate) async fn earlier_figures_are_those_of_good_runs(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    let run = |id: &str, second, verdict, weight, simulated| NewReport {
        verdict,
        weight,
        simulated,
        measurements: vec![PackedMeasurement {
            metric: "d2d_bandwidth.ce.push.p2p".to_owned(),
            unit: "GB/s".to_owned(),
            bytes: 4096,
            n: 2,
            matrix: [f64::NAN, 1.0, 2.0, f64::NAN]
                .into_iter()
                .flat_map(f64::to_le_bytes)
                .collect(),
        }],
        ..report("n1", id, second)
    };
    let (good, proof) = (Verdict::Healthy, Weight::Proof);
    for sent in [
        run("r1", 10, good, proof, false),
        run("r2", 20, good, proof, false),
        run("r3", 30, Verdict::Degraded, proof, false),
        run("r4", 40, Verdict::NoFaultSeen, Weight::Look, false),
        run("r5", 50, good, proof, true),
        run("r6", 60, good, proof, false),
    ] {
        store.save_report(sent).await.unwrap();
    }
    let found = |before, simulated, runs| async move {
        let found = store
            .earlier_figures(&node("n1"), at(before), simulated, runs)
            .await
            .unwrap();
        let each = found.iter().map(|figures| figures.report.to_string());
        each.collect::<Vec<String>>()
    };
    assert_eq!(found(59, false, 9).await, ["r2", "r1"]);
    assert_eq!(found(60, false, 1).await, ["r6"]);
    assert_eq!(found(60, true, 9).await, ["r5"]);
    let one = store
        .earlier_figures(&node("n1"), at(59), false, 1)
        .await
        .unwrap();
    assert_eq!(one[0].ended_at, at(15));
    assert_eq!((one[0].bytes, one[0].n, one[0].matrix.len()), (4096, 2, 32));
    let latest = store.latest_measured(&node("n1")).await.unwrap();
    assert_eq!(latest.unwrap().id.as_str(), "r6");
    let silent = NewReport {
        measurements: Vec::new(),
        ..report("n1", "r7", 70)
    };
    store.save_report(silent).await.unwrap();
    let latest = store.latest_measured(&node("n1")).await.unwrap();
    assert_eq!(
        latest.map(|listing| listing.id.to_string()).as_deref(),
        Some("r6")
    );
    assert_eq!(store.latest_measured(&node("n2")).await.unwrap(), None);
}

//! Reports of good machines, held against themselves and each other: nothing is to be watched.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy does not recognise as tests here"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use kb_core::baseline::{
    Cohort, Compared, Figure, Group, Outlier, Reviewed, Standing, Summary, earlier, figures, outliers, review,
};
use kb_core::report::Report;

fn reports() -> Vec<(String, Report)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/reports");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut reports: Vec<(String, Report)> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, serde_json::from_slice(&fs::read(&path).unwrap()).unwrap())
        })
        .filter(|(_, report): &(String, Report)| !figures(report).is_empty())
        .collect();
    reports.sort_by(|(one, _), (other, _)| one.cmp(other));
    reports
}

fn alone(report: &Report) -> Vec<Reviewed> {
    review(report, figures(report), |_| {
        (Compared::None, Compared::None, Compared::None)
    })
}

/// What stands worse than normal, in words.
fn worse(reviewed: &[Reviewed]) -> Vec<String> {
    let worse = reviewed.iter().filter(|item| item.standing() >= Standing::Watch);
    worse
        .map(|item| {
            let figure = &item.figure;
            format!(
                "{} {:?}-{:?} {} {:?} {:?} {:?}",
                figure.series.key(),
                figure.source,
                figure.destination,
                figure.value,
                item.in_node,
                item.own,
                item.peers
            )
        })
        .collect()
}

#[test]
fn every_figure_of_a_real_report_has_a_series() {
    for (name, report) in reports() {
        let cohort = Cohort::of(&report).unwrap();
        assert_eq!((cohort.driver_branch, cohort.simulated), (580, false), "{name}");
        for figure in figures(&report) {
            assert_ne!(figure.series.link.key(), "unknown", "{name}: {figure:?}");
        }
    }
}

#[test]
fn no_figure_of_a_good_node_stands_out_in_its_node() {
    for (name, report) in reports() {
        let reviewed = alone(&report);
        assert_eq!(worse(&reviewed), [] as [String; 0], "{name}");
        assert_eq!(outliers(&reviewed), [] as [Outlier; 0], "{name}");
    }
}

/// Each report of a model takes the part of a later run of each other one.
#[test]
fn no_good_node_stands_out_beside_another_of_its_model() {
    let reports = reports();
    let mut compared = 0;
    for (name, report) in &reports {
        for (other_name, other) in &reports {
            if name == other_name || Cohort::of(report) != Cohort::of(other) {
                continue;
            }
            // Ends do not matter between machines: of a series the middle one is taken.
            let mut known: BTreeMap<String, Vec<f64>> = BTreeMap::new();
            for figure in figures(other) {
                known.entry(figure.series.key()).or_default().push(figure.value);
            }
            let before = |figure: &Figure| {
                let group = Group::of(known.get(&figure.series.key())?)?;
                Some(earlier(figure, group.median))
            };
            let reviewed = review(report, figures(report), |figure| {
                (
                    Compared::None,
                    before(figure).unwrap_or(Compared::None),
                    Compared::None,
                )
            });
            compared += reviewed.iter().filter(|item| item.own != Compared::None).count();
            assert_eq!(
                outliers(&reviewed),
                [] as [Outlier; 0],
                "{name} after {other_name}: {:#?}",
                worse(&reviewed)
            );
        }
    }
    assert!(compared > 300, "{compared}");
}

/// The reports of one model, six times over, as a fleet.
#[test]
fn no_good_node_stands_out_among_peers_and_a_slow_one_does() {
    let reports = reports();
    let of_model: Vec<&Report> = reports
        .iter()
        .map(|(_, report)| report)
        .filter(|report| Cohort::of(report).unwrap().model == "NVIDIA H200")
        .collect();
    let mut known: BTreeMap<String, Vec<Summary>> = BTreeMap::new();
    for report in &of_model {
        let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for figure in figures(report) {
            values.entry(figure.series.key()).or_default().push(figure.value);
        }
        for (key, values) in values {
            let summary = Summary::of(values).unwrap();
            known
                .entry(key)
                .or_default()
                .extend(std::iter::repeat_n(summary, 6));
        }
    }
    let with_peers = |report: &Report, slower: f64| {
        let mut figures = figures(report);
        for figure in &mut figures {
            if figure.series.higher_is_better() {
                figure.value *= slower;
            } else {
                figure.value /= slower;
            }
        }
        review(report, figures, |figure| {
            let group = known.get(&figure.series.key()).and_then(Group::of_nodes);
            let peers = Compared::with_peers(figure, group);
            (peers, Compared::None, Compared::None)
        })
    };
    for report in &of_model {
        let reviewed = with_peers(report, 1.0);
        assert_eq!(outliers(&reviewed), [] as [Outlier; 0], "{:#?}", worse(&reviewed));
    }
    let bench = of_model.iter().max_by_key(|report| report.gpus.len()).unwrap();
    let slow = outliers(&with_peers(bench, 0.9));
    assert!(
        slow.iter().any(|found| found.standing == Standing::Low),
        "{slow:?}"
    );
}

//! Groups, comparisons and outliers on made-up figures.

use proptest::prelude::*;

use super::*;
use crate::report::{Cell, Engine, Fact, Measurement, Operation, Report};
use crate::verdict::tests::{gpu_fact, healthy};

const SIZE: u64 = 512 << 20;

/// `n` H200 on NVSwitch, with one-way copies by the copy engine and by kernels.
fn node(n: u32, rate: impl Fn(u32, u32) -> f64) -> Report {
    let mut report = healthy(n);
    for gpu in 0..report.gpus.len() {
        report.gpus[gpu].name = Fact::read("NVIDIA H200".to_owned(), "test");
        gpu_fact(&mut report, gpu, "nvlink.links_expected", 18);
        gpu_fact(&mut report, gpu, "nvlink.speed_mb_s", 26_562);
    }
    for pair in &mut report.pairs {
        pair.nvswitch = Fact::read(true, "test");
        pair.nvlinks = Fact::read(18, "test");
    }
    for engine in [Engine::Ce, Engine::Sm] {
        let ends = (0..n).flat_map(|from| (0..n).map(move |to| (from, to)));
        let cells = ends.filter(|(from, to)| from != to).map(|(from, to)| {
            // A tenth of a percent of noise, the same in every run.
            let noise = f64::from((from * 7 + to * 3) % 5) * 0.000_25;
            Cell::new(Some(from), Some(to), Ok(vec![rate(from, to) * (1.0 - noise); 3]))
        });
        report.measurements.push(Measurement {
            metric: "d2d_bandwidth".to_owned(),
            unit: "GB/s".to_owned(),
            engine,
            operation: Operation::Push,
            bytes: SIZE,
            peer_access: Some(true),
            at_once: None,
            taken: None,
            cells: cells.collect(),
        });
    }
    report
}

fn alone(report: &Report) -> Vec<Reviewed> {
    review(report, figures(report), |_| {
        (Compared::None, Compared::None, Compared::None)
    })
}

fn subjects(report: &Report) -> Vec<(Subject, Standing)> {
    let found = outliers(&alone(report));
    found
        .iter()
        .map(|found| (found.subject, found.standing))
        .collect()
}

/// A copy over NVLink, 512 MiB, by the copy engine.
fn figure(value: f64) -> Figure {
    let mut figure = figures(&node(2, |_, _| 396.0)).swap_remove(0);
    figure.value = value;
    figure
}

#[test]
fn a_pair_two_percent_below_the_others_is_to_be_watched_and_five_percent_is_low() {
    let slow = |share: f64| {
        node(8, move |from, to| {
            if (from.min(to), from.max(to)) == (2, 5) {
                396.0 * share
            } else {
                396.0
            }
        })
    };
    let pair = Subject::Pair { a: 2, b: 5 };
    assert_eq!(subjects(&slow(1.0)), []);
    assert_eq!(subjects(&slow(0.98)), [(pair, Standing::Watch)]);
    assert_eq!(subjects(&slow(0.95)), [(pair, Standing::Low)]);
    assert_eq!(subjects(&slow(1.05)), [], "faster is no fault");
}

#[test]
fn the_gpu_is_named_where_its_pairs_are_slow_and_the_pair_where_one_is() {
    let gpu = node(8, |from, to| if from == 3 || to == 3 { 300.0 } else { 396.0 });
    assert_eq!(subjects(&gpu), [(Subject::Gpu { gpu: 3 }, Standing::Low)]);
    let both = node(8, |from, to| match (from.min(to), from.max(to)) {
        (3, _) | (_, 3) => 300.0,
        (0, 1) => 350.0,
        _ => 396.0,
    });
    assert_eq!(
        subjects(&both),
        [
            (Subject::Gpu { gpu: 3 }, Standing::Low),
            (Subject::Pair { a: 0, b: 1 }, Standing::Low)
        ]
    );
}

#[test]
fn a_node_that_is_slow_as_a_whole_is_seen_by_its_peers_alone() {
    let slow = node(4, |_, _| 360.0);
    assert_eq!(subjects(&slow), []);
    let peers: Vec<Summary> = (0..5).map(|_| Summary::of(vec![396.0; 12]).unwrap()).collect();
    let reviewed = review(&slow, figures(&slow), |figure| {
        let group = Group::of_nodes(&peers);
        let peers = Compared::with_peers(figure, group);
        (peers, Compared::None, Compared::None)
    });
    let found = outliers(&reviewed);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].subject, found[0].standing),
        (Subject::Node, Standing::Low)
    );
    assert!(found[0].tests[0].difference < -0.08);
}

#[test]
fn one_test_to_be_watched_makes_no_outlier() {
    let mut report = node(8, |_, _| 396.0);
    report.measurements[0].cells[0].samples = vec![388.0; 3];
    assert_eq!(alone(&report)[0].standing(), Standing::Watch);
    assert_eq!(subjects(&report), []);
}

#[test]
fn a_group_that_is_too_small_says_how_many_are_needed() {
    let pair = node(2, |_, _| 396.0);
    let found = alone(&pair);
    assert_eq!(found[0].in_node, Compared::TooFew { have: 2, need: 6 });
    assert_eq!(found[0].standing(), Standing::NotCompared);
    let four: Vec<Summary> = (0..4).map(|_| Summary::of(vec![396.0; 2]).unwrap()).collect();
    let peers = Compared::with_peers(&figure(300.0), Group::of_nodes(&four));
    assert_eq!(peers, Compared::TooFew { have: 4, need: 5 });
    assert_eq!(Compared::with_peers(&figure(300.0), None), Compared::None);
}

#[test]
fn a_link_that_lost_links_stays_in_its_class() {
    let mut report = node(8, |_, _| 396.0);
    let whole = figures(&report)[0].series.key();
    gpu_fact(&mut report, 0, "nvlink.links_active", 9);
    report.pairs[0].nvlinks = Fact::read(9, "test");
    assert_eq!(figures(&report)[0].series.key(), whole);
    assert_eq!(
        whole,
        "nvswitch-18x26562/d2d_bandwidth.ce.push.p2p/536870912/0/GB/s"
    );
}

#[test]
fn of_a_pair_whose_links_are_not_known_no_class_is_made_up() {
    let mut report = node(2, |_, _| 396.0);
    report.pairs[0].nvlinks = Fact::missing(crate::report::GapKind::NotVisible, "test", "test");
    report.pairs[0].nvswitch = Fact::missing(crate::report::GapKind::NotVisible, "test", "test");
    assert_eq!(figures(&report)[0].series.link, LinkClass::Unknown);
}

#[test]
fn figures_of_a_gpu_that_others_use_are_shown_and_measure_nobody() {
    let mut report = node(8, |from, to| if from == 3 || to == 3 { 300.0 } else { 396.0 });
    gpu_fact(&mut report, 3, "shared", true);
    assert_eq!(subjects(&report), []);
    let its: Vec<Reviewed> = alone(&report)
        .into_iter()
        .filter(|item| item.figure.disturbed)
        .collect();
    assert_eq!(its.len(), 28);
    assert!(its.iter().all(|item| item.standing() == Standing::NotCompared));
}

#[test]
fn a_single_sample_is_held_against_less_strictly() {
    let group = Group::of(&[396.0; 12]);
    let standing = |value, samples| {
        let mut figure = figure(value);
        figure.samples = samples;
        Compared::in_node(&figure, group).standing()
    };
    assert_eq!(
        (standing(362.0, 3), standing(362.0, 1)),
        (Standing::Low, Standing::Normal)
    );
    assert_eq!(standing(200.0, 1), Standing::Low);
}

#[test]
fn figures_around_two_values_are_both_normal() {
    let values: Vec<f64> = (0..12)
        .map(|place| if place < 5 { 200.0 } else { 380.0 })
        .collect();
    let peers: Vec<Summary> = (0..6).map(|_| Summary::of(values.clone()).unwrap()).collect();
    let peers = Group::of_nodes(&peers);
    for value in [200.0, 380.0] {
        let figure = figure(value);
        assert_eq!(
            Compared::in_node(&figure, Group::of(&values)).standing(),
            Standing::Normal
        );
        assert_eq!(Compared::with_peers(&figure, peers).standing(), Standing::Normal);
    }
}

#[test]
fn a_latency_is_low_where_it_is_high() {
    let standing = |value| {
        let mut figure = figure(value);
        figure.series.unit = "us".to_owned();
        earlier(&figure, 2.0).standing()
    };
    assert_eq!(standing(4.0), Standing::Low);
    assert_eq!(standing(1.0), Standing::Normal);
}

#[test]
fn a_reference_of_few_machines_is_mild_and_stands_back_behind_peers() {
    let few = Group {
        median: 396.0,
        spread: 0.0,
        values: 12,
        nodes: 1,
    };
    let of = |value| Compared::with_reference(&figure(value), few).standing();
    assert_eq!((of(360.0), of(300.0)), (Standing::Normal, Standing::Watch));
    let mut item = alone(&node(8, |_, _| 396.0)).swap_remove(0);
    item.reference = Compared::with_reference(&figure(300.0), few);
    assert_eq!(item.standing(), Standing::Watch);
    let peers: Vec<Summary> = (0..5).map(|_| Summary::of(vec![396.0; 2]).unwrap()).collect();
    item.peers = Compared::with_peers(&figure(396.0), Group::of_nodes(&peers));
    assert_eq!(item.standing(), Standing::Normal);
}

#[test]
fn nominal_is_from_the_generation_where_no_rate_is_stated() {
    let mut report = node(2, |_, _| 396.0);
    assert!((nominal(&report, 0, Some(1)).unwrap().gb_s - 450.0).abs() < 0.1);
    for gpu in &mut report.gpus {
        gpu.facts.remove("nvlink.speed_mb_s");
    }
    assert_eq!(nominal(&report, 0, Some(1)), None);
    for gpu in 0..2 {
        gpu_fact(&mut report, gpu, "nvlink.version", "4.0");
    }
    let found = nominal(&report, 0, Some(1)).unwrap();
    assert!((found.gb_s - 450.0).abs() < 0.1);
    assert!(found.source.starts_with("nvlink.version"));
}

#[test]
fn a_cohort_needs_one_model_and_a_driver() {
    let mut report = node(2, |_, _| 396.0);
    report.host.remove("driver.version");
    assert_eq!(Cohort::of(&report), Err(Unplaced::NoDriver));
    report.host.insert(
        "driver.version".to_owned(),
        Fact::read("580.159.04".into(), "test"),
    );
    let found = Cohort::of(&report).unwrap();
    assert_eq!((found.model.as_str(), found.driver_branch), ("NVIDIA H200", 580));
    report.gpus[1].name = Fact::read("NVIDIA H100".to_owned(), "test");
    assert_eq!(Cohort::of(&report), Err(Unplaced::SeveralModels));
}

proptest! {
    /// Noise of good copy engines, and a few bad figures beside it, make no good figure an outlier.
    #[test]
    fn good_figures_stay_normal_beside_bad_ones(
        noise in prop::collection::vec(-0.001_f64..0.001, 56),
        bad in prop::collection::vec((0_usize..56, 0.1_f64..0.9), 0..10),
        level in 1.0_f64..1000.0,
    ) {
        let mut values: Vec<f64> = noise.iter().map(|noise| level * (1.0 + noise)).collect();
        for (place, share) in &bad {
            values[*place] = level * share;
        }
        let group = Group::of(&values);
        for (place, value) in values.iter().enumerate() {
            let is_bad = bad.iter().any(|(at, _)| *at == place);
            let standing = Compared::in_node(&figure(*value), group).standing();
            prop_assert_eq!(standing == Standing::Low, is_bad);
            prop_assert!(is_bad || standing == Standing::Normal);
        }
    }

    /// Whatever comes in: no panic, a worse figure never stands better, and scale does not matter.
    #[test]
    fn worse_never_stands_better(
        values in prop::collection::vec(prop::num::f64::ANY, 0..40),
        one in 0.001_f64..1e6, other in 0.001_f64..1e6,
    ) {
        let group = Group::of(&values);
        let (worse, better) = (one.min(other), one.max(other));
        let of = |value| Compared::in_node(&figure(value), group).standing();
        prop_assert!(of(worse) >= of(better));
    }

    #[test]
    fn a_summary_keeps_the_ends_and_the_count(values in prop::collection::vec(0.001_f64..1e6, 1..300)) {
        let summary = Summary::of(values.clone()).unwrap();
        prop_assert_eq!(summary.count as usize, values.len());
        prop_assert!(summary.figures.len() <= Summary::MOST);
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = values.iter().copied().fold(0.0, f64::max);
        prop_assert_eq!(summary.figures.first().copied(), Some(lowest));
        prop_assert_eq!(summary.figures.last().copied(), Some(highest));
        prop_assert!(summary.figures.is_sorted());
    }

    /// The order of nodes does not matter, and one node among many moves the median little.
    #[test]
    fn one_node_does_not_move_its_group(rates in prop::collection::vec(390.0_f64..400.0, 8..40), off in 1.0_f64..1000.0) {
        let mut nodes: Vec<Summary> = rates.iter().map(|rate| Summary::of(vec![*rate; 12]).unwrap()).collect();
        let before = Group::of_nodes(&nodes).unwrap();
        nodes.push(Summary::of(vec![off; 12]).unwrap());
        let after = Group::of_nodes(&nodes).unwrap();
        prop_assert!((after.median / before.median - 1.0).abs() < 0.026);
        nodes.reverse();
        prop_assert_eq!(Group::of_nodes(&nodes), Some(after));
    }

    /// One pass over sorted figures comes to the same as the summaries of nodes with one figure each.
    #[test]
    fn a_group_of_sorted_figures_is_that_of_their_nodes(mut rates in prop::collection::vec(1.0_f64..1000.0, 1..60)) {
        rates.sort_by(f64::total_cmp);
        let nodes: Vec<Summary> = rates.iter().map(|rate| Summary::of(vec![*rate]).unwrap()).collect();
        let (one, other) = (Group::of_sorted(&rates).unwrap(), Group::of_nodes(&nodes).unwrap());
        prop_assert!((one.median - other.median).abs() < 1e-9);
        prop_assert!((one.spread - other.spread).abs() < 1e-9, "{one:?} {other:?}");
        prop_assert_eq!((one.values, one.nodes), (other.values, other.nodes));
    }
}

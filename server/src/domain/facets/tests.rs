use std::collections::BTreeMap;

use kb_core::baseline::Summary;

use super::affected::Affected;
use super::{Facets, Fleet, Work};
use crate::store::{KeptSeries, NodeFacets};

const KEY: &str = "nvswitch/d2d_bandwidth.sm.push.p2p/268435456/0/GB/s";

fn node(at: usize, rack: &str, driver: &str, rate: f64) -> NodeFacets {
    NodeFacets {
        node: format!("node-{at}").parse().unwrap(),
        model: "NVIDIA H200".to_owned(),
        facets: BTreeMap::from([
            ("driver.version".to_owned(), format!("{driver}.1")),
            ("driver.branch".to_owned(), driver.to_owned()),
        ]),
        labels: BTreeMap::from([("rack".to_owned(), rack.to_owned())]),
        findings: Vec::new(),
        series: vec![KeptSeries {
            key: KEY.to_owned(),
            at: 0,
            report: String::new(),
            summary: Summary::of(vec![rate; 6]).unwrap(),
        }],
    }
}

/// Two racks of ten nodes, of which some got another branch.
fn fleet(updated: usize, rate: f64) -> Vec<NodeFacets> {
    let of_rack = |rack: &'static str, from: usize| {
        (0..10).map(move |at| {
            let is_updated = at < updated;
            let (driver, rate) = if is_updated { ("590", rate) } else { ("580", 370.0) };
            node(from + at, rack, driver, rate)
        })
    };
    of_rack("r1", 0).chain(of_rack("r2", 10)).collect()
}

fn of_nodes(nodes: &[NodeFacets]) -> Facets {
    let mut work = Work::new(Fleet::default().with(nodes.to_vec()));
    loop {
        if let Some(found) = work.step() {
            return found;
        }
    }
}

fn values(found: &Facets) -> Vec<&str> {
    found.associations.iter().map(|one| one.value.as_str()).collect()
}

#[test]
fn a_branch_on_which_all_nodes_are_slower_is_named() {
    let found = of_nodes(&fleet(4, 340.0));
    assert_eq!(found.nodes, 20);
    let named = found
        .associations
        .iter()
        .find(|one| one.facet == "driver.branch")
        .unwrap();
    assert_eq!(
        (named.value.as_str(), named.with, named.without),
        ("590", (8, 8), (0, 12))
    );
    assert_eq!(named.racks, 2);
    assert_eq!(named.affected, Affected::Slower(KEY.to_owned()));
    assert!(named.chance < 0.01, "{named:?}");
    assert!(
        !values(&found).contains(&"580"),
        "the old branch is no slower: {found:?}"
    );
}

#[test]
fn an_update_that_does_no_harm_is_not_named() {
    assert_eq!(values(&of_nodes(&fleet(4, 370.2))), [] as [&str; 0]);
}

#[test]
fn a_branch_on_which_few_nodes_are_slower_is_not_named() {
    let of_rack = |rack: &'static str, from: usize| {
        (0..40).map(move |at| {
            let driver = if at < 20 { "590" } else { "580" };
            node(from + at, rack, driver, if at < 6 { 340.0 } else { 370.0 })
        })
    };
    let nodes: Vec<_> = of_rack("r1", 0).chain(of_rack("r2", 40)).collect();
    assert_eq!(values(&of_nodes(&nodes)), [] as [&str; 0]);
}

#[test]
fn few_nodes_and_one_rack_tell_nothing() {
    // Four nodes.
    assert_eq!(values(&of_nodes(&fleet(2, 340.0))), [] as [&str; 0]);
    let mut one_rack = fleet(8, 340.0);
    one_rack.truncate(10);
    assert_eq!(values(&of_nodes(&one_rack)), [] as [&str; 0]);
    // Whole racks: what is particular to the rack cannot be told from what is particular to the driver.
    let mut racks = fleet(0, 370.0);
    for (at, slow) in racks.iter_mut().take(10).enumerate() {
        *slow = node(at, "r1", "590", 340.0);
    }
    assert_eq!(values(&of_nodes(&racks)), [] as [&str; 0]);
}

#[test]
fn an_open_finding_is_an_affliction_too() {
    let mut nodes = fleet(4, 370.0);
    for one in nodes
        .iter_mut()
        .filter(|one| one.facets["driver.branch"] == "590")
    {
        one.findings.push("p2p/not-supported-no-path".to_owned());
    }
    let found = of_nodes(&nodes);
    let finding = Affected::Finding("p2p/not-supported-no-path".to_owned());
    assert!(
        found
            .associations
            .iter()
            .any(|one| one.affected == finding && one.value == "590")
    );
}

#[test]
fn nodes_without_a_rack_are_counted() {
    let mut nodes = fleet(4, 340.0);
    for one in nodes.iter_mut().take(10) {
        one.labels.clear();
    }
    let found = of_nodes(&nodes);
    assert_eq!((found.nodes, found.without_rack, found.are_more), (20, 10, false));
    assert_eq!(values(&found), [] as [&str; 0]);
}

//! Lists of nodes: narrowed, sorted, in pages; and the counts that stand for them.

use std::collections::BTreeSet;
use std::sync::Arc;

use kb_core::ids::NodeId;
use kb_core::report::Bearing;
use kb_core::severity::{Action, Severity};
use kb_core::verdict::Verdict;
use peerless::store::{
    Bounds, By, Fleet, FleetQuery, Known, NewReport, NewToken, NodeFilter, NodeListing, NodeOrder, NodeQuery,
    OrderKey, Scope, Store,
};

use super::fleet_summary::{finding, found, hardware};
use crate::support::{Place, at, id, report};

/// Six nodes in two racks: n1 and n2 broken by one record, n3 broken and unexplained, n4 degraded and simulated, n5 and `N_6`
/// healthy.
async fn fleet(store: &dyn Store) {
    let told = [
        ("n1", 10, Verdict::Broken, "NVIDIA H200", "570.1", 8),
        ("n2", 20, Verdict::Broken, "NVIDIA H200", "580.1", 8),
        ("n3", 30, Verdict::Broken, "NVIDIA A100", "570.1", 4),
        ("n4", 40, Verdict::Degraded, "", "", 2),
        ("n5", 50, Verdict::Healthy, "NVIDIA H200", "570.1", 8),
        ("N_6", 60, Verdict::Healthy, "NVIDIA A100", "580.1", 4),
    ];
    for (node, second, verdict, model, driver, gpus) in told {
        let findings = match node {
            "n1" | "n2" => vec![finding(
                Some("xid/79"),
                "lost",
                (Bearing::Fault, Severity::Fatal, Action::ResetGpu),
            )],
            _ => Vec::new(),
        };
        let sent = NewReport {
            verdict,
            gpus,
            simulated: node == "n4",
            hardware: hardware(model, driver),
            found: found(findings),
            ..report(node, "r1", second)
        };
        store.save_report(sent).await.unwrap();
    }
    for (join, rack, nodes) in [
        ("j1", "r1", ["n1", "n2", "n4"]),
        ("j2", "r2", ["n3", "n5", "N_6"]),
    ] {
        let token = |id: &str, bounds: Bounds| NewToken {
            id: id.to_owned(),
            secret_sha256: format!("{:064}", 1),
            name: "test".to_owned(),
            scopes: vec![Scope::Enrol],
            created_at: at(1),
            expires_at: None,
            bounds,
            person: None,
        };
        let labels = [("rack", rack), ("cluster", "east")];
        let labels = labels
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into_iter()
            .collect();
        let bounds = Bounds {
            labels,
            ..Bounds::default()
        };
        store
            .create_token(token(join, bounds), &By::system("ada"))
            .await
            .unwrap();
        for node in nodes {
            let bounds = Bounds {
                node: Some(node.parse().unwrap()),
                machine_sha256: Some(node.to_owned()),
                enrolled_by: Some(join.to_owned()),
                ..Bounds::default()
            };
            let credential = token(&format!("t-{node}"), bounds);
            store
                .enrol_node(join, credential, &By::system("ada"))
                .await
                .unwrap();
        }
    }
}

async fn listed(store: &dyn Store, query: &NodeQuery) -> Vec<NodeListing> {
    store.nodes(query).await.unwrap()
}

async fn ids(store: &dyn Store, filter: NodeFilter) -> Vec<String> {
    let query = NodeQuery {
        filter,
        ..NodeQuery::first(100)
    };
    listed(store, &query)
        .await
        .iter()
        .map(|node| node.id.to_string())
        .collect()
}

fn label(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

#[expect(clippy::too_many_lines, reason = "one table of conditions")]
pub(crate) async fn each_condition_narrows(place: Arc<Place>) {
    let store = place.store().await;
    fleet(&*store).await;
    let all = NodeFilter::default;
    let is = |text: &str| Some(Known::Is(text.to_owned()));
    let cases = [
        (
            NodeFilter {
                verdict: Some(Verdict::Broken),
                ..all()
            },
            vec!["n1", "n2", "n3"],
        ),
        (
            NodeFilter {
                action: Some(Known::Is(Action::ResetGpu)),
                ..all()
            },
            vec!["n1", "n2"],
        ),
        (
            NodeFilter {
                action: Some(Known::Unknown),
                ..all()
            },
            vec!["n3", "n4"],
        ),
        (
            NodeFilter {
                action: Some(Known::Is(Action::None)),
                ..all()
            },
            vec!["N_6", "n5"],
        ),
        (
            NodeFilter {
                record: Some(id("xid/79")),
                ..all()
            },
            vec!["n1", "n2"],
        ),
        (
            NodeFilter {
                model: is("NVIDIA A100"),
                ..all()
            },
            vec!["N_6", "n3"],
        ),
        (
            NodeFilter {
                model: Some(Known::Unknown),
                ..all()
            },
            vec!["n4"],
        ),
        (
            NodeFilter {
                driver: is("580.1"),
                ..all()
            },
            vec!["N_6", "n2"],
        ),
        (
            NodeFilter {
                labels: vec![label("rack", "r1")],
                ..all()
            },
            vec!["n1", "n2", "n4"],
        ),
        (
            NodeFilter {
                labels: vec![label("rack", "r1"), label("cluster", "west")],
                ..all()
            },
            vec![],
        ),
        (
            NodeFilter {
                silent_before: Some(at(25)),
                ..all()
            },
            vec!["n1", "n2"],
        ),
        (
            NodeFilter {
                simulated: Some(true),
                ..all()
            },
            vec!["n4"],
        ),
        (
            NodeFilter {
                simulated: Some(false),
                verdict: Some(Verdict::Degraded),
                ..all()
            },
            vec![],
        ),
        (
            NodeFilter {
                text: Some("N4.Exa".to_owned()),
                ..all()
            },
            vec!["n4"],
        ),
        (
            NodeFilter {
                text: Some("_".to_owned()),
                ..all()
            },
            vec!["N_6"],
        ),
        (
            NodeFilter {
                text: Some("%".to_owned()),
                ..all()
            },
            vec![],
        ),
        (
            NodeFilter {
                verdict: Some(Verdict::Broken),
                model: is("NVIDIA H200"),
                driver: is("570.1"),
                ..all()
            },
            vec!["n1"],
        ),
    ];
    for (filter, expected) in cases {
        assert_eq!(ids(&*store, filter.clone()).await, expected, "{filter:?}");
    }
}

pub(crate) async fn every_order_has_its_pages(place: Arc<Place>) {
    let store = place.store().await;
    fleet(&*store).await;
    let expected = [
        (NodeOrder::Id, ["N_6", "n1", "n2", "n3", "n4", "n5"]),
        (NodeOrder::Verdict, ["n1", "n2", "n3", "n4", "N_6", "n5"]),
        (NodeOrder::Heard, ["N_6", "n5", "n4", "n3", "n2", "n1"]),
        (NodeOrder::Since, ["N_6", "n5", "n4", "n3", "n2", "n1"]),
        (NodeOrder::Gpus, ["n5", "n2", "n1", "n3", "N_6", "n4"]),
    ];
    for (order, mut expected) in expected {
        for reversed in [false, true] {
            let mut seen = Vec::new();
            let mut after = None;
            loop {
                let query = NodeQuery {
                    order,
                    reversed,
                    after,
                    ..NodeQuery::first(2)
                };
                let page = listed(&*store, &query).await;
                let Some(last) = page.last() else { break };
                after = Some((OrderKey::of(order, last), last.id.clone()));
                seen.extend(page.iter().map(|node| node.id.to_string()));
            }
            assert_eq!(seen, expected, "{order:?} {reversed}");
            expected.reverse();
        }
    }
}

pub(crate) async fn counts_are_the_lengths_of_the_lists_that_they_stand_for(place: Arc<Place>) {
    let store = place.store().await;
    fleet(&*store).await;
    let is = |text: &str| Some(Known::Is(text.to_owned()));
    let filters = [
        NodeFilter::default(),
        NodeFilter {
            verdict: Some(Verdict::Broken),
            ..NodeFilter::default()
        },
        NodeFilter {
            model: is("NVIDIA H200"),
            driver: is("570.1"),
            ..NodeFilter::default()
        },
        NodeFilter {
            labels: vec![label("rack", "r1")],
            text: Some("n".to_owned()),
            ..NodeFilter::default()
        },
        NodeFilter {
            record: Some(id("xid/79")),
            action: Some(Known::Is(Action::ResetGpu)),
            ..NodeFilter::default()
        },
        NodeFilter {
            silent_before: Some(at(36)),
            ..NodeFilter::default()
        },
    ];
    for filter in filters {
        let counted = store.fleet(&asked(filter.clone())).await.unwrap();
        compare(&*store, &filter, &counted).await;
    }
    let counted = store.fleet(&asked(NodeFilter::default())).await.unwrap();
    assert_eq!((counted.nodes, counted.gpus, counted.silent), (6, 32, 4));
    assert_eq!(counted.actions.len(), 3);
    assert_eq!(counted.models[0], (Some("NVIDIA H200".to_owned()), 3));
    let labels: BTreeSet<_> = counted
        .labels
        .iter()
        .map(|label| (label.value.as_str(), label.nodes))
        .collect();
    assert_eq!(labels, BTreeSet::from([("east", 6), ("r1", 3), ("r2", 3)]));
}

fn asked(filter: NodeFilter) -> FleetQuery {
    FleetQuery {
        filter,
        silent_before: at(36),
        faults: 10,
        oldest: 10,
        labels: 10,
    }
}

async fn compare(store: &dyn Store, filter: &NodeFilter, counted: &Fleet) {
    let length = async |filter: NodeFilter| ids(store, filter).await.len() as u64;
    assert_eq!(counted.nodes, length(filter.clone()).await, "{filter:?}");
    for count in &counted.verdicts {
        let list = NodeFilter {
            verdict: Some(count.verdict),
            ..filter.clone()
        };
        assert_eq!(count.nodes, length(list.clone()).await, "{list:?}");
    }
    for (action, nodes) in &counted.actions {
        let action = action.map_or(Known::Unknown, Known::Is);
        let list = NodeFilter {
            action: Some(action),
            ..filter.clone()
        };
        assert_eq!(*nodes, length(list.clone()).await, "{list:?}");
    }
    for (model, nodes) in &counted.models {
        let model = model.clone().map_or(Known::Unknown, Known::Is);
        let list = NodeFilter {
            model: Some(model),
            ..filter.clone()
        };
        assert_eq!(*nodes, length(list.clone()).await, "{list:?}");
    }
    for (driver, nodes) in &counted.drivers {
        let driver = driver.clone().map_or(Known::Unknown, Known::Is);
        let list = NodeFilter {
            driver: Some(driver),
            ..filter.clone()
        };
        assert_eq!(*nodes, length(list.clone()).await, "{list:?}");
    }
    for one in &counted.labels {
        let mut list = filter.clone();
        list.labels.push(label(&one.name, &one.value));
        assert_eq!(one.nodes, length(list.clone()).await, "{list:?}");
    }
    for fault in &counted.faults {
        let list = NodeFilter {
            record: fault.record.clone(),
            ..filter.clone()
        };
        assert_eq!(fault.nodes, length(list.clone()).await, "{list:?}");
    }
    let silent = NodeFilter {
        silent_before: Some(at(36)),
        ..filter.clone()
    };
    assert_eq!(counted.silent, length(silent).await, "{filter:?}");
    let oldest: Vec<NodeId> = counted.oldest.iter().map(|node| node.id.clone()).collect();
    let query = NodeQuery {
        reversed: true,
        filter: filter.clone(),
        order: NodeOrder::Heard,
        ..NodeQuery::first(10)
    };
    let by_time: Vec<NodeId> = listed(store, &query)
        .await
        .into_iter()
        .map(|node| node.id)
        .collect();
    assert_eq!(oldest, by_time);
}

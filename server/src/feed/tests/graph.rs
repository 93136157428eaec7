//! Edges as stated, their inverses, ways between errors, and circles.

use kb_core::ids::RecordId;
use kb_core::transition::EdgeKind;
use serde_json::{Value, json};

use crate::feed::samples::{document, generation_of};
use crate::feed::{Generation, GraphError};

const ANNEX: &str = r#"{"schema_version": 1}"#;

/// A -> B -> C -> A in a circle; D says that C precedes it; E is taken for A; A names someone unknown and, by its
/// former name, D.
fn circle() -> std::sync::Arc<Generation> {
    let record = |id: &str, graph: Value, aliases: Value| {
        let mut document = document(id, &format!("signature of {id}"));
        document["transition_graph"] = graph;
        document["aliases"] = aliases;
        (document.to_string(), ANNEX.to_owned())
    };
    generation_of(&[
        record(
            "t/a",
            json!({ "leads_to": [
                { "error_id": "t/b", "probability": 0.3, "condition": "under load" },
                { "error_id": "no such error" },
                { "error_id": "t/former-d" },
            ] }),
            json!([]),
        ),
        record("t/b", json!({ "leads_to": [{ "error_id": "t/c" }] }), json!([])),
        record(
            "t/c",
            json!({ "leads_to": [{ "error_id": "t/a" }, { "error_id": "t/c" }] }),
            json!([]),
        ),
        record(
            "t/d",
            json!({ "preceded_by": [{ "error_id": "t/c", "probability": 0.5 }] }),
            json!(["t/former-d"]),
        ),
        record(
            "t/e",
            json!({ "frequently_confused_with": [{ "error_id": "t/a", "distinction": "case" }] }),
            json!([]),
        ),
    ])
}

fn id(text: &str) -> RecordId {
    text.parse().unwrap()
}

fn nodes(generation: &Generation, center: &str, depth: u32, kinds: &[EdgeKind]) -> Vec<(String, u32)> {
    let found = generation.graph.neighbourhood(&id(center), depth, kinds).unwrap();
    found
        .nodes
        .into_iter()
        .map(|node| (node.id, node.depth))
        .collect()
}

fn named(list: &[(&str, u32)]) -> Vec<(String, u32)> {
    list.iter()
        .map(|(id, depth)| ((*id).to_owned(), *depth))
        .collect()
}

#[test]
fn a_neighbourhood_goes_both_ways_and_ends_in_a_circle() {
    let generation = circle();
    let near = named(&[("t/b", 0), ("t/c", 1), ("t/a", 1)]);
    assert_eq!(nodes(&generation, "t/b", 1, &[]), near);
    assert_eq!(
        nodes(&generation, "t/b", 3, &[]).len(),
        6,
        "five records and the unknown one"
    );
    assert_eq!(
        nodes(&generation, "t/a", 1, &[EdgeKind::FrequentlyConfusedWith]),
        named(&[("t/a", 0), ("t/e", 1)])
    );

    let found = generation.graph.neighbourhood(&id("t/a"), 1, &[]).unwrap();
    let unknown = found
        .nodes
        .iter()
        .find(|node| node.id == "no such error")
        .unwrap();
    assert_eq!(unknown.signature, None);
    let by_former_name = found.edges.iter().find(|edge| edge.to == "t/d").unwrap();
    assert!(by_former_name.resolved && found.edges.iter().any(|edge| !edge.resolved));
    assert_eq!(generation.alias("t/former-d"), Some(&id("t/d")));
    let inside: Vec<&str> = found.nodes.iter().map(|node| node.id.as_str()).collect();
    assert!(
        found.edges.iter().all(|edge| inside.contains(&edge.to.as_str())),
        "no loose ends"
    );
}

#[test]
fn an_inverse_has_the_words_and_never_the_number() {
    let generation = circle();
    let from_b = generation.graph.neighbours(&id("t/b"));
    let inverse = from_b.iter().find(|near| near.id == "t/a").unwrap();
    assert_eq!(inverse.relation, EdgeKind::PrecededBy);
    assert_eq!(
        (inverse.probability, inverse.condition.as_deref()),
        (None, Some("under load"))
    );
    assert_eq!(inverse.stated_by, id("t/a"));
    let from_a = generation.graph.neighbours(&id("t/a"));
    let stated = from_a.iter().find(|near| near.id == "t/b").unwrap();
    assert_eq!(
        (stated.relation, stated.probability),
        (EdgeKind::LeadsTo, Some(0.3))
    );
}

#[test]
fn a_path_follows_time_whoever_states_it() {
    let generation = circle();
    let steps = |from: &str, to: &str| {
        let path = generation.graph.path(&id(from), &id(to)).unwrap()?;
        Some(path.iter().map(|step| step.to.to_string()).collect::<Vec<_>>())
    };
    assert_eq!(
        steps("t/b", "t/d").unwrap(),
        ["t/c", "t/d"],
        "d says that c precedes it"
    );
    assert_eq!(steps("t/a", "t/d").unwrap(), ["t/d"]);
    assert_eq!(steps("t/a", "t/a").unwrap(), Vec::<String>::new());
    assert_eq!(steps("t/d", "t/a"), None);
    assert_eq!(steps("t/e", "t/a"), None, "being taken for another leads nowhere");
}

#[test]
fn questions_that_have_no_answer_say_why() {
    let generation = circle();
    let graph = &generation.graph;
    assert_eq!(graph.neighbourhood(&id("t/a"), 0, &[]), Err(GraphError::Depth(0)));
    assert_eq!(graph.neighbourhood(&id("t/a"), 4, &[]), Err(GraphError::Depth(4)));
    assert_eq!(
        graph.neighbourhood(&id("t/x"), 1, &[]),
        Err(GraphError::NoRecord(id("t/x")))
    );
    assert_eq!(
        graph.path(&id("t/a"), &id("t/x")),
        Err(GraphError::NoRecord(id("t/x")))
    );
}

#[test]
fn many_edges_between_two_records_are_cut_and_said() {
    let near = |count: usize| {
        let edges = json!(vec![json!({ "error_id": "t/b" }); count]);
        let mut a = document("t/a", "signature of a");
        a["transition_graph"] = json!({ "leads_to": edges, "preceded_by": edges });
        let b = document("t/b", "signature of b");
        let generation = generation_of(&[a, b].map(|record| (record.to_string(), ANNEX.to_owned())));
        let near = generation.graph.neighbourhood(&id("t/b"), 1, &[]).unwrap();
        (near.nodes.len(), near.edges.len(), near.truncated)
    };
    assert_eq!(near(500), (2, 1_000, false));
    assert_eq!(near(501), (2, 1_000, true));
}

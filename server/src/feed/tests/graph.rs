//! Edges as stated, their inverses, ways between errors, and circles.

use kb_core::ids::RecordId;
use kb_core::transition::EdgeKind;
use serde_json::{Value, json};

use crate::feed::samples::{document, generation_of};
use crate::feed::{Generation, GraphEdge, GraphError, MAX_NODES, MAX_PATHS, PathStep};

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
    let found = generation
        .graph
        .neighbourhood(&id(center), depth, kinds, MAX_NODES)
        .unwrap();
    found
        .nodes
        .into_iter()
        .map(|near| (near.node.id, near.depth))
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

    let found = generation
        .graph
        .neighbourhood(&id("t/a"), 1, &[], MAX_NODES)
        .unwrap();
    let unknown = found
        .nodes
        .iter()
        .find(|near| near.node.id == "no such error")
        .unwrap();
    assert_eq!(
        (unknown.node.known, unknown.node.signature.as_ref()),
        (false, None)
    );
    assert!(found.nodes.iter().filter(|near| near.node.known).count() == found.nodes.len() - 1);
    let by_former_name = found.edges.iter().find(|edge| edge.to == "t/d").unwrap();
    assert!(by_former_name.resolved && found.edges.iter().any(|edge| !edge.resolved));
    assert_eq!(generation.alias("t/former-d"), Some(&id("t/d")));
    let inside: Vec<&str> = found.nodes.iter().map(|near| near.node.id.as_str()).collect();
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

fn ways(generation: &Generation, from: &str, to: &str, kinds: &[EdgeKind]) -> Vec<Vec<String>> {
    let found = generation.graph.paths(&id(from), &id(to), kinds).unwrap();
    for path in &found.paths {
        assert_eq!(Some(path.len()), found.steps.map(|steps| steps as usize));
        assert!(path.iter().all(|step| !step.edges.is_empty()));
    }
    let passed = |path: &Vec<PathStep>| path.iter().map(|step| step.to.to_string()).collect();
    found.paths.iter().map(passed).collect()
}

#[test]
fn a_path_follows_time_whoever_states_it() {
    let generation = circle();
    let steps = |from: &str, to: &str| ways(&generation, from, to, &[]);
    assert_eq!(steps("t/b", "t/d"), [["t/c", "t/d"]], "d says that c precedes it");
    assert_eq!(steps("t/a", "t/d"), [["t/d"]]);
    assert_eq!(steps("t/a", "t/a"), [Vec::<String>::new()]);
    assert_eq!(steps("t/d", "t/a"), Vec::<Vec<String>>::new());
    assert!(
        steps("t/e", "t/a").is_empty(),
        "being taken for another leads nowhere"
    );
    let every = EdgeKind::ALL;
    assert_eq!(ways(&generation, "t/e", "t/b", &every), [["t/a", "t/b"]]);
    assert_eq!(
        ways(&generation, "t/a", "t/e", &every),
        [["t/e"]],
        "unless that is asked for, both ways"
    );
    let leads_only = ways(&generation, "t/c", "t/d", &[EdgeKind::LeadsTo]);
    assert_eq!(leads_only, [["t/a", "t/d"]]);
}

/// `wide` records stand side by side on each of `long` levels between first and last, each leading to all of the next.
fn ladder(wide: usize, long: usize) -> std::sync::Arc<Generation> {
    let level = |at: usize| -> Vec<String> {
        match at {
            0 => vec!["t/first".to_owned()],
            _ if at > long => vec!["t/last".to_owned()],
            _ => (0..wide).map(|place| format!("t/l{at}-{place}")).collect(),
        }
    };
    let mut records = Vec::new();
    for at in 0..=long + 1 {
        let next = if at > long { Vec::new() } else { level(at + 1) };
        let edges: Vec<Value> = next.iter().map(|target| json!({ "error_id": target })).collect();
        for name in level(at) {
            let mut record = document(&name, &format!("signature of {name}"));
            record["transition_graph"] = json!({ "leads_to": edges });
            records.push((record.to_string(), ANNEX.to_owned()));
        }
    }
    generation_of(&records)
}

#[test]
fn all_shortest_ways_are_given_up_to_a_bound() {
    let few = ladder(3, 1);
    let expected = [["t/l1-0", "t/last"], ["t/l1-1", "t/last"], ["t/l1-2", "t/last"]];
    assert_eq!(ways(&few, "t/first", "t/last", &[]), expected);
    // 4 ^ 6 ways, of which the first are given without looking at the rest.
    let many = ladder(4, 6);
    let found = many.graph.paths(&id("t/first"), &id("t/last"), &[]).unwrap();
    assert_eq!(
        (found.paths.len(), found.steps, found.truncated),
        (MAX_PATHS, Some(7), true)
    );
    let mut passed = ways(&many, "t/first", "t/last", &[]);
    passed.dedup();
    assert_eq!(passed.len(), MAX_PATHS, "no way twice");
}

#[test]
fn two_statements_of_one_step_are_one_step() {
    let mut a = document("t/a", "signature of a");
    a["transition_graph"] = json!({ "leads_to": [{ "error_id": "t/b", "probability": 0.5 }] });
    let mut b = document("t/b", "signature of b");
    b["transition_graph"] = json!({ "preceded_by": [{ "error_id": "t/a" }] });
    let generation = generation_of(&[a, b].map(|record| (record.to_string(), ANNEX.to_owned())));
    let found = generation.graph.paths(&id("t/a"), &id("t/b"), &[]).unwrap();
    assert_eq!((found.paths.len(), found.truncated), (1, false));
    let stated_by: Vec<&str> = found.paths[0][0]
        .edges
        .iter()
        .map(|edge| edge.from.as_str())
        .collect();
    assert_eq!(stated_by, ["t/a", "t/b"]);
}

#[test]
fn questions_that_have_no_answer_say_why() {
    let generation = circle();
    let graph = &generation.graph;
    assert_eq!(
        graph.neighbourhood(&id("t/a"), 0, &[], 9),
        Err(GraphError::Depth(0))
    );
    assert_eq!(
        graph.neighbourhood(&id("t/a"), 5, &[], 9),
        Err(GraphError::Depth(5))
    );
    assert_eq!(
        graph.neighbourhood(&id("t/x"), 1, &[], 9),
        Err(GraphError::NoRecord(id("t/x")))
    );
    assert_eq!(
        graph.paths(&id("t/a"), &id("t/x"), &[]),
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
        let near = generation
            .graph
            .neighbourhood(&id("t/b"), 1, &[], MAX_NODES)
            .unwrap();
        (near.nodes.len(), near.edges.len(), near.truncated)
    };
    assert_eq!(near(500), (2, 1_000, false));
    assert_eq!(near(501), (2, 1_000, true));
}

#[test]
fn the_nearest_are_shown_first() {
    let generation = circle();
    let found = generation.graph.neighbourhood(&id("t/b"), 3, &[], 3).unwrap();
    let shown: Vec<_> = found
        .nodes
        .iter()
        .map(|near| (near.node.id.as_str(), near.depth))
        .collect();
    assert_eq!(shown, [("t/b", 0), ("t/c", 1), ("t/a", 1)]);
    assert!(found.truncated);
    let ends = |edge: &GraphEdge| (edge.from.to_string(), edge.to.clone());
    assert!(
        found
            .edges
            .iter()
            .map(ends)
            .all(|(from, to)| ["t/a", "t/b", "t/c"].contains(&from.as_str())
                && ["t/a", "t/b", "t/c"].contains(&to.as_str()))
    );
}

//! A generation that came about change by change is the one that is built from the same records at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use kb_core::ids::Seq;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::json;

use crate::domain::lookup::{MatchOptions, look_up};
use crate::feed::Generation;
use crate::feed::assembler::Assembler;
use crate::feed::samples::{change, document, tombstone};
use crate::store::FeedChange;
use peerless_search::SearchRequest;

const IDS: [&str; 5] = ["t/a", "t/b", "t/c", "t/d", "t/e"];
const SIGNATURES: [&str; 4] = [
    "CUDA error: peer gate was shut",
    "NCCL WARN ring broke at rank 3",
    "CUDA driver lost its peer",
    "peer gate was shut\nring broke",
];
const CODES: [&str; 3] = ["Xid 79", "CUDA_ERROR_GATE_SHUT", "ncclRingBroke"];
const FORMER: [&str; 2] = ["t/former", "t/b"];
const EDGES: [&str; 3] = ["leads_to", "preceded_by", "frequently_confused_with"];
const PATTERNS: [&str; 3] = ["gate was (?:shut|open)", "rank \\d+ gave up", "lost its \\w+"];
const TEXTS: [&str; 4] = [
    "01:02:03 CUDA error: peer gate was shut\n01:02:04 NCCL WARN ring broke at rank 3\n",
    "NVRM: Xid (PCI:0000:3b:00): 79, GPU lost\nCUDA rank 7 gave up\n",
    "CUDA_ERROR_GATE_SHUT at ncclRingBroke\n",
    "the driver lost sight of its peer at the ring\n",
];
const QUERIES: [&str; 5] = ["peer gate", "ring broke", "xid 79", "lost drivr", ""];

/// What may be said of a record, each as a place in its list above.
#[derive(Debug, Clone)]
struct Face {
    signature: usize,
    code: Option<usize>,
    former: Option<usize>,
    edge: Option<(usize, usize)>,
    pattern: Option<usize>,
}

/// What a step does to a record.
#[derive(Debug, Clone)]
enum Deed {
    Wear(Face),
    /// Published anew, with a word changed that no face has; nothing where it is not published.
    Again,
    Withdraw,
    /// Published with a document that cannot be read.
    Spoil,
}

#[derive(Debug, Clone)]
enum State {
    Published(Face),
    Withdrawn,
    Unreadable,
}

type Step = (usize, State);

fn face() -> impl Strategy<Value = Face> {
    (
        0..SIGNATURES.len(),
        option::of(0..CODES.len()),
        option::weighted(0.2, 0..FORMER.len()),
        option::of((0..EDGES.len(), 0..IDS.len())),
        option::of(0..PATTERNS.len()),
    )
        .prop_map(|(signature, code, former, edge, pattern)| Face {
            signature,
            code,
            former,
            edge,
            pattern,
        })
}

/// Some steps that come together, several times: all of them, or of each record the newest alone, as the store tells what was
/// published before it was asked.
fn history() -> impl Strategy<Value = Vec<(bool, Vec<(usize, Deed)>)>> {
    let deed = prop_oneof![
        4 => face().prop_map(Deed::Wear),
        4 => Just(Deed::Again),
        1 => Just(Deed::Withdraw),
        1 => Just(Deed::Spoil),
    ];
    vec((any::<bool>(), vec((0..IDS.len(), deed), 1..9)), 1..6)
}

fn publish(seq: i64, (id, state): &Step) -> FeedChange {
    let face = match state {
        State::Published(face) => face,
        State::Withdrawn => return tombstone(seq, IDS[*id]),
        State::Unreadable => return change(seq, IDS[*id], "{", r#"{"schema_version": 1}"#),
    };
    let mut text = document(IDS[*id], SIGNATURES[face.signature]);
    text["root_cause"] = json!(format!("as was found out by change {seq}"));
    text["regex"] = json!(face.pattern.map(|pattern| PATTERNS[pattern]));
    text["aliases"] = json!(
        face.former
            .map(|former| FORMER[former])
            .into_iter()
            .collect::<Vec<_>>()
    );
    if let Some((kind, target)) = face.edge {
        text["transition_graph"] = json!({ (EDGES[kind]): [{ "error_id": IDS[target] }] });
    }
    let codes: Vec<_> = face.code.map(|code| CODES[code]).into_iter().collect();
    let annex = json!({ "schema_version": 1, "codes": codes });
    change(seq, IDS[*id], &text.to_string(), &annex.to_string())
}

/// Everything that a reader can tell a generation by; scores to three places, for sums depend on their order.
fn told(generation: Generation) -> Vec<String> {
    let generation = Arc::new(generation);
    let mut told = vec![format!(
        "{} {:?} {:?}",
        generation.seq, generation.rejected, generation.left_out
    )];
    for published in generation.records() {
        let id = published.id();
        let near = generation.graph.neighbourhood(id, 3, &[], 100);
        let neighbours = generation.graph.neighbours(id);
        told.push(format!(
            "{id} {} {} {near:?} {neighbours:?}",
            published.revision, published.seq
        ));
    }
    told.extend(CODES.map(|code| format!("{code} {:?}", generation.by_code(code))));
    told.extend(FORMER.map(|former| format!("{former} {:?}", generation.alias(former))));
    for text in TEXTS {
        let mut answer = look_up(&generation, text.as_bytes(), MatchOptions::default()).unwrap();
        for candidate in answer.candidates.drain(..) {
            told.push(format!("{text} {} {:.3}", candidate.id, candidate.score));
        }
        told.push(format!("{answer:?}"));
    }
    for text in QUERIES {
        let request = SearchRequest {
            text: text.to_owned(),
            ..SearchRequest::default()
        };
        let answer = generation.index.search(&request, generation.seq).unwrap();
        let hits = answer
            .hits
            .iter()
            .map(|hit| format!("{} {:.3}", hit.id, hit.score));
        told.push(format!(
            "{text} {:?} {:?}",
            hits.collect::<Vec<_>>(),
            answer.facets
        ));
    }
    told
}

#[test]
fn an_edge_names_the_revision_that_states_it_now() {
    let revise = |seq: i64, cause: &str| {
        let mut text = document("t/a", SIGNATURES[0]);
        text["root_cause"] = json!(cause);
        text["transition_graph"] = json!({ "leads_to": [{ "error_id": "t/b" }] });
        change(seq, "t/a", &text.to_string(), r#"{"schema_version": 1}"#)
    };
    let mut assembler = Assembler::new();
    assembler.apply(vec![revise(1, "a guess")], Seq(1)).unwrap();
    let generation = assembler.apply(vec![revise(2, "what it was")], Seq(2)).unwrap();
    let id = "t/a".parse().unwrap();
    let near = generation.graph.neighbourhood(&id, 1, &[], 10).unwrap();
    let revisions: Vec<_> = near.edges.iter().map(|edge| edge.revision).collect();
    assert_eq!(revisions, [2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn change_by_change_is_as_at_once(history in history()) {
        let mut assembler = Assembler::new();
        let mut newest: BTreeMap<usize, (i64, Step)> = BTreeMap::new();
        let mut seq = 0;
        let mut grown = None;
        for (are_all_told, steps) in history {
            let mut all = Vec::new();
            for (id, deed) in steps {
                let worn = newest.get(&id).map(|(_, (_, state))| state.clone());
                let state = match (deed, worn) {
                    (Deed::Wear(face), _) | (Deed::Again, Some(State::Published(face))) => State::Published(face),
                    (Deed::Again, _) => continue,
                    (Deed::Withdraw, _) => State::Withdrawn,
                    (Deed::Spoil, _) => State::Unreadable,
                };
                seq += 1;
                all.push((seq, (id, state.clone())));
                newest.insert(id, (seq, (id, state)));
            }
            all.retain(|(at, (id, _))| are_all_told || newest[id].0 == *at);
            let news = all.iter().map(|(at, step)| publish(*at, step)).collect();
            grown = Some(assembler.apply(news, Seq(seq)).unwrap());
        }
        let all = newest.values().map(|(at, step)| publish(*at, step)).collect();
        let at_once = Assembler::new().apply(all, Seq(seq)).unwrap();
        prop_assert_eq!(told(grown.unwrap()), told(at_once));
    }
}

//! What lies around a record, as nodes in columns: what leads to it on the left, what it leads to on the right, what it
//! is taken for below, and so on from each of these.

use std::collections::HashMap;

use kb_core::transition::EdgeKind;

use super::drawing::{Drawing, Edge, Node, draw};
use super::items::{node_title, record_in};
use super::label::Label;
use crate::feed::{Generation, GraphEdge, Neighbourhood};
use crate::render::i18n::Locale;
use crate::render::i18n::graph::Words;

/// Where a node stands: column, and whether among those that are only taken for another.
type Seat = (i32, bool);

pub(in crate::web) fn around(generation: &Generation, found: &Neighbourhood, locale: Locale) -> Drawing {
    let words = Words::of(locale.language);
    let seats = seats(found);
    let nodes: Vec<Node> = found
        .nodes
        .iter()
        .map(|near| {
            let id = near.node.id.as_str();
            let (column, below) = seats.get(id).copied().unwrap_or((0, true));
            Node {
                label: Label::of(id),
                href: near.node.known.then(|| record_in(id, locale)),
                title: node_title(generation, id, locale.language),
                class: match (near.depth, near.node.known) {
                    (0, _) => "g-node g-this",
                    (_, true) => "g-node",
                    (_, false) => "g-node g-unknown",
                },
                column,
                below,
            }
        })
        .collect();
    let places = found.nodes.iter().enumerate();
    let places: HashMap<&str, usize> = places.map(|(at, near)| (near.node.id.as_str(), at)).collect();
    let edges = edges(&found.edges, &places, words);
    let mut drawing = draw(&nodes, &edges, &|column, below| match (column, below) {
        (-1, false) => Some(words.before),
        (0, false) => Some(words.this),
        (1, false) => Some(words.after),
        (0, true) => Some(words.confused),
        _ => None,
    });
    words.around.clone_into(&mut drawing.title);
    words.drawing_means.clone_into(&mut drawing.description);
    drawing
}

/// Edges as lines, each pair of ends once for each sort.
pub(super) fn edges(stated: &[GraphEdge], places: &HashMap<&str, usize>, words: &Words) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for edge in stated {
        let (from, to) = edge.in_time();
        let causal = edge.kind != EdgeKind::FrequentlyConfusedWith;
        let (Some(&at), Some(&end)) = (places.get(from), places.get(to)) else {
            continue;
        };
        let is_drawn = edges.iter().any(|known| {
            let same = (known.from, known.to) == (at, end);
            known.causal == causal && (same || (!causal && (known.to, known.from) == (at, end)))
        });
        if !is_drawn {
            edges.push(Edge {
                from: at,
                to: end,
                causal,
                weight: 1,
                title: format!("{from} {} {to}", words.relation(edge.kind)),
                href: None,
            });
        }
    }
    edges
}

/// Seats from the middle outwards: a node sits beside the nearest one that it is joined to, in time before it is taken
/// for another.
fn seats(found: &Neighbourhood) -> HashMap<&str, Seat> {
    let center = found.center.as_str();
    let mut seats: HashMap<&str, Seat> = HashMap::from([(center, (0, false))]);
    let deepest = found
        .nodes
        .iter()
        .map(|near| near.depth)
        .max()
        .unwrap_or_default();
    for depth in 1..=deepest {
        let near = found.nodes.iter().filter(|near| near.depth == depth);
        let seated: Vec<(&str, Seat)> = near
            .filter_map(|near| Some((near.node.id.as_str(), seat(&near.node.id, found, &seats)?)))
            .collect();
        seats.extend(seated);
    }
    seats
}

fn seat(id: &str, found: &Neighbourhood, seats: &HashMap<&str, Seat>) -> Option<Seat> {
    let mut beside = None;
    for edge in &found.edges {
        let (from, to) = edge.in_time();
        let (other, step) = if to == id { (from, 1) } else { (to, -1) };
        if from != id && to != id {
            continue;
        }
        let Some(&(column, below)) = seats.get(other) else {
            continue;
        };
        if edge.kind == EdgeKind::FrequentlyConfusedWith {
            beside = beside.or(Some((column, true)));
        } else {
            return Some((column + step, below));
        }
    }
    beside
}

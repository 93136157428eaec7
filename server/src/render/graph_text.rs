//! A neighbourhood and ways as plain text, for language models, which pay for each word.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kb_core::terminal::harmless;
use kb_core::transition::EdgeKind;

use crate::domain::graph::{NeighbourhoodAnswer, PathAnswer};
use crate::feed::GraphEdge;

pub fn neighbourhood(answer: &NeighbourhoodAnswer) -> String {
    let around = &answer.neighbourhood;
    let mut text = String::new();
    if around.edges.is_empty() {
        text = format!("No record says what {} leads to or comes from.\n", around.center);
    }
    for edge in &around.edges {
        write_edge(&mut text, edge);
    }
    let signatures: BTreeMap<&str, &str> = around
        .nodes
        .iter()
        .filter_map(|near| Some((near.node.id.as_str(), near.node.signature.as_deref()?)))
        .collect();
    for (id, signature) in signatures {
        let line = signature.lines().next().unwrap_or_default();
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(text, "{id}: {}", harmless(line));
    }
    if around.truncated {
        text.push_str("There is more than is shown: ask for fewer steps, or around a neighbour.\n");
    }
    text
}

pub fn path(answer: &PathAnswer) -> String {
    let (from, to) = (&answer.from, &answer.to);
    if answer.ways.paths.is_empty() {
        return format!("No record says that {from} leads to {to}, over whatever is between.\n");
    }
    let mut text = String::new();
    for way in &answer.ways.paths {
        let steps = way.iter().map(|step| format!(" -> {}", step.to));
        let _ = writeln!(text, "{from}{}", steps.collect::<String>());
    }
    if answer.ways.truncated {
        text.push_str("There are more ways that are as short.\n");
    }
    text
}

fn write_edge(text: &mut String, edge: &GraphEdge) {
    let says = match edge.kind {
        EdgeKind::LeadsTo => "leads to",
        EdgeKind::PrecededBy => "comes after",
        EdgeKind::FrequentlyConfusedWith => "is confused with",
    };
    let _ = write!(text, "{} {says} {}", edge.from, harmless(&edge.to));
    let more = [
        ("when", edge.condition.as_deref()),
        ("told apart by", edge.distinction.as_deref()),
    ];
    for (name, more) in more {
        if let Some(more) = more {
            let _ = write!(text, "; {name}: {}", harmless(more));
        }
    }
    text.push('\n');
}

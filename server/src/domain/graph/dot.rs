//! The whole graph in the language of Graphviz (<https://graphviz.org/doc/info/lang.html>).

use kb_core::ids::Seq;
use kb_core::transition::EdgeKind;

use super::writer::Writer;
use crate::feed::{GraphEdge, GraphNode};

pub(super) struct Dot;

impl Writer for Dot {
    fn head(&mut self, seq: Seq, out: &mut Vec<u8>) {
        let head = format!(
            "// Peerless, knowledge as of change {seq}\ndigraph peerless {{\n  charset=\"UTF-8\"\n  rankdir=LR\n  \
             node [shape=box]\n"
        );
        out.extend_from_slice(head.as_bytes());
    }

    fn node(&mut self, node: &GraphNode, out: &mut Vec<u8>) {
        let (id, label) = (quoted(&node.id), label(&node.id));
        let line = match (&node.signature, node.known) {
            (Some(signature), _) => format!("  {id} [label={label}, tooltip={}]\n", self::label(signature)),
            (None, true) => format!("  {id} [label={label}]\n"),
            (None, false) => format!("  {id} [label={label}, style=dashed]\n"),
        };
        out.extend_from_slice(line.as_bytes());
    }

    fn between(&mut self, _: &mut Vec<u8>) {}

    fn edge(&mut self, edge: &GraphEdge, out: &mut Vec<u8>) {
        // Arrows go with time: what precedes a record is drawn before it.
        let (tail, head) = edge.in_time();
        let (tail, head) = (quoted(tail), quoted(head));
        let style = match edge.kind {
            EdgeKind::LeadsTo | EdgeKind::PrecededBy => "",
            EdgeKind::FrequentlyConfusedWith => ", dir=none, style=dashed, constraint=false",
        };
        let said = edge.condition.as_deref().or(edge.distinction.as_deref());
        let tooltip = said
            .map(|said| format!(", tooltip={}", label(said)))
            .unwrap_or_default();
        let probability = edge
            .probability
            .map(|share| format!(", label=\"{share}\""))
            .unwrap_or_default();
        let kind = edge.kind.as_str();
        let line = format!("  {tail} -> {head} [class=\"{kind}\"{style}{probability}{tooltip}]\n");
        out.extend_from_slice(line.as_bytes());
    }

    fn tail(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"}\n");
    }
}

/// A name between quotation marks. Within them a backslash means itself but before a quotation mark, a backslash or the
/// end of a line; doubled, it cannot get before one.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            _ => out.push(char),
        }
    }
    out.push('"');
    out
}

/// A text that is shown: there HTML's names of characters are read as such (`&lt;`).
fn label(text: &str) -> String {
    quoted(&text.replace('&', "&amp;"))
}

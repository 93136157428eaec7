//! The whole graph as `GraphML` 1.0 (<http://graphml.graphdrawing.org/specification.html>).

use std::fmt::Write as _;

use kb_core::ids::Seq;
use kb_core::transition::EdgeKind;

use super::writer::Writer;
use crate::feed::{GraphEdge, GraphNode};

pub(super) struct GraphMl;

/// Attributes: what has them, name and type. Their name is their key, after the first letter of what has them.
const KEYS: [(&str, &str, &str); 12] = [
    ("node", "id", "string"),
    ("node", "known", "boolean"),
    ("node", "signature", "string"),
    ("node", "domain", "string"),
    ("edge", "kind", "string"),
    ("edge", "probability", "double"),
    ("edge", "condition", "string"),
    ("edge", "distinction", "string"),
    ("edge", "typical_delay", "string"),
    ("edge", "revision", "int"),
    ("edge", "origin", "string"),
    ("graph", "kb_seq", "long"),
];

impl Writer for GraphMl {
    fn head(&mut self, seq: Seq, out: &mut Vec<u8>) {
        let mut text = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
             xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
             xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns \
             http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n",
        );
        for (of, name, kind) in KEYS {
            let key = key(of, name);
            put(
                &mut text,
                format_args!("<key id=\"{key}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>\n"),
            );
        }
        text.push_str("<graph id=\"peerless\" edgedefault=\"directed\">\n");
        data(&mut text, "graph", "kb_seq", Some(&seq.to_string()));
        text.push('\n');
        out.extend_from_slice(text.as_bytes());
    }

    fn node(&mut self, node: &GraphNode, out: &mut Vec<u8>) {
        let mut text = format!("<node id=\"{}\">", name(&node.id));
        data(&mut text, "node", "id", Some(&node.id));
        data(
            &mut text,
            "node",
            "known",
            Some(if node.known { "true" } else { "false" }),
        );
        data(&mut text, "node", "signature", node.signature.as_deref());
        data(&mut text, "node", "domain", node.domain.as_deref());
        text.push_str("</node>\n");
        out.extend_from_slice(text.as_bytes());
    }

    fn between(&mut self, _: &mut Vec<u8>) {}

    fn edge(&mut self, edge: &GraphEdge, out: &mut Vec<u8>) {
        // Who is taken for whom has no direction.
        let undirected = match edge.kind {
            EdgeKind::FrequentlyConfusedWith => " directed=\"false\"",
            EdgeKind::LeadsTo | EdgeKind::PrecededBy => "",
        };
        let (from, to) = (name(edge.from.as_str()), name(&edge.to));
        let mut text = format!("<edge source=\"{from}\" target=\"{to}\"{undirected}>");
        let probability = edge.probability.map(|share| share.to_string());
        for (name, value) in [
            ("kind", Some(edge.kind.as_str())),
            ("probability", probability.as_deref()),
            ("condition", edge.condition.as_deref()),
            ("distinction", edge.distinction.as_deref()),
            ("typical_delay", edge.typical_delay.as_deref()),
            ("revision", Some(edge.revision.to_string().as_str())),
            ("origin", edge.origin.as_deref()),
        ] {
            data(&mut text, "edge", name, value);
        }
        text.push_str("</edge>\n");
        out.extend_from_slice(text.as_bytes());
    }

    fn tail(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"</graph>\n</graphml>\n");
    }
}

fn key(of: &str, name: &str) -> String {
    format!("{}_{name}", of.get(..1).unwrap_or_default())
}

fn data(text: &mut String, of: &str, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        let key = key(of, name);
        put(
            text,
            format_args!("<data key=\"{key}\">{}</data>", escaped(value)),
        );
    }
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(what);
}

/// A node's name: the schema wants an `NMTOKEN`, which has no slash and no blank. `/` becomes `:`, every other byte
/// but letters, digits, `.` and `-` becomes `_` and two hexadecimal digits, so that different ids have different names.
fn name(id: &str) -> String {
    let mut name = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'/' => name.push(':'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' => name.push(char::from(byte)),
            _ => put(&mut name, format_args!("_{byte:02x}")),
        }
    }
    if name.is_empty() {
        name.push('_');
    }
    name
}

/// Text of an element. What XML 1.0 forbids altogether becomes U+FFFD; a carriage return would be read as a line feed.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'.. => out.push(char),
            _ => out.push('\u{fffd}'),
        }
    }
    out
}

//! The whole graph as JSON: what [`super::GraphAnswer`] describes, an entry a line.

use kb_core::ids::Seq;
use serde::Serialize;

use super::stamp;
use super::writer::Writer;
use crate::feed::{GraphEdge, GraphNode};

#[derive(Default)]
pub(super) struct Json {
    /// True once the list that is written has an entry.
    goes_on: bool,
}

impl Json {
    fn entry(&mut self, entry: &impl Serialize, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.goes_on { b",\n" } else { b"\n" });
        self.goes_on = true;
        write(entry, out);
    }
}

impl Writer for Json {
    fn head(&mut self, seq: Seq, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"kb\":");
        write(&stamp(seq), out);
        out.extend_from_slice(b",\"nodes\":[");
    }

    fn node(&mut self, node: &GraphNode, out: &mut Vec<u8>) {
        self.entry(node, out);
    }

    fn between(&mut self, out: &mut Vec<u8>) {
        self.goes_on = false;
        out.extend_from_slice(b"\n],\"edges\":[");
    }

    fn edge(&mut self, edge: &GraphEdge, out: &mut Vec<u8>) {
        self.entry(edge, out);
    }

    fn tail(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\n]}\n");
    }
}

fn write(value: &impl Serialize, out: &mut Vec<u8>) {
    // Strings, numbers and lists of them always have a JSON form, and a vector takes everything.
    let _ = serde_json::to_writer(out, value);
}

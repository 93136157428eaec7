//! What each form of the graph writes.

use kb_core::ids::Seq;

use crate::feed::{GraphEdge, GraphNode};

pub(super) trait Writer {
    fn head(&mut self, seq: Seq, out: &mut Vec<u8>);
    fn node(&mut self, node: &GraphNode, out: &mut Vec<u8>);
    fn between(&mut self, out: &mut Vec<u8>);
    fn edge(&mut self, edge: &GraphEdge, out: &mut Vec<u8>);
    fn tail(&mut self, out: &mut Vec<u8>);
}

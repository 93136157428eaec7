//! What each form of the graph writes.

use kb_core::ids::Seq;

use crate::feed::{GraphEdge, GraphNode};

/// How a form is written.
pub(super) trait Writer {
    /// What stands before the nodes.
    fn head(&mut self, seq: Seq, out: &mut Vec<u8>);
    /// A node.
    fn node(&mut self, node: &GraphNode, out: &mut Vec<u8>);
    /// What stands between nodes and edges.
    fn between(&mut self, out: &mut Vec<u8>);
    /// An edge.
    fn edge(&mut self, edge: &GraphEdge, out: &mut Vec<u8>);
    /// What stands after the edges.
    fn tail(&mut self, out: &mut Vec<u8>);
}

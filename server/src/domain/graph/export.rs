//! The whole graph as a text of one of several forms, made piece by piece so that its size does not matter.

use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::transition::EdgeKind;

use super::writer::Writer;
use super::{dot, graphml, json};
use crate::feed::Generation;

const RECORDS: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Nodes and edges as the other calls give them.
    Json,
    /// `GraphML` 1.0, for Gephi, yEd, `NetworkX`.
    GraphMl,
    Dot,
}

enum Stage {
    Head,
    Nodes(Option<RecordId>),
    Unknown,
    Edges(Option<RecordId>),
    Done,
}

/// The pieces of the whole graph with edges of these kinds (all when empty).
pub fn pieces(
    generation: Arc<Generation>,
    format: Format,
    kinds: Vec<EdgeKind>,
) -> impl Iterator<Item = Vec<u8>> + use<> {
    let mut writer: Box<dyn Writer + Send> = match format {
        Format::Json => Box::new(json::Json::default()),
        Format::GraphMl => Box::new(graphml::GraphMl),
        Format::Dot => Box::new(dot::Dot),
    };
    let mut stage = Stage::Head;
    std::iter::from_fn(move || {
        let mut out = Vec::new();
        stage = match &stage {
            Stage::Head => {
                writer.head(generation.seq, &mut out);
                Stage::Nodes(None)
            }
            Stage::Nodes(after) => {
                let mut last = None;
                for id in generation.graph.ids_after(after.as_ref()).take(RECORDS) {
                    writer.node(&generation.graph.record_node(id), &mut out);
                    last = Some(id.clone());
                }
                last.map_or(Stage::Unknown, |last| Stage::Nodes(Some(last)))
            }
            Stage::Unknown => {
                for node in generation.graph.unknown_nodes() {
                    writer.node(&node, &mut out);
                }
                writer.between(&mut out);
                Stage::Edges(None)
            }
            Stage::Edges(after) => {
                let mut last = None;
                for id in generation.graph.ids_after(after.as_ref()).take(RECORDS) {
                    for edge in generation.graph.edges_of(id, &kinds) {
                        writer.edge(edge, &mut out);
                    }
                    last = Some(id.clone());
                }
                if let Some(last) = last {
                    Stage::Edges(Some(last))
                } else {
                    writer.tail(&mut out);
                    Stage::Done
                }
            }
            Stage::Done => return None,
        };
        Some(out)
    })
}

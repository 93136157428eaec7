//! What a reader's browser needs of the records to look through a log itself.

use std::sync::Arc;

use kb_core::record::signature_set_by;
pub use peerless_tab::ENGINE;
use peerless_tab::{FinderPack, Pack, PackedRecord};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};

use super::answer_json::brief;
use crate::feed::Generation;
use peerless_search::KnowledgeStamp;

/// The pack of a generation as bytes. Addresses in it are paths.
pub fn pack(generation: &Arc<Generation>) -> Result<Vec<u8>, serde_json::Error> {
    let published = generation
        .records()
        .map(|published| (&published.record, published.revision));
    let packed = |signatures: kb_core::signature::RecordSignatures| {
        let published = generation.record(&signatures.id);
        let brief = published.map(|published| brief(&published.record, None));
        let brief = match serde_json::to_value(brief)? {
            Value::Object(brief) => brief,
            _ => Map::new(),
        };
        Ok(PackedRecord { brief, signatures })
    };
    let former = generation.records().flat_map(|published| published.former_ids());
    let signatures = signature_set_by(published, former);
    let records: Result<_, serde_json::Error> = signatures.into_iter().map(packed).collect();
    let stamp = KnowledgeStamp { seq: generation.seq };
    Pack {
        engine: ENGINE.to_owned(),
        kb: to_raw_value(&stamp)?,
        records: records?,
    }
    .write()
}

/// What a browser needs to search the records of a generation, as bytes.
pub fn finder(generation: &Generation) -> Result<Vec<u8>, serde_json::Error> {
    let stamp = KnowledgeStamp { seq: generation.seq };
    serde_json::to_vec(&FinderPack::new(stamp, generation.carried()))
}

//! Under which names records go besides their ids: codes as people write them, and former ids.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kb_core::ids::RecordId;

use super::published::PublishedRecord;
use crate::search::comparable_code;

/// The names of one generation.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_code: HashMap<String, Vec<RecordId>>,
    pub(super) aliases: HashMap<String, RecordId>,
}

impl Names {
    pub(super) fn new(records: &BTreeMap<RecordId, Arc<PublishedRecord>>) -> Self {
        let mut names = Self::default();
        for (id, published) in records {
            for code in &published.codes {
                let holders = names.by_code.entry(comparable_code(code)).or_default();
                // Two spellings of one code by the same record come one after the other.
                if holders.last() != Some(id) {
                    holders.push(id.clone());
                }
            }
            for alias in &published.record.document.aliases {
                // The store keeps aliases unique; should two claim one, the first by id has it on every server.
                let holder = names.aliases.entry(alias.to_string());
                holder.or_insert_with(|| id.clone());
            }
        }
        names
    }

    /// Whether two faces of one record go by the same names.
    pub(super) fn are_those_of(before: &PublishedRecord, after: &PublishedRecord) -> bool {
        before.codes == after.codes && before.record.document.aliases == after.record.document.aliases
    }

    pub(super) fn by_code(&self, code: &str) -> &[RecordId] {
        let holders = self.by_code.get(&comparable_code(code));
        holders.map_or(&[], Vec::as_slice)
    }
}

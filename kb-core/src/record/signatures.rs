//! From records to what the matcher needs of them.

use std::collections::{BTreeMap, BTreeSet};

use super::codes::is_real_code;
use super::{Document, Record};
use crate::ids::{RecordId, Revision};
use crate::signature::{PatternSpec, RecordSignatures};
use crate::transition::EdgeKind;

/// Id of the pattern that the document's `regex` makes.
pub(crate) const DOCUMENT_PATTERN: &str = "0";

/// Pattern `0`: the document's `regex`, without regard to case.
pub(crate) fn document_pattern(document: &Document) -> Option<PatternSpec> {
    document.regex.as_ref().map(|regex| PatternSpec {
        id: DOCUMENT_PATTERN.to_owned(),
        regex: regex.clone(),
        flags: "i".to_owned(),
        captures: Vec::new(),
    })
}

impl Record {
    /// Pattern `0` from the document's `regex`, then the annex's patterns.
    pub fn patterns(&self) -> Vec<PatternSpec> {
        document_pattern(&self.document)
            .into_iter()
            .chain(self.annex.patterns.iter().cloned())
            .collect()
    }

    /// The annex's codes, and the document's `error_code` where it looks like a real one; each once.
    pub fn codes(&self) -> Vec<String> {
        let mut codes = self.annex.codes.clone();
        if let Some(code) = &self.document.error_code
            && is_real_code(code)
            && !codes.contains(code)
        {
            codes.push(code.clone());
        }
        codes
    }

    /// What the matcher needs of this record alone; `cancels` is empty, see [`signature_set`].
    pub fn signatures(&self, revision: Revision) -> RecordSignatures {
        let leads_to = self
            .edges()
            .into_iter()
            .filter(|edge| edge.kind == EdgeKind::LeadsTo)
            .filter_map(|edge| edge.to)
            .collect();
        RecordSignatures {
            id: self.id().clone(),
            revision,
            domain: self.document.domain.clone(),
            signature: self.document.signature.clone(),
            patterns: self.patterns(),
            codes: self.codes(),
            applies_to: self.annex.applies_to.clone(),
            leads_to,
            cancels: Vec::new(),
        }
    }
}

/// What the matcher needs of all published records, in their order. `relations.cancels` of one record stands in
/// [`RecordSignatures::cancels`] of the record it takes away, so this needs the whole set.
pub fn signature_set<'r>(records: impl IntoIterator<Item = (&'r Record, Revision)>) -> Vec<RecordSignatures> {
    let mut cancelled_by: BTreeMap<&RecordId, BTreeSet<&RecordId>> = BTreeMap::new();
    let mut set = Vec::new();
    for (record, revision) in records {
        for cancelled in &record.annex.relations.cancels {
            cancelled_by.entry(cancelled).or_default().insert(record.id());
        }
        set.push(record.signatures(revision));
    }
    for signatures in &mut set {
        if let Some(cancelling) = cancelled_by.get(&signatures.id) {
            signatures.cancels = cancelling.iter().map(|&id| id.clone()).collect();
        }
    }
    set
}

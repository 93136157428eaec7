//! What never changes of one segment of the index: its documents, and where its words stand. All generations that hold a
//! segment share this; what is deleted of it, each generation has for itself.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::Field;
use tantivy::{DocId, InvertedIndexReader, SegmentReader};

use super::facets::FaceNumber;
use super::index::Slot;
use super::kept::Kept;
use super::schema::Fields;
use super::view::Indexed;
use super::words::{List, Word};

/// One segment, as it was written.
pub(super) struct Contents {
    /// By document; none where one was deleted before this was read.
    documents: Vec<Option<Arc<Indexed>>>,
    /// By document: what facets count of it.
    faces: Vec<FaceNumber>,
    /// By field.
    inverted: Vec<Arc<InvertedIndexReader>>,
    /// By field; none where lengths are not kept.
    norms: Vec<Option<FieldNormReader>>,
    /// Words that are in neither of these are nowhere.
    everywhere: [Field; 2],
    words: Kept<Word>,
}

impl Contents {
    /// Reads what queries need of a segment. `slots` are the documents by slot.
    pub(super) fn open(
        reader: &SegmentReader,
        names: &Fields,
        slots: &HashMap<Slot, Arc<Indexed>>,
    ) -> tantivy::Result<Self> {
        let fields: Vec<Field> = reader.schema().fields().map(|(field, _)| field).collect();
        let column = reader.fast_fields().u64("slot")?.first_or_default_col(0);
        let slot_of = |document| column.get_val(document);
        let documents: Vec<_> = (0..reader.max_doc())
            .map(|document| slots.get(&slot_of(document)).cloned())
            .collect();
        let faces = documents.iter().map(|document| {
            let face = document.as_ref().map(|indexed| indexed.face);
            face.unwrap_or_default()
        });
        let inverted = fields.iter().map(|field| reader.inverted_index(*field));
        let norms = fields
            .iter()
            .map(|field| reader.fieldnorms_readers().get_field(*field));
        Ok(Self {
            faces: faces.collect(),
            inverted: inverted.collect::<Result<_, _>>()?,
            norms: norms.collect::<Result<_, _>>()?,
            everywhere: [names.every, names.code],
            words: Kept::default(),
            documents,
        })
    }

    /// One of its documents, deleted or not.
    pub(super) fn document(&self, document: DocId) -> Option<&Indexed> {
        self.documents.get(document as usize)?.as_deref()
    }

    /// What facets count of a document.
    pub(super) fn face(&self, document: DocId) -> FaceNumber {
        self.faces.get(document as usize).copied().unwrap_or_default()
    }

    pub(super) fn inverted(&self, field: Field) -> Option<&InvertedIndexReader> {
        Some(self.inverted.get(field.field_id() as usize)?.as_ref())
    }

    pub(super) fn norms(&self, field: Field) -> Option<&FieldNormReader> {
        self.norms.get(field.field_id() as usize)?.as_ref()
    }

    /// Where a word stands; `None` when it stands nowhere.
    pub(super) fn word(&self, word: &str) -> io::Result<Option<Arc<Word>>> {
        if let Some(known) = self.words.get(word) {
            return Ok(Some(known));
        }
        let found = self.read(word)?;
        if found.is_nowhere() {
            return Ok(None);
        }
        let bytes = found.bytes();
        Ok(Some(self.words.keep(word, found, bytes)))
    }

    fn read(&self, word: &str) -> io::Result<Word> {
        let mut lists = Vec::new();
        let mut known = false;
        for inverted in self.everywhere.iter().filter_map(|field| self.inverted(*field)) {
            known |= inverted.terms().get(word)?.is_some();
        }
        if !known {
            return Ok(Word::new(lists));
        }
        for (place, inverted) in self.inverted.iter().enumerate() {
            let Some(info) = inverted.terms().get(word)? else {
                continue;
            };
            let field = Field::from_field_id(u32::try_from(place).unwrap_or(u32::MAX));
            let list = List::read(inverted, &info, self.documents.len())?;
            lists.push((field, list));
        }
        lists.shrink_to_fit();
        Ok(Word::new(lists))
    }
}

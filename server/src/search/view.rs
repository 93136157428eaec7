//! The index of one generation, opened once so that queries find everything at hand: term dictionaries, lengths of
//! texts, and the document behind each number.
//!
//! Documents are numbered through all segments. Deleted ones keep their number and are passed over everywhere, so that
//! what is counted does not depend on how the index is cut into segments.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::TermInfo;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;
use tantivy::{InvertedIndexReader, Searcher, SegmentReader, Term};

use super::document::SearchDoc;
use super::facets::{Columns, Numbered, ValueNumber, Values};
use super::index::Slot;
use super::tokenizer::Word;

/// Number of a document within one generation's index.
pub(super) type Number = u32;

/// How quickly a word said again counts less, and how much the length of a text matters: the usual values of BM25.
pub(super) const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Lengths that the index tells apart.
const LENGTHS: usize = 256;

/// What queries read.
pub(super) struct View {
    pub(super) searcher: Searcher,
    pub(super) segments: Vec<Segment>,
    documents: Vec<Option<Arc<Indexed>>>,
    /// What facets count of each document.
    columns: Columns,
    /// The values of facets.
    pub(super) values: Arc<Values>,
    /// Documents that are not deleted.
    alive: u32,
    /// By field: the weight that a text's length takes from a word's count.
    pub(super) lengths: Vec<[f32; LENGTHS]>,
}

pub(super) struct Segment {
    pub(super) reader: SegmentReader,
    /// Number of its first document.
    pub(super) base: Number,
    /// Numbers of deleted documents, ascending.
    deleted: Vec<Number>,
    /// By field.
    inverted: Vec<Arc<InvertedIndexReader>>,
    /// By field; none where lengths are not kept.
    norms: Vec<Option<FieldNormReader>>,
}

/// A document that the index holds.
#[derive(Debug)]
pub(super) struct Indexed {
    pub(super) document: Arc<SearchDoc>,
    pub(super) values: Numbered,
}

/// Where a word stands in one field.
#[derive(Debug, Clone)]
pub(super) struct Listing {
    pub(super) field: Field,
    /// By segment.
    pub(super) lists: Vec<(usize, TermInfo)>,
    /// Documents that have it: one at least.
    pub(super) records: u32,
}

impl View {
    /// Opens what a searcher sees. `slots` are the documents by slot.
    pub(super) fn open(
        searcher: Searcher,
        slots: &HashMap<Slot, Arc<Indexed>>,
        values: Arc<Values>,
    ) -> tantivy::Result<Self> {
        let fields: Vec<Field> = searcher.schema().fields().map(|(field, _)| field).collect();
        let mut segments = Vec::new();
        let mut documents: Vec<Option<Arc<Indexed>>> = Vec::new();
        for reader in searcher.segment_readers() {
            let base = number(documents.len());
            let column = reader.fast_fields().u64("slot")?.first_or_default_col(0);
            documents.extend((0..reader.max_doc()).map(|document| {
                let slot = column.get_val(document);
                let document = slots.get(&slot).filter(|_| !reader.is_deleted(document));
                document.cloned()
            }));
            let inverted = fields.iter().map(|field| reader.inverted_index(*field));
            let norms = fields
                .iter()
                .map(|field| reader.fieldnorms_readers().get_field(*field));
            let all = 0..reader.max_doc();
            let deleted = all.filter(|document| reader.is_deleted(*document));
            segments.push(Segment {
                base,
                deleted: deleted.map(|document| base + document).collect(),
                inverted: inverted.collect::<Result<_, _>>()?,
                norms: norms.collect::<Result<_, _>>()?,
                reader: reader.clone(),
            });
        }
        let alive = number(documents.iter().flatten().count());
        let columns = documents
            .iter()
            .map(|document| document.as_ref().map(|indexed| &indexed.values));
        let lengths = fields.iter().map(|field| {
            let words: u64 = segments.iter().map(|segment| segment.words(*field)).sum();
            length_weights(words, alive)
        });
        Ok(Self {
            lengths: lengths.collect(),
            columns: Columns::new(columns),
            searcher,
            segments,
            documents,
            values,
            alive,
        })
    }

    /// Documents that are there.
    pub(super) fn len(&self) -> u32 {
        self.alive
    }

    /// Numbers given, those of deleted documents among them.
    pub(super) fn numbers(&self) -> usize {
        self.documents.len()
    }

    /// The document of a number; `None` for a deleted one.
    pub(super) fn document(&self, number: Number) -> Option<&Indexed> {
        self.documents.get(number as usize)?.as_deref()
    }

    /// The values of a document, for facets.
    pub(super) fn values_of(&self, number: Number) -> &[ValueNumber] {
        self.columns.of(number)
    }

    /// The numbers of all documents.
    pub(super) fn documents(&self) -> impl Iterator<Item = Number> {
        let all = (0..).zip(&self.documents);
        all.filter_map(|(number, document)| document.as_ref().map(|_| number))
    }

    /// Where a word stands in a field; `None` when no document has it.
    pub(super) fn find(&self, field: Field, word: &[u8]) -> io::Result<Option<Listing>> {
        let mut found = Listing {
            field,
            lists: Vec::new(),
            records: 0,
        };
        for (place, segment) in self.segments.iter().enumerate() {
            let Some(inverted) = segment.inverted(field) else {
                continue;
            };
            let Some(info) = inverted.terms().get(word)? else {
                continue;
            };
            let here = segment.records(inverted, &info)?;
            if here > 0 {
                found.records += here;
                found.lists.push((place, info));
            }
        }
        Ok((found.records > 0).then_some(found))
    }

    /// Whether each of these words stands in a field of some document.
    pub(super) fn has_all(&self, field: Field, words: &[Word]) -> io::Result<bool> {
        for word in words {
            if self.find(field, word.text.as_bytes())?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The dictionaries of a field.
    pub(super) fn dictionaries(&self, field: Field) -> impl Iterator<Item = &InvertedIndexReader> {
        let inverted = self.segments.iter().map(move |segment| segment.inverted(field));
        inverted.flatten()
    }

    /// Inverse document frequency as BM25 has it; a word that no record has is the rarest.
    pub(super) fn rarity(&self, records_with_word: u32) -> f32 {
        let all = as_f32(self.alive);
        let with_word = as_f32(records_with_word).min(all);
        ((all - with_word + 0.5) / (with_word + 0.5)).ln_1p()
    }
}

impl Segment {
    /// The numbers of its documents.
    pub(super) fn numbers(&self) -> Range<Number> {
        self.base..self.base + self.reader.max_doc()
    }

    pub(super) fn deleted(&self) -> &[Number] {
        &self.deleted
    }

    pub(super) fn inverted(&self, field: Field) -> Option<&InvertedIndexReader> {
        Some(self.inverted.get(field.field_id() as usize)?.as_ref())
    }

    pub(super) fn norms(&self, field: Field) -> Option<&FieldNormReader> {
        self.norms.get(field.field_id() as usize)?.as_ref()
    }

    /// Words of all texts of a field. What deleted documents had is taken off as exactly as lengths are kept.
    fn words(&self, field: Field) -> u64 {
        let all = self
            .inverted(field)
            .map_or(0, InvertedIndexReader::total_num_tokens);
        let Some(norms) = self.norms(field).filter(|_| self.reader.has_deletes()) else {
            return all;
        };
        let deleted = self.deleted.iter().map(|number| number - self.base);
        let gone: u64 = deleted.map(|document| u64::from(norms.fieldnorm(document))).sum();
        all.saturating_sub(gone)
    }
}

/// For phrases, which the engine scores.
impl Bm25StatisticsProvider for View {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        Ok(self.segments.iter().map(|segment| segment.words(field)).sum())
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(u64::from(self.alive))
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let found = self.find(term.field(), term.serialized_value_bytes())?;
        Ok(found.map_or(0, |found| u64::from(found.records)))
    }
}

/// For each kept length of a text, what it takes from a word's count.
fn length_weights(words: u64, documents: u32) -> [f32; LENGTHS] {
    let average = u32::try_from(words).map_or(f32::MAX, as_f32) / as_f32(documents.max(1));
    let mut id = 0_u8;
    std::array::from_fn(|_| {
        let length = as_f32(FieldNormReader::id_to_fieldnorm(id));
        id = id.wrapping_add(1);
        K1 * (1.0 - B + B * length / average.max(f32::MIN_POSITIVE))
    })
}

fn number(count: usize) -> Number {
    Number::try_from(count).unwrap_or(Number::MAX)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an estimate, and far below the 24 bits that are exact"
)]
pub(super) fn as_f32(count: u32) -> f32 {
    count as f32
}

//! The index of one generation, opened once so that queries find everything at hand: term dictionaries, lengths of
//! texts, and the document behind each number.
//!
//! Documents are numbered through all segments. Deleted ones keep their number and are passed over everywhere, so that
//! what is counted does not depend on how the index is cut into segments.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::TermInfo;
use tantivy::query::{Bm25StatisticsProvider, EnableScoring, Query};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{InvertedIndexReader, Searcher, SegmentReader, Term};

use super::document::SearchDoc;
use super::facets::{Numbered, Values};
use super::index::Slot;
use super::tokenizer::Word;

/// Number of a document within one generation's index.
pub(super) type Number = u32;

/// How quickly a word said again counts less, and how much the length of a text matters: the usual values of BM25.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Lengths that the index tells apart.
const LENGTHS: usize = 256;

/// What queries read.
pub(super) struct View {
    searcher: Searcher,
    segments: Vec<Segment>,
    documents: Vec<Option<Arc<Indexed>>>,
    /// The values of facets.
    pub(super) values: Arc<Values>,
    /// Documents that are not deleted.
    alive: u32,
    /// By field: the weight that a text's length takes from a word's count.
    lengths: Vec<[f32; LENGTHS]>,
}

struct Segment {
    reader: SegmentReader,
    /// Number of its first document.
    base: Number,
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
    field: Field,
    /// By segment.
    lists: Vec<(usize, TermInfo)>,
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
            segments.push(Segment {
                base,
                inverted: inverted.collect::<Result<_, _>>()?,
                norms: norms.collect::<Result<_, _>>()?,
                reader: reader.clone(),
            });
        }
        let alive = number(documents.iter().flatten().count());
        let lengths = fields.iter().map(|field| {
            let words: u64 = segments.iter().map(|segment| segment.words(*field)).sum();
            length_weights(words, alive)
        });
        Ok(Self {
            lengths: lengths.collect(),
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

    /// All documents, with their numbers.
    pub(super) fn documents(&self) -> impl Iterator<Item = (Number, &Indexed)> {
        (0..)
            .zip(&self.documents)
            .filter_map(|(number, document)| Some((number, document.as_deref()?)))
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

    /// Hands over each document that has a word.
    pub(super) fn each(&self, listing: &Listing, mut take: impl FnMut(Number)) -> io::Result<()> {
        for (place, info) in &listing.lists {
            let Some(segment) = self.segments.get(*place) else {
                continue;
            };
            let Some(inverted) = segment.inverted(listing.field) else {
                continue;
            };
            segment.each(inverted, info, IndexRecordOption::Basic, |document, _| {
                take(segment.base + document);
            })?;
        }
        Ok(())
    }

    /// Hands over each document that has a word, with what the word counts there by BM25, times `boost`.
    pub(super) fn each_scored(
        &self,
        listing: &Listing,
        boost: f32,
        mut take: impl FnMut(Number, f32),
    ) -> io::Result<()> {
        let lengths = self.lengths.get(listing.field.field_id() as usize);
        let weight = boost * self.rarity(listing.records) * (1.0 + K1);
        for (place, info) in &listing.lists {
            let Some(segment) = self.segments.get(*place) else {
                continue;
            };
            let Some(inverted) = segment.inverted(listing.field) else {
                continue;
            };
            let norms = segment.norms(listing.field);
            segment.each(inverted, info, IndexRecordOption::WithFreqs, |document, count| {
                let length = norms.map_or(1, |norms| norms.fieldnorm_id(document));
                let taken = lengths.and_then(|lengths| lengths.get(usize::from(length)));
                let count = as_f32(count);
                let share = count / (count + taken.copied().unwrap_or(K1));
                take(segment.base + document, weight * share);
            })?;
        }
        Ok(())
    }

    /// Hands over each document that a query of the engine finds, with its score.
    pub(super) fn each_found(
        &self,
        query: &dyn Query,
        mut take: impl FnMut(Number, f32),
    ) -> tantivy::Result<()> {
        let scoring = EnableScoring::enabled_from_statistics_provider(self, &self.searcher);
        let weight = query.weight(scoring)?;
        for segment in &self.segments {
            weight.for_each(&segment.reader, &mut |document, score| {
                if !segment.reader.is_deleted(document) {
                    take(segment.base + document, score);
                }
            })?;
        }
        Ok(())
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
    fn inverted(&self, field: Field) -> Option<&InvertedIndexReader> {
        Some(self.inverted.get(field.field_id() as usize)?.as_ref())
    }

    fn norms(&self, field: Field) -> Option<&FieldNormReader> {
        self.norms.get(field.field_id() as usize)?.as_ref()
    }

    /// Documents that have a word and are not deleted.
    fn records(&self, inverted: &InvertedIndexReader, info: &TermInfo) -> io::Result<u32> {
        if !self.reader.has_deletes() {
            return Ok(info.doc_freq);
        }
        let mut count = 0;
        self.each(inverted, info, IndexRecordOption::Basic, |_, _| count += 1)?;
        Ok(count)
    }

    /// Each document with a word, and how often it says it (1 unless `option` asks for that).
    fn each(
        &self,
        inverted: &InvertedIndexReader,
        info: &TermInfo,
        option: IndexRecordOption,
        mut take: impl FnMut(u32, u32),
    ) -> io::Result<()> {
        let mut block = inverted.read_block_postings_from_terminfo(info, option)?;
        let deleted = self.reader.alive_bitset();
        while block.block_len() > 0 {
            for (at, document) in block.docs().iter().enumerate() {
                if deleted.is_none_or(|alive| alive.is_alive(*document)) {
                    take(*document, block.freq(at));
                }
            }
            block.advance();
        }
        Ok(())
    }

    /// Words of all texts of a field. What deleted documents had is taken off as exactly as lengths are kept.
    fn words(&self, field: Field) -> u64 {
        let all = self
            .inverted(field)
            .map_or(0, InvertedIndexReader::total_num_tokens);
        let Some(norms) = self.norms(field).filter(|_| self.reader.has_deletes()) else {
            return all;
        };
        let deleted = (0..self.reader.max_doc()).filter(|document| self.reader.is_deleted(*document));
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
fn as_f32(count: u32) -> f32 {
    count as f32
}

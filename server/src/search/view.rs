//! The index of one generation, opened once so that queries find everything at hand: term dictionaries, lengths of
//! texts, and the document behind each number.
//!
//! Documents are numbered through all segments, each of which begins with a number that sets of documents begin a word
//! with. Deleted ones keep their number and are passed over everywhere, so that what is counted does not depend on how
//! the index is cut into segments.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::SegmentId;
use tantivy::schema::Field;
use tantivy::{DocId, InvertedIndexReader, Searcher, SegmentReader};

use super::contents::Contents;
use super::document::SearchDoc;
use super::facets::{FaceNumber, Values};
use super::index::Slot;
use super::kept::Kept;
use super::numbers::{BITS, Numbers};
use super::schema::{Fields, PARTS_BOOST};
use super::weighed::Weighed;
use super::words;

/// Number of a document within one generation's index.
pub(super) type Number = u32;

/// How quickly a word said again counts less, and how much the length of a text matters: the usual values of BM25.
pub(super) const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Lengths that the index tells apart.
const LENGTHS: usize = 256;

/// What queries read.
pub(super) struct View {
    pub(super) segments: Vec<Segment>,
    /// Documents that are not deleted.
    pub(super) alive: Numbers,
    count: u32,
    /// The values of facets.
    pub(super) values: Arc<Values>,
    /// By field: the weight that a text's length takes from a word's count.
    lengths: Vec<[f32; LENGTHS]>,
    /// The texts in which a word counts, and how much in each.
    pub(super) boosts: Vec<(Field, f32)>,
    /// What words count, of those that were asked for.
    pub(super) weighed: Kept<Weighed>,
}

pub(super) struct Segment {
    pub(super) reader: SegmentReader,
    /// Number of its first document.
    pub(super) base: Number,
    /// Deleted documents, ascending.
    deleted: Vec<DocId>,
    pub(super) contents: Arc<Contents>,
}

/// What the generation before has read of segments.
pub(super) type Known = HashMap<SegmentId, Arc<Contents>>;

/// A document that the index holds.
#[derive(Debug)]
pub(super) struct Indexed {
    pub(super) document: Arc<SearchDoc>,
    /// What facets count of it.
    pub(super) face: FaceNumber,
}

/// Where a word stands, by segment.
#[derive(Debug)]
pub(super) struct Spread(Vec<(usize, Arc<words::Word>)>);

/// Where a word stands in one field.
#[derive(Debug, Clone)]
pub(super) struct Listing {
    pub(super) field: Field,
    pub(super) word: Rc<Spread>,
    /// Documents that have it: one at least.
    pub(super) records: u32,
}

impl View {
    /// Opens what a searcher sees. `slots` are the documents by slot; segments that are known are not read again.
    pub(super) fn open(
        searcher: &Searcher,
        names: &Fields,
        slots: &HashMap<Slot, Arc<Indexed>>,
        values: Arc<Values>,
        known: &Known,
    ) -> tantivy::Result<Self> {
        let mut segments = Vec::new();
        let mut base = 0;
        for reader in searcher.segment_readers() {
            let contents = match known.get(&reader.segment_id()) {
                Some(contents) => Arc::clone(contents),
                None => Arc::new(Contents::open(reader, names, slots)?),
            };
            let deleted = if reader.has_deletes() {
                let all = 0..reader.max_doc();
                all.filter(|document| reader.is_deleted(*document)).collect()
            } else {
                Vec::new()
            };
            segments.push(Segment {
                base,
                deleted,
                contents,
                reader: reader.clone(),
            });
            base = (base + reader.max_doc()).next_multiple_of(BITS);
        }
        let mut alive = Numbers::none_of(base as usize);
        for segment in &segments {
            alive.insert_range(segment.numbers());
            for document in &segment.deleted {
                alive.remove(segment.base + document);
            }
        }
        let count = searcher
            .segment_readers()
            .iter()
            .map(SegmentReader::num_docs)
            .sum();
        let fields = searcher.schema().fields().map(|(field, _)| field);
        let lengths = fields.map(|field| {
            let words: u64 = segments.iter().map(|segment| segment.words(field)).sum();
            length_weights(words, count)
        });
        let texts = names.texts.iter().map(|entry| (entry.field, entry.boost));
        Ok(Self {
            lengths: lengths.collect(),
            boosts: texts.chain([(names.parts, PARTS_BOOST)]).collect(),
            weighed: Kept::default(),
            segments,
            alive,
            count,
            values,
        })
    }

    /// What it has read of its segments.
    pub(super) fn known(&self) -> Known {
        let segments = self.segments.iter();
        segments
            .map(|segment| (segment.reader.segment_id(), Arc::clone(&segment.contents)))
            .collect()
    }

    /// Documents that are there.
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    /// All numbers are below this; some are of deleted documents, and some of none.
    pub(super) fn numbers(&self) -> usize {
        self.segments
            .last()
            .map_or(0, |segment| segment.numbers().end as usize)
    }

    /// The document of a number; whether it is deleted, [`Self::alive`] knows.
    pub(super) fn document(&self, number: Number) -> Option<&Indexed> {
        let segment = self.segment_of(number)?;
        segment.contents.document(number - segment.base)
    }

    /// What facets count of a document.
    pub(super) fn face(&self, number: Number) -> FaceNumber {
        let segment = self.segment_of(number);
        segment.map_or(0, |segment| segment.contents.face(number - segment.base))
    }

    /// What facets count of documents that ascend.
    pub(super) fn faces(&self, ascending: impl Iterator<Item = Number>) -> impl Iterator<Item = FaceNumber> {
        let mut segments = self.segments.iter().peekable();
        let mut here = None;
        ascending.map(move |number| {
            while let Some(segment) = segments.next_if(|segment| segment.base <= number) {
                here = Some(segment);
            }
            here.map_or(0, |segment| segment.contents.face(number - segment.base))
        })
    }

    fn segment_of(&self, number: Number) -> Option<&Segment> {
        self.segments.iter().rfind(|segment| segment.base <= number)
    }

    /// Where a word stands; `None` when it stands nowhere.
    pub(super) fn spread(&self, word: &str) -> io::Result<Option<Rc<Spread>>> {
        let mut found = Vec::new();
        for (place, segment) in self.segments.iter().enumerate() {
            if let Some(word) = segment.contents.word(word)? {
                found.push((place, word));
            }
        }
        Ok((!found.is_empty()).then(|| Rc::new(Spread(found))))
    }

    /// Where a word stands in a field; `None` when no document has it there.
    pub(super) fn listing(&self, word: &Rc<Spread>, field: Field) -> Option<Listing> {
        let mut listing = Listing {
            field,
            word: Rc::clone(word),
            records: 0,
        };
        let records = self
            .lists(&listing)
            .map(|(segment, list)| segment.records(list, &self.alive))
            .sum();
        listing.records = records;
        (records > 0).then_some(listing)
    }

    /// As [`Self::listing`], of a word that is not found yet.
    pub(super) fn find(&self, field: Field, word: &str) -> io::Result<Option<Listing>> {
        let found = self.spread(word)?;
        Ok(found.and_then(|found| self.listing(&found, field)))
    }

    /// The lists of a word, each with its segment.
    pub(super) fn lists<'a>(
        &'a self,
        listing: &'a Listing,
    ) -> impl Iterator<Item = (&'a Segment, &'a words::List)> {
        let Spread(parts) = listing.word.as_ref();
        parts
            .iter()
            .filter_map(|(place, word)| Some((self.segments.get(*place)?, word.list(listing.field)?)))
    }

    /// For each kept length of a text in a field, what it takes from a word's count.
    pub(super) fn lengths(&self, field: Field) -> Option<&[f32; LENGTHS]> {
        self.lengths.get(field.field_id() as usize)
    }

    /// Whether some document has a word in a field: as [`Self::find`], for words that are looked at in passing.
    pub(super) fn has(&self, field: Field, word: &str) -> io::Result<bool> {
        let deleted = |segment: &Segment| number(segment.deleted.len());
        for segment in &self.segments {
            let info = segment.inverted(field).map(|inverted| inverted.terms().get(word));
            let said_by = info.transpose()?.flatten().map_or(0, |info| info.doc_freq);
            if said_by > deleted(segment) {
                return Ok(true);
            }
        }
        // None, or none but deleted ones, or so few that one has to look.
        let is_all_alive = self.segments.iter().all(|segment| segment.deleted.is_empty());
        Ok(!is_all_alive && self.find(field, word)?.is_some())
    }

    /// The dictionaries of a field.
    pub(super) fn dictionaries(&self, field: Field) -> impl Iterator<Item = &InvertedIndexReader> {
        let inverted = self.segments.iter().map(move |segment| segment.inverted(field));
        inverted.flatten()
    }

    /// Inverse document frequency as BM25 has it; a word that no record has is the rarest.
    pub(super) fn rarity(&self, records_with_word: u32) -> f32 {
        let all = as_f32(self.count);
        let with_word = as_f32(records_with_word).min(all);
        ((all - with_word + 0.5) / (with_word + 0.5)).ln_1p()
    }
}

impl Segment {
    /// The numbers of its documents.
    pub(super) fn numbers(&self) -> Range<Number> {
        self.base..self.base + self.reader.max_doc()
    }

    pub(super) fn inverted(&self, field: Field) -> Option<&InvertedIndexReader> {
        self.contents.inverted(field)
    }

    pub(super) fn norms(&self, field: Field) -> Option<&FieldNormReader> {
        self.contents.norms(field)
    }

    /// Documents of a list that are not deleted, counted in as few steps as may be: a query asks this of hundreds of lists,
    /// and thousands of documents may be deleted.
    fn records(&self, list: &words::List, alive: &Numbers) -> u32 {
        let documents = list.documents();
        let steps = match list.set() {
            Some(_) => (self.reader.max_doc() / BITS) as usize,
            None => documents.len(),
        };
        if self.deleted.len() <= steps {
            let gone = self.deleted.iter().filter(|document| list.has(**document));
            return number(documents.len() - gone.count());
        }
        if let Some(set) = list.set() {
            return alive.count_among(self.base, set.bits());
        }
        let numbers = documents.iter().map(|document| self.base + document);
        number(numbers.filter(|number| alive.contains(*number)).count())
    }

    /// Words of all texts of a field. What deleted documents had is taken off as exactly as lengths are kept.
    fn words(&self, field: Field) -> u64 {
        let all = self
            .inverted(field)
            .map_or(0, InvertedIndexReader::total_num_tokens);
        let Some(norms) = self.norms(field).filter(|_| self.reader.has_deletes()) else {
            return all;
        };
        let deleted = self.deleted.iter();
        let gone: u64 = deleted
            .map(|document| u64::from(norms.fieldnorm(*document)))
            .sum();
        all.saturating_sub(gone)
    }
}

/// The share of a word's weight that it counts where it is said so often in a text of such a length.
pub(super) fn share(lengths: Option<&[f32; LENGTHS]>, length: u8, count: u16) -> f32 {
    let taken = lengths.and_then(|lengths| lengths.get(usize::from(length)));
    let count = f32::from(count);
    count / (count + taken.copied().unwrap_or(K1))
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

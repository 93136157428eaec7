//! Lists of words as queries go over them: taken out of the packed form of the index when a word is first asked for, and
//! kept for the queries that ask for it again. People, and the messages they paste, use the same words over and over;
//! unpacking them again for each query took longer than going over them.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, InvertedIndexReader};

use super::ranked::Ranked;

/// Most that the kept lists of one segment take. All lists of 65,000 records of usual length take about as much.
const MOST_BYTES: usize = 128 * 1024 * 1024;

/// What a kept word takes beside its lists.
const WORD_BYTES: usize = 128;

/// Said by one document in so many, a word has a set of documents beside their list.
const OFTEN: usize = 32;

/// Length of a text where lengths are not kept.
pub(super) const UNKNOWN_LENGTH: u8 = 1;

/// Where a word stands in one segment.
#[derive(Debug)]
pub(super) struct Word {
    /// In each field that has it.
    lists: Vec<(Field, List)>,
}

/// The documents of a segment that have a word in one field, deleted ones among them.
#[derive(Debug)]
pub(super) struct List {
    /// Ascending.
    documents: Box<[DocId]>,
    /// How often each says it; empty where that is not kept.
    counts: Box<[u16]>,
    /// The same documents, where they are many.
    set: Option<Ranked>,
    /// Where the word may count most: for each length of text the most that one says it, unless a shorter one says it as
    /// often.
    peaks: Box<[Peak]>,
}

/// How often a text says a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peak {
    /// Its length, as the index keeps it.
    pub(super) length: u8,
    pub(super) count: u16,
}

/// The words of a segment that were asked for.
#[derive(Debug, Default)]
pub(super) struct Words {
    known: RwLock<HashMap<Box<str>, Arc<Word>>>,
    bytes: AtomicUsize,
}

impl Words {
    /// A word; read, and kept, when it was not asked for before. `None` when it stands nowhere.
    pub(super) fn get(
        &self,
        word: &str,
        read: impl FnOnce() -> io::Result<Word>,
    ) -> io::Result<Option<Arc<Word>>> {
        {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = known.get(word) {
                return Ok(Some(Arc::clone(found)));
            }
        }
        let found = read()?;
        if found.lists.is_empty() {
            return Ok(None);
        }
        let found = Arc::new(found);
        let bytes = found.bytes() + word.len();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if self.bytes.load(Ordering::Relaxed) + bytes > MOST_BYTES {
            // Those that are still asked for come back.
            known.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        if known.insert(word.into(), Arc::clone(&found)).is_none() {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(Some(found))
    }
}

impl Word {
    pub(super) fn new(lists: Vec<(Field, List)>) -> Self {
        Self { lists }
    }

    /// Where it stands in a field; `None` when it does not.
    pub(super) fn list(&self, wanted: Field) -> Option<&List> {
        let mut lists = self.lists.iter();
        lists.find(|(field, _)| *field == wanted).map(|(_, list)| list)
    }

    fn bytes(&self) -> usize {
        let lists = self.lists.iter().map(|(_, list)| list.bytes());
        WORD_BYTES + lists.sum::<usize>()
    }
}

impl List {
    /// Takes a list out of the index. The segment has so many documents.
    pub(super) fn read(
        inverted: &InvertedIndexReader,
        info: &TermInfo,
        norms: Option<&FieldNormReader>,
        documents_of_segment: usize,
    ) -> io::Result<Self> {
        let mut block = inverted.read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
        let length = info.doc_freq as usize;
        let mut documents = Vec::with_capacity(length);
        let mut counts = Vec::new();
        while block.block_len() > 0 {
            documents.extend_from_slice(block.docs());
            let said = (0..block.block_len()).map(|place| block.freq(place));
            counts.extend(said.map(|count| u16::try_from(count).unwrap_or(u16::MAX)));
            block.advance();
        }
        let length_of = |document: DocId| norms.map_or(UNKNOWN_LENGTH, |norms| norms.fieldnorm_id(document));
        let peaks = peaks(
            documents
                .iter()
                .map(|document| length_of(*document))
                .zip(counts.iter().copied()),
        );
        if counts.iter().all(|count| *count == 1) {
            counts.clear();
        }
        let is_often = length * OFTEN > documents_of_segment;
        let set = is_often.then(|| Ranked::new(&documents, documents_of_segment));
        Ok(Self {
            documents: documents.into(),
            counts: counts.into(),
            set,
            peaks,
        })
    }

    /// Where the word may count most.
    pub(super) fn peaks(&self) -> &[Peak] {
        &self.peaks
    }

    /// Its documents, ascending.
    pub(super) fn documents(&self) -> &[DocId] {
        &self.documents
    }

    /// Its documents as a set, where they are many.
    pub(super) fn set(&self) -> Option<&Ranked> {
        self.set.as_ref()
    }

    /// Whether a document is one of them.
    pub(super) fn has(&self, document: DocId) -> bool {
        match &self.set {
            Some(set) => set.has(document),
            None => self.documents.binary_search(&document).is_ok(),
        }
    }

    /// How often the document at a place says the word.
    pub(super) fn count(&self, place: usize) -> u16 {
        self.counts.get(place).copied().unwrap_or(1)
    }

    /// Hands over each document, with how often it says the word.
    pub(super) fn each(&self, mut take: impl FnMut(DocId, u16)) {
        if self.counts.is_empty() {
            self.documents.iter().for_each(|document| take(*document, 1));
        } else {
            let said = self.documents.iter().zip(&self.counts);
            said.for_each(|(document, count)| take(*document, *count));
        }
    }

    /// Memory that it takes, its place in a [`Word`] among it: of a rare word in many fields that is the most.
    fn bytes(&self) -> usize {
        let set = self.set.as_ref().map_or(0, Ranked::bytes);
        let place = size_of::<(Field, Self)>();
        let peaks = size_of_val(self.peaks.as_ref());
        place + size_of_val(self.documents.as_ref()) + size_of_val(self.counts.as_ref()) + set + peaks
    }

    /// These documents, each of which says the word once more than the one before.
    #[cfg(test)]
    pub(super) fn of(ascending: &[DocId]) -> Self {
        Self {
            documents: ascending.into(),
            counts: (1..).take(ascending.len()).collect(),
            set: None,
            peaks: Box::default(),
        }
    }
}

/// Of texts, each with its length and how often it says a word: the lengths from which on it is said more often.
fn peaks(texts: impl Iterator<Item = (u8, u16)>) -> Box<[Peak]> {
    let mut most = [0_u16; 1 + u8::MAX as usize];
    for (length, count) in texts {
        if let Some(most) = most.get_mut(usize::from(length)) {
            *most = count.max(*most);
        }
    }
    let mut before = 0;
    let rising = (0..=u8::MAX).zip(most).filter(|(_, count)| {
        let rises = *count > before;
        before = before.max(*count);
        rises
    });
    rising.map(|(length, count)| Peak { length, count }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(documents: &[DocId]) -> Word {
        let list = List {
            documents: documents.into(),
            counts: Box::default(),
            set: None,
            peaks: Box::default(),
        };
        Word::new(vec![(Field::from_field_id(0), list)])
    }

    #[test]
    fn what_a_word_takes_grows_with_the_fields_that_have_it() {
        let lists = |count: u32| (0..count).map(|field| (Field::from_field_id(field), List::of(&[1])));
        let word = |count| Word::new(lists(count).collect());
        assert!(word(12).bytes() >= word(1).bytes() + 11 * size_of::<(Field, List)>());
    }

    #[test]
    fn a_peak_is_where_a_longer_text_says_it_more_often() {
        let texts = [(9, 1), (3, 2), (3, 1), (7, 2), (8, 4), (200, 3), (255, 5)];
        let found: Vec<(u8, u16)> = peaks(texts.into_iter())
            .iter()
            .map(|peak| (peak.length, peak.count))
            .collect();
        assert_eq!(found, [(3, 2), (8, 4), (255, 5)]);
        assert!(peaks(std::iter::empty()).is_empty());
    }

    #[test]
    fn a_word_is_read_once_and_one_that_is_nowhere_is_not_kept() {
        let words = Words::default();
        let read = words.get("peer", || Ok(word(&[1, 4]))).unwrap().unwrap();
        let again = words.get("peer", || panic!("read again")).unwrap().unwrap();
        assert!(Arc::ptr_eq(&read, &again));
        assert!(words.get("x", || Ok(Word::new(Vec::new()))).unwrap().is_none());
        assert!(words.get("x", || Ok(word(&[2]))).unwrap().is_some());
    }

    #[test]
    fn lists_that_take_too_much_are_let_go() {
        let words = Words::default();
        let documents: Vec<DocId> = (0..1 << 20).collect();
        for number in 0..100 {
            words.get(&number.to_string(), || Ok(word(&documents))).unwrap();
            let kept = words.known.read().unwrap();
            let bytes: usize = kept.values().map(|word| word.bytes()).sum();
            assert!(bytes <= MOST_BYTES && !kept.is_empty(), "{bytes}");
        }
    }
}

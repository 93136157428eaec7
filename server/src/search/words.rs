//! Lists of words as queries go over them: taken out of the packed form of the index when a word is first asked for, and
//! kept for the queries that ask for it again. People, and the messages they paste, use the same words over and over;
//! unpacking them again for each query took longer than going over them.

use std::io;

use tantivy::postings::TermInfo;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, InvertedIndexReader};

use super::ranked::Ranked;

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

    /// Whether it stands nowhere.
    pub(super) fn is_nowhere(&self) -> bool {
        self.lists.is_empty()
    }

    /// Memory that its lists take.
    pub(super) fn bytes(&self) -> usize {
        let lists = self.lists.iter().map(|(_, list)| list.bytes());
        lists.sum()
    }
}

impl List {
    /// Takes a list out of the index. The segment has so many documents.
    pub(super) fn read(
        inverted: &InvertedIndexReader,
        info: &TermInfo,
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
        if counts.iter().all(|count| *count == 1) {
            counts.clear();
        }
        Ok(Self {
            set: Ranked::if_often(&documents, documents_of_segment),
            documents: documents.into(),
            counts: counts.into(),
        })
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
        place + size_of_val(self.documents.as_ref()) + size_of_val(self.counts.as_ref()) + set
    }

    /// These documents, each of which says the word once.
    #[cfg(test)]
    pub(super) fn of(ascending: &[DocId]) -> Self {
        Self {
            documents: ascending.into(),
            counts: Box::default(),
            set: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_word_takes_grows_with_the_fields_that_have_it() {
        let lists = |count: u32| (0..count).map(|field| (Field::from_field_id(field), List::of(&[1])));
        let word = |count| Word::new(lists(count).collect());
        assert!(word(12).bytes() >= word(1).bytes() + 11 * size_of::<(Field, List)>());
    }
}

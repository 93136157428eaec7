//! Goes over the lists of documents that have a word: over a whole list, or over those among some documents, for which few
//! of a long list are looked up and many are picked out of it.

use std::io;

use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::query::{EnableScoring, Query};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, InvertedIndexReader};

use super::chosen::{Chosen, between};
use super::numbers::Numbers;
use super::view::{K1, Listing, Number, Segment, View, as_f32};

/// Looking one document up takes as long as going over so many of a list.
const LOOK_UP: usize = 32;

/// One segment's list of a word.
struct List<'a> {
    segment: &'a Segment,
    inverted: &'a InvertedIndexReader,
    info: &'a TermInfo,
}

impl View {
    fn lists<'a>(&'a self, listing: &'a Listing) -> impl Iterator<Item = List<'a>> {
        listing.lists.iter().filter_map(|(place, info)| {
            let segment = self.segments.get(*place)?;
            let inverted = segment.inverted(listing.field)?;
            Some(List {
                segment,
                inverted,
                info,
            })
        })
    }

    /// Hands over each document that has a word.
    pub(super) fn each(&self, listing: &Listing, mut take: impl FnMut(Number)) -> tantivy::Result<()> {
        for list in self.lists(listing) {
            list.each(IndexRecordOption::Basic, |document, _| {
                take(list.segment.base + document);
            })?;
        }
        Ok(())
    }

    /// Adds all documents that have a word to a set.
    pub(super) fn add_to(&self, listing: &Listing, said: &mut Numbers) -> io::Result<()> {
        for list in self.lists(listing) {
            list.add_to(said)?;
        }
        Ok(())
    }

    /// Adds documents that have a word to a set: all those that are among these, which ascend, and maybe others.
    pub(super) fn add_those_among(
        &self,
        listing: &Listing,
        among: &[Number],
        said: &mut Numbers,
    ) -> io::Result<()> {
        for list in self.lists(listing) {
            let (_, here) = between(among, list.segment.numbers());
            if list.is_long_beside(here) {
                list.look_up(IndexRecordOption::Basic, here, |place, _| {
                    if let Some(number) = here.get(place) {
                        said.insert(*number);
                    }
                })?;
            } else {
                list.add_to(said)?;
            }
        }
        Ok(())
    }

    /// Hands over each chosen document that has a word, by its place, with what the word counts there by BM25, times
    /// `boost`.
    pub(super) fn each_scored(
        &self,
        listing: &Listing,
        boost: f32,
        chosen: &Chosen,
        mut take: impl FnMut(usize, f32),
    ) -> io::Result<()> {
        let lengths = self.lengths.get(listing.field.field_id() as usize);
        let weight = boost * self.rarity(listing.records) * (1.0 + K1);
        for list in self.lists(listing) {
            let base = list.segment.base;
            let norms = list.segment.norms(listing.field);
            let score = |document: DocId, count: u32| {
                let length = norms.map_or(1, |norms| norms.fieldnorm_id(document));
                let taken = lengths.and_then(|lengths| lengths.get(usize::from(length)));
                let count = as_f32(count);
                weight * count / (count + taken.copied().unwrap_or(K1))
            };
            let (first, here) = between(chosen.numbers(), list.segment.numbers());
            let option = IndexRecordOption::WithFreqs;
            if list.is_long_beside(here) {
                list.look_up(option, here, |place, count| {
                    if let Some(number) = here.get(place) {
                        take(first + place, score(number - base, count));
                    }
                })?;
            } else {
                list.each(option, |document, count| {
                    if let Some(place) = chosen.place(base + document) {
                        take(place, score(document, count));
                    }
                })?;
            }
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
}

impl Segment {
    /// Documents that have a word and are not deleted.
    pub(super) fn records(&self, inverted: &InvertedIndexReader, info: &TermInfo) -> io::Result<u32> {
        let list = List {
            segment: self,
            inverted,
            info,
        };
        let deleted = self.deleted();
        let mut count = info.doc_freq;
        if list.is_long_beside(deleted) {
            list.look_up(IndexRecordOption::Basic, deleted, |_, _| count -= 1)?;
        } else if !deleted.is_empty() {
            count = 0;
            list.each(IndexRecordOption::Basic, |_, _| count += 1)?;
        }
        Ok(count)
    }
}

impl List<'_> {
    /// Whether these documents are few beside it.
    fn is_long_beside(&self, documents: &[Number]) -> bool {
        documents.len() * LOOK_UP < self.info.doc_freq as usize
    }

    fn blocks(&self, option: IndexRecordOption) -> io::Result<BlockSegmentPostings> {
        self.inverted.read_block_postings_from_terminfo(self.info, option)
    }

    /// Each document, and how often it says the word (1 unless `option` asks for that).
    fn each(&self, option: IndexRecordOption, mut take: impl FnMut(DocId, u32)) -> io::Result<()> {
        let mut block = self.blocks(option)?;
        let alive = self.segment.reader.alive_bitset();
        while block.block_len() > 0 {
            let said = block
                .docs()
                .iter()
                .enumerate()
                .map(|(at, document)| (*document, block.freq(at)));
            match alive {
                None => said.for_each(|(document, count)| take(document, count)),
                Some(alive) => said
                    .filter(|(document, _)| alive.is_alive(*document))
                    .for_each(|(document, count)| take(document, count)),
            }
            block.advance();
        }
        Ok(())
    }

    fn add_to(&self, said: &mut Numbers) -> io::Result<()> {
        let base = self.segment.base;
        if self.segment.reader.has_deletes() {
            return self.each(IndexRecordOption::Basic, |document, _| {
                said.insert(base + document);
            });
        }
        let mut block = self.blocks(IndexRecordOption::Basic)?;
        while block.block_len() > 0 {
            said.insert_all(base, block.docs());
            block.advance();
        }
        Ok(())
    }

    /// Hands over the places of those among ascending numbers that have the word, and how often they say it. Deleted ones
    /// are found too.
    fn look_up(
        &self,
        option: IndexRecordOption,
        among: &[Number],
        mut take: impl FnMut(usize, u32),
    ) -> io::Result<()> {
        let mut block = self.blocks(option)?;
        for (place, number) in among.iter().enumerate() {
            let document = number - self.segment.base;
            let at = block.seek(document);
            if block.doc(at) == document {
                take(place, block.freq(at));
            }
        }
        Ok(())
    }
}

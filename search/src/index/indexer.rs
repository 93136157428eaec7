//! The writer of the index. It lives in memory: nothing is written to disk, and a start builds it from the database.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use tantivy::indexer::LogMergePolicy;
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term};

use super::document::{SearchDoc, comparable_code};
use super::facet_values::{CombinationNumber, FacetValues};
use super::fields::{self, FieldText, Fields};
use super::search_index::SearchIndex;
use super::snapshot::Snapshot;
use crate::analysis::{ANALYZER, Analyzer};
use crate::error::SearchError;

/// Memory of the one indexing thread, in bytes. Some thousands of records fit, so that a start makes one segment of them.
const WRITER_MEMORY_BYTES: usize = 64 * 1024 * 1024;

/// A segment is written anew when this share of its documents is deleted: deleted ones cost time in every query.
const MAX_DELETED_SHARE: f32 = 0.05;
/// So many segments of similar size become one.
const SEGMENTS_TO_MERGE: usize = 4;

/// Names one published revision of one record for ever: its seq in the feed.
pub type Slot = u64;

/// A change of what is searched.
#[derive(Debug)]
pub enum Edit {
    Add(Slot, Arc<SearchDoc>),
    Remove(Slot),
}

/// Keeps the index up to date. One for each process.
pub struct Indexer {
    writer: IndexWriter,
    reader: IndexReader,
    fields: Arc<Fields>,
    records: HashMap<Slot, (Arc<SearchDoc>, CombinationNumber)>,
    facets: Arc<FacetValues>,
}

impl Indexer {
    /// An empty index.
    pub fn new() -> Result<Self, SearchError> {
        let (schema, fields) = fields::build();
        let index = Index::create_in_ram(schema);
        index.tokenizers().register(ANALYZER, Analyzer::default());
        let writer = index.writer_with_num_threads(1, WRITER_MEMORY_BYTES)?;
        let mut policy = LogMergePolicy::default();
        policy.set_del_docs_ratio_before_merge(MAX_DELETED_SHARE);
        policy.set_min_num_segments(SEGMENTS_TO_MERGE);
        writer.set_merge_policy(Box::new(policy));
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        Ok(Self {
            writer,
            reader,
            fields: Arc::new(fields),
            records: HashMap::new(),
            facets: Arc::default(),
        })
    }

    /// Takes one change in, as of the next commit. For an error see [`Self::add`].
    pub fn edit(&mut self, edit: Edit) -> Result<(), SearchError> {
        match edit {
            Edit::Add(slot, document) => self.add(slot, document),
            Edit::Remove(slot) => {
                self.remove(slot);
                Ok(())
            }
        }
    }

    /// Deletes a revision, as of the next commit.
    pub fn remove(&mut self, slot: Slot) {
        if self.records.remove(&slot).is_some() {
            self.writer
                .delete_term(Term::from_field_u64(self.fields.slot, slot));
        }
    }

    /// Adds a revision, as of the next commit. A thread of the writer indexes it meanwhile.
    ///
    /// After an error make a new indexer: how much of the change the writer took is not known.
    pub fn add(&mut self, slot: Slot, document: Arc<SearchDoc>) -> Result<(), SearchError> {
        let facets = self.facets.combination_of(&document);
        let indexed = indexed(slot, &document, &self.fields);
        self.writer.add_document(indexed)?;
        self.records.insert(slot, (document, facets));
        Ok(())
    }

    /// Commits what was added and removed, and gives the snapshot after it. `prior` is the factor that a record's score
    /// has whatever is asked, 1 for none. For an error see [`Self::add`].
    pub fn commit(&mut self, prior: impl Fn(&SearchDoc) -> f32) -> Result<SearchIndex, SearchError> {
        Ok(SearchIndex::of(self.take_in(prior)?))
    }

    pub(super) fn take_in(&mut self, prior: impl Fn(&SearchDoc) -> f32) -> Result<Snapshot, SearchError> {
        self.writer.commit()?;
        self.reader.reload()?;
        let snapshot = Snapshot::open(
            self.reader.searcher(),
            Arc::clone(&self.fields),
            &self.records,
            Arc::clone(&self.facets),
            prior,
        )?;
        Ok(snapshot)
    }
}

/// A record as tantivy takes it.
pub(super) fn indexed(slot: Slot, document: &SearchDoc, fields: &Fields) -> TantivyDocument {
    let mut indexed = TantivyDocument::new();
    indexed.add_u64(fields.slot, slot);
    let codes = document.codes.iter().map(String::as_str);
    for code in codes.chain([document.id.as_str()]) {
        indexed.add_text(fields.code, comparable_code(code));
    }
    for (text, field) in &fields.texts {
        for value in FieldText::of(*text, document) {
            indexed.add_text(*field, value);
            indexed.add_text(fields.every, value);
            if text.names_the_error() {
                indexed.add_text(fields.names, value);
            }
        }
    }
    indexed
}

impl fmt::Debug for Indexer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexer")
            .field("records", &self.records.len())
            .finish_non_exhaustive()
    }
}

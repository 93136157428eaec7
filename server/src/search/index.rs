//! The index in memory: one writer that follows the feed, and snapshots that never change.
//!
//! A change replaces single documents and commits; readers keep the snapshot of their generation. Nothing is
//! written to disk, so nothing pasted can be, and a start builds it anew from the database.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use tantivy::indexer::NoMergePolicy;
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term};

use super::cut::{CUT, Cut, CutTokenizer, each_once};
use super::document::{SearchDoc, comparable_code};
use super::error::SearchError;
use super::facets::Values;
use super::schema::{self, Fields, Text};
use super::segments::{Segment, to_join};
use super::view::{Indexed, Known, View};

/// Most memory of the one writer thread, which takes what it needs: thousands of records fit, so that a start makes one
/// segment of them and has none to join.
const WRITER_MEMORY_BYTES: usize = 64 * 1024 * 1024;

/// A number that names one published face of a record for ever: its seq in the feed.
pub type Slot = u64;

/// Keeps the index up to date. One for each process.
pub struct IndexKeeper {
    index: Index,
    writer: IndexWriter,
    reader: IndexReader,
    fields: Arc<Fields>,
    documents: HashMap<Slot, Arc<Indexed>>,
    values: Arc<Values>,
    /// Room for the words of one text, used again for the next.
    cut: Cut,
    /// What was read of the segments of the generation before.
    known: Known,
    /// That generation, while it is asked.
    latest: Weak<View>,
}

/// The index as of one generation.
#[derive(Clone)]
pub struct SearchIndex {
    pub(super) view: Arc<View>,
    pub(super) fields: Arc<Fields>,
}

impl IndexKeeper {
    /// An empty index.
    pub fn new() -> Result<Self, SearchError> {
        let (schema, fields) = schema::build();
        let index = Index::create_in_ram(schema);
        index.tokenizers().register(CUT, CutTokenizer);
        let writer = index.writer_with_num_threads(1, WRITER_MEMORY_BYTES)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        Ok(Self {
            index,
            writer,
            reader,
            fields: Arc::new(fields),
            documents: HashMap::new(),
            values: Arc::default(),
            cut: Cut::default(),
            known: Known::new(),
            latest: Weak::new(),
        })
    }

    /// Takes a face out, as of the next snapshot.
    pub fn remove(&mut self, slot: Slot) {
        if self.documents.remove(&slot).is_some() {
            self.writer
                .delete_term(Term::from_field_u64(self.fields.slot, slot));
        }
    }

    /// Puts a face in, as of the next snapshot. The index takes it in on a thread of its own.
    ///
    /// After an error the index is as uncertain as its writer: make a new one.
    pub fn add(&mut self, slot: Slot, document: Arc<SearchDoc>) -> Result<(), SearchError> {
        let indexed = self.index_document(slot, &document);
        self.writer.add_document(indexed)?;
        let face = self.values.number(&document);
        self.documents.insert(slot, Arc::new(Indexed { document, face }));
        Ok(())
    }

    /// Takes faces out and puts others in, and gives the snapshot after that.
    pub fn apply(
        &mut self,
        remove: impl IntoIterator<Item = Slot>,
        add: impl IntoIterator<Item = (Slot, Arc<SearchDoc>)>,
    ) -> Result<SearchIndex, SearchError> {
        for slot in remove {
            self.remove(slot);
        }
        for (slot, document) in add {
            self.add(slot, document)?;
        }
        self.commit()
    }

    /// The snapshot after what was taken out and put in. After an error make a new one, as after one of [`Self::add`].
    pub fn commit(&mut self) -> Result<SearchIndex, SearchError> {
        self.writer.commit()?;
        self.join_segments()?;
        self.reader.reload()?;
        let searcher = self.reader.searcher();
        let values = Arc::clone(&self.values);
        let view = View::open(&searcher, &self.fields, &self.documents, values, &self.known)?;
        self.known = view.known();
        if let Some(latest) = self.latest.upgrade() {
            view.weigh_as(&latest)?;
        }
        let view = Arc::new(view);
        self.latest = Arc::downgrade(&view);
        Ok(SearchIndex {
            view,
            fields: Arc::clone(&self.fields),
        })
    }

    /// Waits until what is worth it is one segment.
    fn join_segments(&mut self) -> Result<(), SearchError> {
        let segments = self.index.searchable_segment_metas()?;
        let sizes = segments.iter().map(|segment| Segment {
            documents: segment.max_doc(),
            deleted: segment.num_deleted_docs(),
        });
        let joined = to_join(&sizes.collect::<Vec<_>>());
        let places = segments.iter().zip(joined).filter(|(_, joined)| *joined);
        let ids: Vec<_> = places.map(|(segment, _)| segment.id()).collect();
        if !ids.is_empty() {
            self.writer.merge(&ids).wait()?;
        }
        Ok(())
    }

    /// Each text is cut once for all the fields that hold its words.
    fn index_document(&mut self, slot: Slot, document: &SearchDoc) -> TantivyDocument {
        let mut indexed = TantivyDocument::new();
        indexed.add_u64(self.fields.slot, slot);
        for code in &document.codes {
            indexed.add_text(self.fields.code, comparable_code(code));
        }
        let mut all = String::new();
        for entry in &self.fields.texts {
            for text in entry.text.of(document) {
                self.cut.cut(text);
                indexed.add_text(entry.field, self.cut.words.joined());
                if entry.text.holds_code_words() || entry.text == Text::Id {
                    indexed.add_text(self.fields.parts, self.cut.parts.joined());
                }
                self.cut.words.join_to(&mut all);
                self.cut.parts.join_to(&mut all);
            }
        }
        indexed.add_text(self.fields.every, each_once(&all));
        indexed
    }
}

impl SearchIndex {
    /// Number of records.
    pub fn len(&self) -> usize {
        self.view.len() as usize
    }

    /// True when nothing is published.
    pub fn is_empty(&self) -> bool {
        self.view.len() == 0
    }
}

impl fmt::Debug for IndexKeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexKeeper")
            .field("documents", &self.documents.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchIndex")
            .field("documents", &self.len())
            .finish_non_exhaustive()
    }
}

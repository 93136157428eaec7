//! An index of texts that were carried to another program, a browser's tab for one: built there, in one segment, without a thread.
//! The texts take less to carry than the index of them.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tantivy::directory::RamDirectory;
use tantivy::tokenizer::TokenizerManager;
use tantivy::{Index, IndexReader, IndexSettings, ReloadPolicy};

use super::document::SearchDoc;
use super::facet_values::FacetValues;
use super::fields;
use super::indexer::{Slot, indexed};
use super::search_index::SearchIndex;
use super::snapshot::Snapshot;
use crate::analysis::{ANALYZER, Analyzer};
use crate::error::SearchError;

/// Memory that the writer may take, in bytes, for records of one segment: several times of what thousands need.
const WRITER_MEMORY_BYTES: usize = 256 * 1024 * 1024;

/// A record in an index that is carried.
#[derive(Debug, Serialize, Deserialize)]
pub struct CarriedDoc {
    /// Its texts.
    pub document: SearchDoc,
    /// The factor that its score has whatever is asked, 1 for none.
    pub prior: f32,
}

/// Builds an index of these records on this thread. It ranks as the one that they were taken from.
pub fn of_documents(documents: Vec<CarriedDoc>) -> Result<SearchIndex, SearchError> {
    let (schema, fields) = fields::build();
    let tokenizers = TokenizerManager::default();
    tokenizers.register(ANALYZER, Analyzer::default());
    let settings = IndexSettings {
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    let builder = Index::builder()
        .schema(schema)
        .settings(settings)
        .tokenizers(tokenizers);
    let mut writer = builder.single_segment_index_writer(RamDirectory::create(), WRITER_MEMORY_BYTES)?;
    let mut facets = Arc::<FacetValues>::default();
    let mut by_slot = HashMap::new();
    let mut priors = HashMap::new();
    for (slot, CarriedDoc { document, prior }) in (0..).zip(documents) {
        let slot: Slot = slot;
        writer.add_document(indexed(slot, &document, &fields))?;
        priors.insert(document.id.clone(), prior);
        let combination = facets.combination_of(&document);
        by_slot.insert(slot, (Arc::new(document), combination));
    }
    let index = writer.finalize()?;
    let reader: IndexReader = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .try_into()?;
    let prior = |document: &SearchDoc| priors.get(&document.id).copied().unwrap_or(1.0);
    let snapshot = Snapshot::open(reader.searcher(), Arc::new(fields), &by_slot, facets, prior)?;
    Ok(SearchIndex::of(snapshot))
}

//! The index as of one generation. It never changes.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet as _, Searcher, SegmentReader, Term};

use super::document::SearchDoc;
use super::facet_values::{CombinationNumber, FacetValues};
use super::fields::Fields;
use super::indexer::Slot;

/// What queries read.
///
/// It is the source of BM25 statistics, too: tantivy's own count deleted documents until a merge drops them. These
/// count living documents only, so that an index built by steps scores as one that is built at once.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) searcher: Searcher,
    pub(crate) fields: Arc<Fields>,
    pub(crate) facets: Arc<FacetValues>,
    /// By segment, then by document; `None` for deleted ones.
    records: Vec<Vec<Option<Entry>>>,
    /// Documents that no merge has dropped yet, by segment, in order.
    deleted: Vec<Vec<DocId>>,
    /// Tokens of living documents, by field number.
    tokens: Vec<u64>,
}

#[derive(Debug, Clone)]
struct Entry {
    document: Arc<SearchDoc>,
    facets: CombinationNumber,
    prior: f32,
}

impl Snapshot {
    /// Opens what a searcher sees. `by_slot` holds all living records.
    pub(super) fn open(
        searcher: Searcher,
        fields: Arc<Fields>,
        by_slot: &HashMap<Slot, (Arc<SearchDoc>, CombinationNumber)>,
        facets: Arc<FacetValues>,
        prior: impl Fn(&SearchDoc) -> f32,
    ) -> tantivy::Result<Self> {
        let mut records = Vec::new();
        let mut deleted = Vec::new();
        let mut tokens = vec![0; searcher.schema().num_fields()];
        for segment in searcher.segment_readers() {
            let slots = segment.fast_fields().u64("slot")?.first_or_default_col(0);
            let mut of_segment = vec![None; segment.max_doc() as usize];
            let mut deleted_of_segment = Vec::new();
            for (document, record) in (0..).zip(&mut of_segment) {
                if segment.is_deleted(document) {
                    deleted_of_segment.push(document);
                } else {
                    let found = by_slot.get(&slots.get_val(document));
                    *record = found.map(|(document, facets)| Entry {
                        document: Arc::clone(document),
                        facets: *facets,
                        prior: prior(document),
                    });
                }
            }
            records.push(of_segment);
            deleted.push(deleted_of_segment);
            for (_, field) in &fields.texts {
                if let Some(total) = tokens.get_mut(field.field_id() as usize) {
                    *total += living_tokens(segment, *field)?;
                }
            }
        }
        Ok(Self {
            searcher,
            fields,
            facets,
            records,
            deleted,
            tokens,
        })
    }

    pub(crate) fn documents(&self) -> usize {
        usize::try_from(self.searcher.num_docs()).unwrap_or(usize::MAX)
    }

    pub(crate) fn document(&self, address: DocAddress) -> Option<&SearchDoc> {
        self.entry(address).map(|entry| entry.document.as_ref())
    }

    /// The factor of a document's score whatever is asked.
    pub(crate) fn prior(&self, address: DocAddress) -> f32 {
        self.entry(address).map_or(1.0, |entry| entry.prior)
    }

    /// The combination of facet values of a document.
    pub(crate) fn combination(&self, address: DocAddress) -> CombinationNumber {
        self.entry(address).map_or(0, |entry| entry.facets)
    }

    fn entry(&self, address: DocAddress) -> Option<&Entry> {
        let segment = self.records.get(address.segment_ord as usize)?;
        segment.get(address.doc_id as usize)?.as_ref()
    }

    pub(crate) fn documents_with(&self, field: Field, token: &str) -> tantivy::Result<u64> {
        self.doc_freq(&Term::from_field_text(field, token))
    }

    /// True where some document, living or deleted, contains a term.
    pub(crate) fn contains(&self, term: &Term) -> tantivy::Result<bool> {
        for segment in self.searcher.segment_readers() {
            let inverted = segment.inverted_index(term.field())?;
            if inverted.get_term_info(term)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(crate) fn is_scored_text(&self, field: Field) -> bool {
        self.fields.texts.iter().any(|(_, scored)| *scored == field)
    }

    /// Inverse document frequency as BM25 has it (Robertson and Zaragoza 2009): ln(1 + (N - n + 0.5) / (n + 0.5)).
    pub(crate) fn idf(&self, documents_with_token: u64) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a logarithm of it")]
        let (all, with) = (self.searcher.num_docs() as f32, documents_with_token as f32);
        (1.0 + (all - with + 0.5).max(0.0) / (with + 0.5)).ln()
    }
}

/// Tokens that a field has in living documents, by the lengths that the index keeps.
fn living_tokens(segment: &SegmentReader, field: Field) -> tantivy::Result<u64> {
    let norms: FieldNormReader = segment.get_fieldnorms_reader(field)?;
    let lengths = segment.doc_ids_alive().map(|document| norms.fieldnorm(document));
    Ok(lengths.map(u64::from).sum())
}

impl Bm25StatisticsProvider for Snapshot {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let tokens = self.tokens.get(field.field_id() as usize);
        Ok(tokens.copied().unwrap_or_default())
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.searcher.num_docs())
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        // One document frequency for all fields: a word that is rare in titles and common elsewhere is a common word.
        let in_every_text =
            Term::from_field_text(self.fields.every, term.value().as_str().unwrap_or_default());
        let term = if self.is_scored_text(term.field()) {
            &in_every_text
        } else {
            term
        };
        let mut documents = 0;
        for (segment, deleted) in self.searcher.segment_readers().iter().zip(&self.deleted) {
            let inverted = segment.inverted_index(term.field())?;
            let Some(info) = inverted.get_term_info(term)? else {
                continue;
            };
            documents += u64::from(info.doc_freq);
            if !deleted.is_empty() {
                let mut postings = inverted.read_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
                let contain = deleted.iter().filter(|document| {
                    if postings.doc() < **document {
                        postings.seek(**document);
                    }
                    postings.doc() == **document
                });
                documents -= contain.count() as u64;
            }
        }
        Ok(documents)
    }
}

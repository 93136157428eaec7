//! The best documents of a candidate set, in order.

use std::cmp::Ordering;

use tantivy::query::{BooleanQuery, Occur, Query};
use tantivy::{DocAddress, Term};

use super::document_list::DocumentListQuery;
use super::relevance::relevance;
use super::scored_documents::ScoredDocuments;
use super::statistics::QueryStatistics;
use crate::search::index::Snapshot;
use crate::search::query::ParsedQuery;

/// What the first of the records that stand before all others has, and how much less each further one.
const FIRST: f32 = 100_000.0;
const FIRST_STEP: f32 = 1_000.0;

/// The `count` best of these documents, best first; equal scores by id. Documents of `first` stand before all others, in
/// its order.
pub(in crate::search) fn top_k(
    snapshot: &Snapshot,
    query: &ParsedQuery,
    first: &[Term],
    documents: Vec<DocAddress>,
    count: usize,
) -> tantivy::Result<Vec<(f32, DocAddress)>> {
    let mut clauses = relevance(snapshot, query)?;
    for (term, place) in first.iter().zip(0_u8..) {
        let score = FIRST - FIRST_STEP * f32::from(place);
        clauses.push((
            Occur::Should,
            super::coverage::constant([term.clone()].into_iter(), score),
        ));
    }
    let mut scored: Vec<(f32, DocAddress)> = if clauses.is_empty() {
        documents.into_iter().map(|address| (0.0, address)).collect()
    } else {
        let list = DocumentListQuery::new(&snapshot.searcher, documents);
        clauses.push((Occur::Must, Box::new(list) as Box<dyn Query>));
        let all = ScoredDocuments { at_least: f32::MIN };
        let scored_by = BooleanQuery::new(clauses);
        let statistics = QueryStatistics::new(snapshot, query);
        snapshot
            .searcher
            .search_with_statistics_provider(&scored_by, &all, &statistics)?
    };
    for (score, address) in &mut scored {
        *score *= snapshot.prior(*address);
    }
    let better = |one: &(f32, DocAddress), other: &(f32, DocAddress)| -> Ordering {
        let id = |address: DocAddress| snapshot.document(address).map(|document| &document.id);
        let by_score = other.0.total_cmp(&one.0);
        by_score.then_with(|| id(one.1).cmp(&id(other.1)))
    };
    if count < scored.len() {
        scored.select_nth_unstable_by(count, better);
        scored.truncate(count);
    }
    scored.sort_unstable_by(better);
    Ok(scored)
}

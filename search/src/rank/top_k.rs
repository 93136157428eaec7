//! The best documents of a candidate set, in order.

use std::cmp::Ordering;

use kb_core::ids::RecordId;
use tantivy::DocAddress;
use tantivy::query::BooleanQuery;

use super::coverage::Coverage;
use super::relevance::relevance;
use super::scored_documents::ScoredDocuments;
use super::statistics::QueryStatistics;
use super::weights::{COVERAGE, SHORT_QUERY};
use crate::index::Snapshot;
use crate::query::ParsedQuery;

/// The `count` best of these documents, best first; equal scores by id. Documents of `first` stand before all others, in
/// its order. What a document covers of the query and what it scores are both in the order of the index.
pub(crate) fn top_k(
    snapshot: &Snapshot,
    query: &ParsedQuery,
    first: &[RecordId],
    documents: Coverage,
    count: usize,
) -> tantivy::Result<Vec<(f32, DocAddress)>> {
    let scored_by = BooleanQuery::new(relevance(snapshot, query)?);
    let statistics = QueryStatistics::new(snapshot, query);
    let searcher = &snapshot.searcher;
    let relevant = searcher.search_with_statistics_provider(&scored_by, &ScoredDocuments, &statistics)?;
    let mut relevant = relevant.into_iter().peekable();
    let mut scored = documents;
    for (score, address) in &mut scored {
        *score *= COVERAGE;
        while relevant.next_if(|(_, other)| other < address).is_some() {}
        if let Some((relevance, _)) = relevant.next_if(|(_, other)| other == address) {
            *score += relevance;
        }
    }
    let generality = generality_share(query.asked);
    for (score, address) in &mut scored {
        *score *= 1.0 + generality * (snapshot.prior(*address) - 1.0);
    }
    let id = |address: DocAddress| snapshot.document(address).map(|document| &document.id);
    let place = |address: DocAddress| {
        let place = first.iter().position(|first| Some(first) == id(address));
        place.unwrap_or(first.len())
    };
    let better = |one: &(f32, DocAddress), other: &(f32, DocAddress)| -> Ordering {
        let by_place = place(one.1).cmp(&place(other.1));
        by_place
            .then_with(|| other.0.total_cmp(&one.0))
            .then_with(|| id(one.1).cmp(&id(other.1)))
    };
    if count < scored.len() {
        scored.select_nth_unstable_by(count, better);
        scored.truncate(count);
    }
    scored.sort_unstable_by(better);
    Ok(scored)
}

/// How much of the prior counts: one or two words ask for an error's general record, a program's name for its own.
fn generality_share(asked: f32) -> f32 {
    (SHORT_QUERY / asked.max(SHORT_QUERY)).clamp(0.0, 1.0)
}

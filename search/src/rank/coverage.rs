//! How much of a query each document covers: the sum of the idf of the terms that it contains.

use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, Term};

use super::scored_documents::ScoredDocuments;
use crate::index::Snapshot;
use crate::query::QueryTerm;

/// Sums of floats depend on their order by less than this.
pub(super) const SLACK: f32 = 1e-4;

/// Documents with the part of the query that each covers, in idf.
pub(crate) type Coverage = Vec<(f32, DocAddress)>;

/// Documents that contain, in a field, terms whose idf comes to `at_least`, and documents that contain one of
/// `always`, terms that admit a document alone.
pub(crate) fn covered<'q>(
    snapshot: &Snapshot,
    field: Field,
    terms: impl IntoIterator<Item = &'q QueryTerm>,
    always: impl IntoIterator<Item = Term>,
    at_least: f32,
) -> tantivy::Result<Coverage> {
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    for term in terms {
        let tokens = term.all_tokens().map(|token| Term::from_field_text(field, token));
        clauses.push((Occur::Should, constant(tokens, term.idf)));
    }
    for term in always {
        clauses.push((Occur::Should, constant([term].into_iter(), at_least)));
    }
    let any = BooleanQuery::new(clauses);
    let searcher = &snapshot.searcher;
    let mut found = searcher.search_with_statistics_provider(&any, &ScoredDocuments, snapshot)?;
    found.retain(|(covered, _)| *covered >= at_least * (1.0 - SLACK));
    Ok(found)
}

/// Documents that contain any of the terms, all with one score.
pub(super) fn constant(terms: impl Iterator<Item = Term>, score: f32) -> Box<dyn Query> {
    let queries =
        terms.map(|term| Box::new(TermQuery::new(term, IndexRecordOption::Basic)) as Box<dyn Query>);
    let any = BooleanQuery::union(queries.collect());
    Box::new(ConstScoreQuery::new(Box::new(any), score))
}

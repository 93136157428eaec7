//! The scoring query: BM25 over boosted fields.

use tantivy::Term;
use tantivy::query::{BoostQuery, DisjunctionMaxQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::IndexRecordOption;

use super::coverage::constant;
use super::weights::{CODE, COMPLETION, OTHER_FIELDS, PHRASE, boost};
use crate::index::Snapshot;
use crate::query::{ParsedQuery, QueryTerm};

/// Every part of the query as an optional clause; scores add up. Coverage is not among them: the candidate set knows it.
pub(super) fn relevance(
    snapshot: &Snapshot,
    query: &ParsedQuery,
) -> tantivy::Result<Vec<(Occur, Box<dyn Query>)>> {
    let mut clauses = Vec::new();
    for term in &query.terms {
        clauses.extend(term_query(snapshot, term)?.map(|query| (Occur::Should, query)));
    }
    for phrase in &query.phrases {
        clauses.extend(phrase_query(snapshot, phrase).map(|query| (Occur::Should, query)));
    }
    for code in &query.codes {
        let term = Term::from_field_text(snapshot.fields.code, code);
        clauses.push((Occur::Should, constant([term].into_iter(), CODE)));
    }
    Ok(clauses)
}

/// Fields of which no document contains a token are left out.
fn term_query(snapshot: &Snapshot, term: &QueryTerm) -> tantivy::Result<Option<Box<dyn Query>>> {
    let mut fields: Vec<Box<dyn Query>> = Vec::new();
    for token in &term.tokens {
        for (text, field) in &snapshot.fields.texts {
            let in_field = Term::from_field_text(*field, &token.text);
            if snapshot.contains(&in_field)? {
                let query = TermQuery::new(in_field, IndexRecordOption::WithFreqs);
                let weight = boost(*text) * token.weight;
                fields.push(Box::new(BoostQuery::new(Box::new(query), weight)));
            }
        }
    }
    if !term.completions.is_empty() {
        let tokens = term.completions.iter();
        let tokens = tokens.map(|token| Term::from_field_text(snapshot.fields.every, token));
        fields.push(constant(tokens, COMPLETION * term.idf));
    }
    Ok(best_of(fields))
}

/// The best of these queries counts, the others add a little.
fn best_of(queries: Vec<Box<dyn Query>>) -> Option<Box<dyn Query>> {
    let is_any = !queries.is_empty();
    is_any.then(|| Box::new(DisjunctionMaxQuery::with_tie_breaker(queries, OTHER_FIELDS)) as Box<dyn Query>)
}

fn phrase_query(snapshot: &Snapshot, words: &[String]) -> Option<Box<dyn Query>> {
    let texts = snapshot.fields.texts.iter();
    let queries = texts
        .filter(|(text, _)| text.names_the_error())
        .map(|(_, field)| {
            let terms = words.iter().map(|word| Term::from_field_text(*field, word));
            let query = Box::new(PhraseQuery::new(terms.collect()));
            Box::new(BoostQuery::new(query, PHRASE)) as Box<dyn Query>
        });
    best_of(queries.collect())
}

//! The scoring query: BM25 over boosted fields.

use tantivy::Term;
use tantivy::query::{BooleanQuery, BoostQuery, DisjunctionMaxQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::IndexRecordOption;

use super::coverage::constant;
use crate::search::index::Snapshot;
use crate::search::query::{ParsedQuery, QueryTerm};

/// A record whose code is named stands before every record that only mentions it.
const CODE: f32 = 1000.0;
/// What the fields of a term beside the best one add (the tie-breaker of dis-max).
const OTHER_FIELDS: f32 = 0.2;
/// What a term adds wherever it stands, in idf: documents that contain more of the query stand before those that say a part of
/// it in a better place.
const COVERAGE: f32 = 3.0;
/// Boost of a phrase beside its words.
const PHRASE: f32 = 4.0;
/// Score of a completion, in idf of the set.
const COMPLETION: f32 = 1.5;

/// Every part of the query as an optional clause; the scores add up.
pub(super) fn relevance(
    snapshot: &Snapshot,
    query: &ParsedQuery,
) -> tantivy::Result<Vec<(Occur, Box<dyn Query>)>> {
    let mut clauses = Vec::new();
    for term in &query.terms {
        clauses.push((Occur::Should, term_query(snapshot, term)?));
    }
    for phrase in &query.phrases {
        clauses.push((Occur::Should, phrase_query(snapshot, phrase)));
    }
    for code in &query.codes {
        let term = Term::from_field_text(snapshot.fields.code, code);
        clauses.push((Occur::Should, constant([term].into_iter(), CODE)));
    }
    Ok(clauses)
}

/// The best field counts, the others add a little. Fields of which no document contains a token are left out.
fn term_query(snapshot: &Snapshot, term: &QueryTerm) -> tantivy::Result<Box<dyn Query>> {
    let mut fields: Vec<Box<dyn Query>> = Vec::new();
    for token in &term.tokens {
        for (text, field) in &snapshot.fields.texts {
            let in_field = Term::from_field_text(*field, &token.text);
            if snapshot.contains(&in_field)? {
                let query = TermQuery::new(in_field, IndexRecordOption::WithFreqs);
                let boost = text.boost() * token.weight;
                fields.push(Box::new(BoostQuery::new(Box::new(query), boost)));
            }
        }
    }
    let every = snapshot.fields.every;
    if !term.completions.is_empty() {
        let tokens = term.completions.iter();
        let tokens = tokens.map(|token| Term::from_field_text(every, token));
        fields.push(constant(tokens, COMPLETION * term.idf));
    }
    let best = Box::new(DisjunctionMaxQuery::with_tie_breaker(fields, OTHER_FIELDS));
    let tokens = term.all_tokens();
    let tokens = tokens.map(|token| Term::from_field_text(every, token));
    Ok(Box::new(BooleanQuery::union(vec![
        best,
        constant(tokens, COVERAGE * term.idf),
    ])))
}

fn phrase_query(snapshot: &Snapshot, words: &[String]) -> Box<dyn Query> {
    let fields = snapshot.fields.texts.iter();
    let fields = fields.filter(|(text, _)| text.names_the_error());
    let queries = fields.map(|(_, field)| {
        let terms = words.iter().map(|word| Term::from_field_text(*field, word));
        let query = PhraseQuery::new(terms.collect());
        Box::new(BoostQuery::new(Box::new(query), PHRASE)) as Box<dyn Query>
    });
    Box::new(DisjunctionMaxQuery::with_tie_breaker(
        queries.collect(),
        OTHER_FIELDS,
    ))
}

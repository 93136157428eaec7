//! The scoring query: BM25 over boosted fields.

use tantivy::Term;
use tantivy::query::{BooleanQuery, BoostQuery, DisjunctionMaxQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::IndexRecordOption;

use super::coverage::constant;
use super::weights::{CODE, COMPLETION, COVERAGE, OTHER_FIELDS, PHRASE, boost};
use crate::search::index::Snapshot;
use crate::search::query::{ParsedQuery, QueryTerm};

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
                let weight = boost(*text) * token.weight;
                fields.push(Box::new(BoostQuery::new(Box::new(query), weight)));
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

//! The candidate set: documents that contain enough of what is asked.

use kb_core::ids::RecordId;
use tantivy::{DocAddress, Term};

use super::coverage::{Coverage, SLACK, covered};
use crate::index::{Snapshot, comparable_code};
use crate::query::{ParsedQuery, QueryTerm};

/// A hit covers at least this share of the query's idf, so that one common word is not enough.
const MIN_COVERAGE: f32 = 0.2;
/// Where no document covers this share, the answer says that its hits are only the nearest.
const ENOUGH: f32 = 0.5;
/// What stands beside a code is a question of its own from this share of the query's idf on.
const MIN_BESIDE_CODE: f32 = 0.3;

/// The hits of a query, before facets are chosen.
#[derive(Debug)]
pub(crate) struct CandidateSet {
    pub(crate) documents: Coverage,
    /// True where no document covers half of the query.
    pub(crate) is_near: bool,
}

impl CandidateSet {
    pub(crate) fn all(snapshot: &Snapshot) -> Self {
        let segments = (0..).zip(snapshot.searcher.segment_readers());
        let documents = segments.flat_map(|(ordinal, segment)| {
            let living = segment.doc_ids_alive();
            living.map(move |document| (0.0, DocAddress::new(ordinal, document)))
        });
        Self {
            documents: documents.collect(),
            is_near: false,
        }
    }

    /// Documents that cover enough of the query, that have a code of it, or that are `first`.
    pub(crate) fn find(
        snapshot: &Snapshot,
        query: &ParsedQuery,
        first: &[RecordId],
    ) -> tantivy::Result<Self> {
        let is_of_code = |term: &&QueryTerm| {
            let mut tokens = term.tokens.iter();
            tokens
                .next()
                .is_some_and(|token| query.words_of_codes.contains(&token.text))
        };
        let sum = |terms: &[&QueryTerm]| terms.iter().map(|term| term.idf).sum::<f32>();
        let all: Vec<&QueryTerm> = query.terms.iter().collect();
        let beside_codes: Vec<&QueryTerm> = all.iter().copied().filter(|term| !is_of_code(term)).collect();
        // A record of what stands beside the code is wanted, too.
        let counted = if sum(&beside_codes) >= MIN_BESIDE_CODE * sum(&all) {
            beside_codes
        } else {
            all
        };
        let asked = sum(&counted);
        let field = snapshot.fields.every;
        let ids = first.iter().map(|id| comparable_code(id.as_str()));
        let always = query.codes.iter().cloned().chain(ids);
        let always = always.map(|code| Term::from_field_text(snapshot.fields.code, &code));
        let always: Vec<Term> = always.collect();
        let has_certain = !always.is_empty();
        let least = MIN_COVERAGE * asked;
        let found = covered(snapshot, field, counted, always, least)?;
        let best = found.iter().map(|(covered, _)| *covered).fold(0.0, f32::max);
        let is_half_unknown = query.unknown.len() > query.terms.len();
        Ok(Self {
            documents: found,
            is_near: !has_certain && (best < ENOUGH * asked * (1.0 - SLACK) || is_half_unknown),
        })
    }
}

//! What each kind of match adds to a score. The values were tuned on the collected queries (docs/benchmarks/evaluation.md).

use crate::index::FieldText;

/// A record whose code is named stands before every record that only mentions it.
pub(super) const CODE: f32 = 1000.0;
/// What the fields of a term beside the best one add (the tie-breaker of dis-max).
pub(super) const OTHER_FIELDS: f32 = 0.2;
/// What a term adds anywhere, in idf: documents with more of the query stand before those with a part in a better place.
pub(super) const COVERAGE: f32 = 3.0;
/// Boost of a phrase beside its words.
pub(super) const PHRASE: f32 = 4.0;
/// Score of a completion, in idf of the set.
pub(super) const COMPLETION: f32 = 1.5;

/// Factor on the BM25 score of a token in this field. A name says more than an explanation.
pub(super) fn boost(text: FieldText) -> f32 {
    match text {
        FieldText::Title | FieldText::Id => 6.0,
        FieldText::AskedAs | FieldText::Signature => 5.0,
        FieldText::Codes => 2.8,
        FieldText::Tags => 2.5,
        FieldText::Examples => 3.0,
        FieldText::RootCause => 0.6,
        FieldText::Workarounds => 2.0,
        FieldText::DeadEnds => 0.8,
    }
}

/// Idf of a query up to which the prior of a record counts in full. Of a longer one it counts in proportion.
pub(super) const SHORT_QUERY: f32 = 10.0;

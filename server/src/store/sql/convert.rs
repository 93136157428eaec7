//! Values on their way into the database and out of it.

use kb_core::ids::Revision;
use kb_core::transition::EdgeKind;
use kb_core::verdict::Verdict;

use super::engine::Cells;
use crate::store::{StoreError, Weight};

/// PostgreSQL keeps no NUL in a text; SQLite would. One answer for both.
pub(super) fn refuse_nul(what: &'static str, text: &str) -> Result<(), StoreError> {
    if text.contains('\0') {
        return Err(StoreError::Unstorable {
            what,
            reason: "it holds a NUL character",
        });
    }
    Ok(())
}

pub(super) fn id_from<T>(text: String) -> Result<T, StoreError>
where
    T: TryFrom<String, Error = kb_core::ids::IdError>,
{
    T::try_from(text).map_err(|error| StoreError::Database(sqlx::Error::Decode(error.into())))
}

pub(super) fn kind_from(word: &str) -> Result<EdgeKind, StoreError> {
    [
        EdgeKind::LeadsTo,
        EdgeKind::PrecededBy,
        EdgeKind::FrequentlyConfusedWith,
    ]
    .into_iter()
    .find(|kind| kind.as_str() == word)
    .ok_or_else(|| unreadable("edge kind", word))
}

pub(super) fn unreadable(what: &str, word: &str) -> StoreError {
    StoreError::Database(sqlx::Error::Decode(format!("{what} {word:?} is unknown").into()))
}

pub(super) fn revision_from(row: &impl Cells, index: usize) -> Result<Revision, StoreError> {
    Ok(Revision(count_from(row.integer(index)?)?))
}

pub(super) fn maybe_revision_from(row: &impl Cells, index: usize) -> Result<Option<Revision>, StoreError> {
    let number = row.maybe_integer(index)?;
    number.map(|number| Ok(Revision(count_from(number)?))).transpose()
}

/// A number that the store wrote and that is never negative.
pub(super) fn count_from<T: TryFrom<i64>>(number: i64) -> Result<T, StoreError> {
    T::try_from(number).map_err(|_| unreadable("number", &number.to_string()))
}

pub(super) fn verdict_from(word: &str) -> Result<Verdict, StoreError> {
    Verdict::ALL
        .into_iter()
        .find(|verdict| verdict.word() == word)
        .ok_or_else(|| unreadable("verdict", word))
}

pub(super) fn weight_from(word: &str) -> Result<Weight, StoreError> {
    Weight::ALL
        .into_iter()
        .find(|weight| weight.word() == word)
        .ok_or_else(|| unreadable("weight", word))
}

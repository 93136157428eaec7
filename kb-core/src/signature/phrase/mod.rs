//! Phrases: words of an error that many programs print, each in its own way. The record names the words and a set of
//! contexts; what stands around them is known here once for all records.
//!
//! ```text
//! contexts   the named sets: what stands before and after    outline  a phrase's literals, without reading a regex
//! find       where a phrase stands in one of its contexts    check    what may be a phrase
//! ```

mod check;
pub(crate) mod contexts;
mod find;
mod outline;
#[cfg(test)]
mod tests;

pub(crate) use find::{Phrase, PhraseHit};
pub(crate) use outline::{Outline, outline};

use serde::{Deserialize, Serialize};

/// Words of an error, or its numbers, and where they mean it: `{"id": "wrapped", "context": "cuda-error", "text": "an illegal
/// memory access was encountered"}`. They count where one of the context's ways to print them stands around them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhraseSpec {
    /// Short name, unique among the record's patterns and phrases.
    pub id: String,
    /// Name of a set of contexts that this build knows.
    pub context: String,
    /// The words as they are printed, without their surroundings; absent for contexts of numbers. Most contexts read them
    /// apart from ASCII case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The error's numbers, for contexts that print one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<u32>,
}

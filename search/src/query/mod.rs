//! From a user's text to what is asked of the index: terms with their inflections, synonyms and corrections, codes, phrases.
//!
//! There is no query language: any text is a query, and a pasted message is a good one.

mod codes;
mod expansion;
mod message;
mod parse;
mod phrases;
mod spelling;
mod vocabulary;

pub(super) use expansion::QueryTerm;
#[cfg(test)]
pub(super) use expansion::QueryToken;
pub(super) use parse::{ParsedQuery, parse};
pub(super) use vocabulary::Vocabulary;

pub use message::{is_message, recognised};
pub use parse::Correction;

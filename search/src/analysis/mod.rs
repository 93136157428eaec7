//! From text to tokens: code words whole and in parts, Chinese in pairs, synonyms, inflections, stop words.
//!
//! [`Analyzer`] is the tantivy tokenizer of every text field. A query is analyzed by the same functions.

mod analyzer;
mod characters;
mod inflections;
mod stop_words;
mod synonyms;
mod traditional;
mod words;

pub(super) use analyzer::{ANALYZER, Analyzer};
pub(super) use characters::{each_run, is_cjk};
pub(super) use inflections::inflections;
pub(super) use stop_words::{is_misspelt_stop_word, is_stop_word};
pub(super) use synonyms::{Mention, longest_mentions, names_of};
pub(super) use traditional::simplified;
pub(super) use words::{Word, parts, parts_of, words};

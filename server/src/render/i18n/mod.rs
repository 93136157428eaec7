//! The interface's own texts in English and Chinese: the keys of each part of the site here, the texts in the Fluent files of
//! `server/locales`. What records, reports and logs say is shown as it was written, and marked with its language.

#[macro_use]
mod table;

pub mod account;
pub mod answer;
pub mod baseline;
pub mod edit;
pub mod facets;
pub mod failure;
pub mod feedback;
pub mod field;
pub mod files;
pub mod fleet;
pub mod graph;
pub mod history;
pub mod kept;
pub mod lookup;
pub mod moves;
pub mod reason;
pub mod record;
pub mod report;
pub mod search;
pub mod shared;
pub mod site;
pub mod tab;
pub mod terms;
pub mod unmatched;
pub mod workbench;

mod bundle;
mod language;
mod locale;
#[cfg(test)]
pub(crate) mod tests;

pub use language::Language;
pub use locale::Locale;

//! What a record says, for a column beside another record's.

use kb_core::record::Record;

use crate::feed::{Generation, PublishedRecord};
use crate::render::i18n::{Locale, moves::Words};
use crate::render::record::neighbours::groups;
use crate::render::record::texts;
use crate::render::words::record_href;
use crate::store::Vote;

#[derive(Debug)]
pub(super) struct Side {
    pub(super) id: String,
    pub(super) href: String,
    pub(super) edit_href: String,
    /// What is compared: a title and its values.
    pub(super) title: String,
    pub(super) signature: String,
    pub(super) codes: Vec<String>,
    pub(super) patterns: Vec<String>,
    /// Edges that its document states.
    pub(super) states: Vec<String>,
    /// Edges of others that end in it.
    pub(super) named_by: Vec<String>,
    pub(super) votes: String,
}

pub(super) fn side(
    published: &PublishedRecord,
    generation: &Generation,
    votes: &[Vote],
    locale: Locale,
) -> Side {
    let words = Words::of(locale.language);
    let record: &Record = &published.record;
    let id = record.id();
    let href = record_href(id.as_str());
    let (mut states, mut named_by) = (Vec::new(), Vec::new());
    for group in groups(id, &generation.graph.neighbours(id), locale) {
        let told = |id: &str| format!("{}: {id}", group.title);
        states.extend(group.items.iter().map(|one| told(&one.id)));
        named_by.extend(group.elsewhere.iter().map(|one| told(&one.id)));
    }
    Side {
        id: id.to_string(),
        edit_href: locale.href(format!("{href}/-/edit")),
        href: locale.href(href),
        title: texts::heading(record, locale.language).text,
        signature: record.document.signature.clone(),
        codes: published.codes.clone(),
        patterns: record
            .patterns()
            .into_iter()
            .map(|pattern| pattern.regex)
            .collect(),
        states,
        named_by,
        votes: words.vote_count(votes.len() as u64),
    }
}

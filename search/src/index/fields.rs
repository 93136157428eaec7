//! The fields of the index, and which text of a record each holds.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};

use super::document::SearchDoc;
use crate::analysis::ANALYZER;

#[derive(Debug, Clone)]
pub(crate) struct Fields {
    /// The slot of a published revision, to find its document.
    pub(crate) slot: Field,
    /// Codes, ids and aliases in comparable form, each one term.
    pub(crate) code: Field,
    /// Tokens of all texts. Without frequencies: it says which documents contain a token.
    pub(crate) every: Field,
    /// Tokens of the texts that name the error, likewise.
    pub(crate) names: Field,
    pub(crate) texts: Vec<(FieldText, Field)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldText {
    Title,
    AskedAs,
    Codes,
    Signature,
    Id,
    Tags,
    Examples,
    RootCause,
    Workarounds,
    DeadEnds,
}

impl FieldText {
    pub(crate) const ALL: [Self; 10] = [
        Self::Title,
        Self::AskedAs,
        Self::Codes,
        Self::Signature,
        Self::Id,
        Self::Tags,
        Self::Examples,
        Self::RootCause,
        Self::Workarounds,
        Self::DeadEnds,
    ];

    /// The texts of one record, in all its languages.
    pub(crate) fn of(self, document: &SearchDoc) -> impl Iterator<Item = &str> {
        let (one, other, many): (Option<&str>, Option<&str>, &[String]) = match self {
            Self::Title => (document.title.as_deref(), document.title_zh.as_deref(), &[]),
            Self::AskedAs => (None, None, &document.asked_as),
            Self::Codes => (None, None, &document.codes),
            Self::Signature => (Some(&document.signature), document.signature_zh.as_deref(), &[]),
            Self::Id => (Some(document.id.as_str()), None, &[]),
            Self::Tags => (None, None, &document.tags),
            Self::Examples => (None, None, &document.examples),
            Self::RootCause => (Some(&document.root_cause), document.root_cause_zh.as_deref(), &[]),
            Self::Workarounds => (None, None, &document.workarounds),
            Self::DeadEnds => (None, None, &document.dead_ends),
        };
        one.into_iter()
            .chain(other)
            .chain(many.iter().map(String::as_str))
    }

    /// True where a pasted message may be recognised: names and causes, not advice. Only these keep positions, for phrases.
    pub(crate) fn names_the_error(self) -> bool {
        matches!(
            self,
            Self::Title | Self::Signature | Self::Codes | Self::RootCause
        )
    }

    fn record_option(self) -> IndexRecordOption {
        if self.names_the_error() {
            IndexRecordOption::WithFreqsAndPositions
        } else {
            IndexRecordOption::WithFreqs
        }
    }
}

pub(super) fn build() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let text_options = |option: IndexRecordOption, with_lengths: bool| {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(ANALYZER)
                .set_fieldnorms(with_lengths)
                .set_index_option(option),
        )
    };
    let membership = text_options(IndexRecordOption::Basic, false);
    let fields = Fields {
        slot: builder.add_u64_field("slot", FAST | INDEXED),
        code: builder.add_text_field("code", STRING),
        every: builder.add_text_field("every", membership.clone()),
        names: builder.add_text_field("names", membership),
        texts: FieldText::ALL
            .into_iter()
            .map(|text| {
                let options = text_options(text.record_option(), true);
                (text, builder.add_text_field(&format!("{text:?}"), options))
            })
            .collect(),
    };
    (builder.build(), fields)
}

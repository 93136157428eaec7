//! Which parts of a record are searched, and how much a word found there counts.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};

use super::cut::CUT;
use super::document::SearchDoc;

/// The index fields.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    /// Number of the published face, unique for ever: the feed's seq. How hits are led back to documents.
    pub(super) slot: Field,
    /// Codes and aliases in comparable form, each one term.
    pub(super) code: Field,
    /// Parts of compound words, from everywhere that codes stand: no places.
    pub(super) parts: Field,
    /// Every word and part of every text, to know what there is and which records have it: no places, no counts.
    pub(super) every: Field,
    /// Searched texts.
    pub(super) texts: Vec<TextField>,
}

/// A searched text.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextField {
    /// In the index.
    pub(super) field: Field,
    /// What it holds.
    pub(super) text: Text,
    /// How much a word found here counts. The order matters (a name says more than an explanation), the
    /// distances are judgement.
    pub(super) boost: f32,
}

/// The searched texts of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    Id,
    Signature,
    SignatureZh,
    Codes,
    Tags,
    RootCause,
    RootCauseZh,
    Workarounds,
    DeadEnds,
}

impl Text {
    /// All texts with their boosts.
    pub(super) const ALL: [(Self, f32); 9] = [
        (Self::Codes, 6.0),
        (Self::Signature, 4.0),
        (Self::SignatureZh, 4.0),
        (Self::Id, 3.0),
        (Self::Tags, 2.0),
        (Self::RootCause, 1.5),
        (Self::RootCauseZh, 1.5),
        (Self::Workarounds, 1.0),
        (Self::DeadEnds, 0.8),
    ];

    /// Name in the index and in highlights.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Signature => "signature",
            Self::SignatureZh => "signature_zh",
            Self::Codes => "codes",
            Self::Tags => "tags",
            Self::RootCause => "root_cause",
            Self::RootCauseZh => "root_cause_zh",
            Self::Workarounds => "workarounds",
            Self::DeadEnds => "dead_ends",
        }
    }

    /// The texts of one document.
    pub(super) fn of(self, document: &SearchDoc) -> impl Iterator<Item = &str> {
        let (one, many): (Option<&str>, &[String]) = match self {
            Self::Id => (Some(document.id.as_str()), &[]),
            Self::Signature => (Some(&document.signature), &[]),
            Self::SignatureZh => (document.signature_zh.as_deref(), &[]),
            Self::Codes => (None, &document.codes),
            Self::Tags => (None, &document.tags),
            Self::RootCause => (Some(&document.root_cause), &[]),
            Self::RootCauseZh => (document.root_cause_zh.as_deref(), &[]),
            Self::Workarounds => (None, &document.workarounds),
            Self::DeadEnds => (None, &document.dead_ends),
        };
        one.into_iter().chain(many.iter().map(String::as_str))
    }

    /// True where a pasted message may be recognised: names and causes, not advice. Phrases are asked of these, and only these
    /// keep places.
    pub(super) fn names_the_error(self) -> bool {
        matches!(
            self,
            Self::Signature | Self::SignatureZh | Self::Codes | Self::RootCause | Self::RootCauseZh
        )
    }

    /// What the index keeps of its words: where they stand only where phrases are looked for, since that is half of what there
    /// is to keep of advice.
    fn keeps(self) -> IndexRecordOption {
        if self.names_the_error() {
            IndexRecordOption::WithFreqsAndPositions
        } else {
            IndexRecordOption::WithFreqs
        }
    }

    /// True where the parts of compound words are indexed too.
    pub(super) fn holds_code_words(self) -> bool {
        matches!(
            self,
            Self::Signature | Self::Codes | Self::RootCause | Self::Workarounds
        )
    }
}

/// Boost of a word found as a part of a compound word only.
pub(super) const PARTS_BOOST: f32 = 0.7;

/// Builds the schema.
pub(super) fn build() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    // All texts come in words already: the engine only takes them apart.
    let indexed = |keeping: IndexRecordOption| {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(CUT)
                .set_index_option(keeping),
        )
    };
    let slot = builder.add_u64_field("slot", FAST | INDEXED);
    let code = builder.add_text_field("code", STRING);
    let parts = builder.add_text_field("parts", indexed(IndexRecordOption::WithFreqs));
    let bare = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(CUT)
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic),
    );
    let every = builder.add_text_field("every", bare);
    let texts = Text::ALL
        .into_iter()
        .map(|(text, boost)| TextField {
            field: builder.add_text_field(text.name(), indexed(text.keeps())),
            text,
            boost,
        })
        .collect();
    let fields = Fields {
        slot,
        code,
        parts,
        every,
        texts,
    };
    (builder.build(), fields)
}

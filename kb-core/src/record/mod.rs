//! A record: two texts, kept as given, and read-only views of them.
//!
//! The *document* has the thirty flat keys of the seeds, the *annex* all that Peerless adds ([`crate::annex`]).
//! Views read; a change is an edit of the text ([`crate::text::replace_value`]) and a new parse.

mod advice;
mod codes;
mod document;
mod fields;
mod signatures;
#[cfg(test)]
mod tests;

pub use advice::Advised;
pub use codes::is_real_code;
pub use document::{
    ConfusedWith, DeadEnd, Document, FollowedBy, PrecededBy, Resolvable, TransitionGraph, VerificationTier,
    VersionNote, Workaround,
};
pub(crate) use signatures::{DOCUMENT_PATTERN, document_pattern};
pub use signatures::{signature_set, signature_set_by};

use crate::annex::{Annex, read_annex};
use crate::ids::RecordId;
use crate::text::shape::check_shape;
use crate::text::{Node, Part, Violation, read_view};

/// A record's two texts and what they say.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The document, byte for byte as given.
    pub document_text: String,
    /// The annex, byte for byte as given.
    pub annex_text: String,
    /// View of the document.
    pub document: Document,
    /// View of the annex.
    pub annex: Annex,
}

impl Record {
    /// What is wrong, in a few words: the English title, or the signature of a record without one.
    pub fn title(&self) -> &str {
        let title = self.annex.title.as_deref();
        title.unwrap_or(&self.document.signature)
    }

    /// The same in Chinese, or else in English.
    pub fn title_zh(&self) -> &str {
        let title = self.annex.title_zh.as_deref();
        title.unwrap_or_else(|| self.title())
    }

    /// Reads a document and its annex; on refusal every error of both, and no warnings.
    ///
    /// This checks that both texts are strict JSON of the right shape, which is all the views need. What is wrong
    /// with the content is listed by [`crate::validate::check_record`], which the door must ask too.
    pub fn parse(document: &str, annex: &str) -> Result<Self, Vec<Violation>> {
        Self::from_texts(document.to_owned(), annex.to_owned())
    }

    /// The same of texts that nobody else needs.
    pub fn from_texts(document_text: String, annex_text: String) -> Result<Self, Vec<Violation>> {
        match (read_document(&document_text), read_annex(&annex_text)) {
            (Ok(document), Ok(annex)) => Ok(Self {
                document_text,
                annex_text,
                document,
                annex,
            }),
            (Err(mut violations), Err(more)) => {
                violations.extend(more);
                Err(violations)
            }
            (Err(violations), Ok(_)) | (Ok(_), Err(violations)) => Err(violations),
        }
    }

    /// The record's id.
    pub fn id(&self) -> &RecordId {
        &self.document.id
    }
}

/// Reads a document alone.
pub fn read_document(text: &str) -> Result<Document, Vec<Violation>> {
    read_view(Part::Document, text, document_shape)
}

pub(crate) fn document_shape(root: &Node) -> Vec<Violation> {
    check_shape(Part::Document, root, &fields::DOCUMENT)
}

//! SHA-256 as hex text.

use sha2::{Digest, Sha256};

/// SHA-256 of a text, hex.
pub(super) fn text(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

pub(super) fn pair(document_sha256: &str, annex_sha256: &str) -> String {
    text(&format!("{document_sha256}{annex_sha256}"))
}

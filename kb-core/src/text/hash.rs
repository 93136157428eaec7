//! The sha256 of a text, as 64 lower-case hexadecimal digits.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::Digest;

/// A sha256 in lower-case hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sha256(String);

/// The text is not 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a sha256 is 64 lower-case hexadecimal digits, not {0:?}")]
pub struct Sha256Error(String);

impl Sha256 {
    /// The sha256 of some bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(hex::encode(sha2::Sha256::digest(bytes.as_ref())))
    }

    /// The 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Sha256 {
    type Err = Sha256Error;

    fn from_str(text: &str) -> Result<Self, Sha256Error> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == 64 && text.bytes().all(is_digit) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Sha256Error(text.to_owned()))
        }
    }
}

impl TryFrom<String> for Sha256 {
    type Error = Sha256Error;

    fn try_from(text: String) -> Result<Self, Sha256Error> {
        text.parse()
    }
}

impl From<Sha256> for String {
    fn from(hash: Sha256) -> Self {
        hash.0
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

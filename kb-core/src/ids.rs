//! Identifiers that are checked once, where they enter, and trusted afterwards.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What [`RecordId`] accepts, for the published schemas.
pub const RECORD_ID_PATTERN: &str = "^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*){1,2}$";

/// Longest identifier accepted, in bytes.
pub const MAX_ID_BYTES: usize = 200;

/// Why a text is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Empty, or over [`MAX_ID_BYTES`].
    #[error("an id has 1 to {MAX_ID_BYTES} bytes, this one has {0}")]
    Length(usize),
    /// Not two or three segments.
    #[error("a record id has two or three segments separated by '/', this one has {0}")]
    Segments(usize),
    /// A segment that is empty or holds a byte outside `[a-z0-9][a-z0-9._-]*`.
    #[error("segment {segment:?} must match [a-z0-9][a-z0-9._-]*")]
    Segment {
        /// The segment as given.
        segment: String,
    },
    /// A node or report id with a byte outside `[A-Za-z0-9._:-]`.
    #[error("an id of this kind may hold only letters, digits, '.', '_', ':' and '-'")]
    Character,
    /// A node or report id that is a step of a path: no browser opens an address that ends in it.
    #[error("'.' and '..' are no ids: they are steps of a path")]
    Step,
}

/// A record's path: two or three segments `[a-z0-9][a-z0-9._-]*`, for example
/// `cuda/peer-access-unsupported-by-hardware`. It is the record's name for ever.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = RECORD_ID_PATTERN, "maxLength" = MAX_ID_BYTES)))]
pub struct RecordId(
    // Each hit of a scan carries its record's id.
    Arc<str>,
);

impl RecordId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first segment, which by custom is the record's domain.
    pub fn domain(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }
}

impl FromStr for RecordId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        check_length(text)?;
        let count = text.split('/').count();
        if !(2..=3).contains(&count) {
            return Err(IdError::Segments(count));
        }
        for segment in text.split('/') {
            let mut bytes = segment.bytes();
            let starts_well = bytes
                .next()
                .is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
            let goes_on_well = bytes
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-'));
            if !(starts_well && goes_on_well) {
                return Err(IdError::Segment {
                    segment: segment.to_owned(),
                });
            }
        }
        Ok(Self(text.into()))
    }
}

/// A text of letters, digits and `. _ : -`, as node and report ids are.
fn parse_opaque(text: &str) -> Result<String, IdError> {
    check_length(text)?;
    if matches!(text, "." | "..") {
        return Err(IdError::Step);
    }
    if text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'-'))
    {
        Ok(text.to_owned())
    } else {
        Err(IdError::Character)
    }
}

fn check_length(text: &str) -> Result<(), IdError> {
    if text.is_empty() || text.len() > MAX_ID_BYTES {
        Err(IdError::Length(text.len()))
    } else {
        Ok(())
    }
}

/// Names one node of a fleet; made by the agent and stable across reboots.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct NodeId(String);

/// Names one run of the agent: a random UUID, the idempotency key of its upload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct ReportId(String);

impl FromStr for NodeId {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        parse_opaque(text).map(Self)
    }
}

impl FromStr for ReportId {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        parse_opaque(text).map(Self)
    }
}

impl NodeId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ReportId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

macro_rules! text_conversions {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }
        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.as_str().to_owned()
            }
        }
    )*};
}
text_conversions!(RecordId, NodeId, ReportId);

/// A record's revision: numbered from 1 per record, never reused. Printed as `r8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Revision(pub u32);

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// A position in the feed of changes to what readers see. Rises by one with every change; 0 is "nothing yet".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Seq(pub i64);

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_ids_are_paths_of_two_or_three_plain_segments() {
        for good in [
            "cuda/a",
            "cuda/peer-access",
            "nccl/net/ib_1.2",
            "0/1",
            "cuda/graph",
            "cuda/x/revisions",
        ] {
            assert_eq!(good.parse::<RecordId>().unwrap().as_str(), good);
        }
        for bad in [
            "",
            "cuda",
            "cuda/",
            "/cuda",
            "cuda//x",
            "../x",
            "cuda/..",
            "cuda/-",
            "cuda/.x",
            "a/b/c/d",
            "Cuda/x",
            "cuda/x y",
            "cuda/é",
            "cuda/x%2fy",
            "cuda/x\0",
        ] {
            assert!(bad.parse::<RecordId>().is_err(), "{bad:?} was accepted");
        }
        assert!("a/".to_owned().parse::<RecordId>().is_err());
        assert_eq!(
            format!("a/{}", "b".repeat(MAX_ID_BYTES)).parse::<RecordId>(),
            Err(IdError::Length(202))
        );
    }

    #[test]
    fn node_and_report_ids_hold_no_separators() {
        assert!("node-1.rack:7_a".parse::<NodeId>().is_ok());
        for bad in ["", "a/b", "a b", "a\n", "ü", ".", ".."] {
            assert!(bad.parse::<NodeId>().is_err(), "{bad:?} was accepted");
            assert!(bad.parse::<ReportId>().is_err(), "{bad:?} was accepted");
        }
    }
}

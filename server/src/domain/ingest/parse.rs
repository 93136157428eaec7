//! From bytes to a report, strictly: what readers of JSON disagree about is refused, what a newer minor version adds
//! is kept, and a newer major version is named as such.

use kb_core::report::{MAJOR, Report, SchemaVersion};
use kb_core::text::{Kind, Node, Position, TextError, parse_within};
use serde_json::Value;

use super::error::IngestError;
use crate::store::StoredReport;

/// Longest report, in bytes of JSON (design, decision 18).
pub const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug)]
pub struct Parsed {
    pub report: Report,
    pub body: Value,
}

pub fn parse(body: &[u8]) -> Result<Parsed, IngestError> {
    let text = std::str::from_utf8(body).map_err(not_utf8)?;
    let root = parse_within(text, MAX_BODY_BYTES)?;
    check_version(&root)?;
    let shape = |error: serde_json::Error| IngestError::Shape(error.to_string());
    let report = serde_json::from_str(text).map_err(shape)?;
    let body = serde_json::from_str(text).map_err(shape)?;
    Ok(Parsed { report, body })
}

pub fn parse_stored(stored: &StoredReport) -> Result<Parsed, IngestError> {
    parse(&body_of(stored)?)
}

pub fn body_of(stored: &StoredReport) -> Result<Vec<u8>, IngestError> {
    let damaged = |reason: String| IngestError::Damaged(reason);
    let length = usize::try_from(stored.body_bytes)
        .ok()
        .filter(|length| *length <= MAX_BODY_BYTES);
    let length =
        length.ok_or_else(|| damaged(format!("its length is said to be {} bytes", stored.body_bytes)))?;
    let body =
        zstd::bulk::decompress(&stored.body_zstd, length).map_err(|error| damaged(error.to_string()))?;
    if body.len() == length {
        Ok(body)
    } else {
        Err(damaged(format!(
            "it has {} bytes in place of {length}",
            body.len()
        )))
    }
}

/// Before anything else is read: of a newer major version nothing else can be understood.
fn check_version(root: &Node) -> Result<(), IngestError> {
    let whole = |pointer: &str| match root.find(pointer).map(|node| &node.kind) {
        Some(Kind::Number { value, whole: true }) if (0.0..=f64::from(u32::MAX)).contains(value) => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a whole number within u32, by the guard"
            )]
            let number = *value as u32;
            Some(number)
        }
        _ => None,
    };
    let (Some(major), Some(minor)) = (whole("/schema/major"), whole("/schema/minor")) else {
        let reason = "schema.major and schema.minor must be whole numbers";
        return Err(IngestError::Shape(reason.to_owned()));
    };
    if major > MAJOR {
        let found = SchemaVersion { major, minor };
        return Err(IngestError::NewerSchema { found });
    }
    if major < MAJOR {
        return Err(IngestError::Shape(format!(
            "there is no schema version {major}.{minor}"
        )));
    }
    Ok(())
}

fn not_utf8(error: std::str::Utf8Error) -> IngestError {
    IngestError::Text(TextError {
        pointer: String::new(),
        position: Position { line: 1, column: 1 },
        rule: "utf8",
        reason: format!("byte {} is not UTF-8", error.valid_up_to()),
    })
}

//! From bytes to a report, strictly: what readers of JSON disagree about is refused, what a newer minor version adds
//! is kept, and a newer major version is named as such.

use kb_core::report::{MAJOR, Report, SchemaVersion};
use kb_core::text::{Json, Position, TextError, parse_values};
use serde::Deserialize;

use super::error::IngestError;
use crate::store::StoredReport;

/// Longest report, in bytes of JSON (design, decision 18).
pub const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug)]
pub struct Parsed {
    pub report: Report,
    pub body: Json,
}

pub fn parse(body: &[u8]) -> Result<Parsed, IngestError> {
    let text = std::str::from_utf8(body).map_err(not_utf8)?;
    let body = parse_values(text, MAX_BODY_BYTES)?;
    check_version(&body)?;
    let report = Report::deserialize(&body).map_err(|error| shape(text, &error))?;
    Ok(Parsed { report, body })
}

pub fn parse_stored(stored: &StoredReport) -> Result<Parsed, IngestError> {
    parse(&body_of(stored)?)
}

/// The report alone, of a body that was accepted.
pub fn stored_report(stored: &StoredReport) -> Result<Report, IngestError> {
    let body = body_of(stored)?;
    match serde_json::from_slice(&body) {
        Ok(report) => Ok(report),
        Err(error) => Err(parse(&body)
            .err()
            .unwrap_or_else(|| IngestError::Shape(error.to_string()))),
    }
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

/// What is wrong, and where in the text it stands, which the values no longer tell.
fn shape(text: &str, error: &serde_json::Error) -> IngestError {
    let read = serde_json::from_str::<Report>(text);
    IngestError::Shape(
        read.err()
            .map_or_else(|| error.to_string(), |placed| placed.to_string()),
    )
}

/// Before anything else is read: of a newer major version nothing else can be understood.
fn check_version(body: &Json) -> Result<(), IngestError> {
    let whole = |pointer: &str| {
        let number = body.pointer(pointer)?.as_u64()?;
        u32::try_from(number).ok()
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

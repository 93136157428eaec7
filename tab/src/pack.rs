//! What a tab needs of the records: all that recognises them, and what an answer says of each in short.

use kb_core::signature::RecordSignatures;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What a tab needs of the records, of one state of the knowledge.
#[derive(Debug, Serialize, Deserialize)]
pub struct Pack {
    /// Which state it is, as answers say it.
    pub kb: Box<RawValue>,
    /// One entry for each published record.
    pub records: Vec<PackedRecord>,
}

/// One record.
#[derive(Debug, Serialize, Deserialize)]
pub struct PackedRecord {
    /// All that recognises it.
    pub signatures: RecordSignatures,
    /// What an answer says of it in short: a JSON object. Its `address` is a path. It is read for matches only.
    pub brief: Box<RawValue>,
}

/// The bytes are no pack.
#[derive(Debug, thiserror::Error)]
#[error("the signatures cannot be read: {0}; load the page again")]
pub struct UnreadablePack(#[from] serde_json::Error);

impl Pack {
    /// Reads what [`Pack::write`] wrote.
    pub fn read(bytes: &[u8]) -> Result<Self, UnreadablePack> {
        Ok(serde_json::from_slice(bytes)?)
    }

    /// The pack as bytes. They are text, which servers and browsers compress on the way.
    pub fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }
}

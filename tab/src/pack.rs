//! What a tab needs of the records: all that recognises them, and what an answer says of each in short.

use kb_core::signature::RecordSignatures;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Which engine this is: a name made of its sources.
pub const ENGINE: &str = env!("PEERLESS_ENGINE");

/// What a tab needs of the records, of one state of the knowledge.
#[derive(Debug, Serialize, Deserialize)]
pub struct Pack {
    /// The engine that it was made for: [`ENGINE`] of the server. Another one may pass over what it does not know.
    pub engine: String,
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
    /// What an answer says of it in short. Its `address` is a path.
    pub brief: Map<String, Value>,
}

/// Why the bytes are no pack for this engine.
#[derive(Debug, thiserror::Error)]
pub enum UnreadablePack {
    /// They are no pack.
    #[error("the signatures cannot be read: {0}; load the page again")]
    Malformed(#[from] serde_json::Error),
    /// They are a pack for other sources than this module was built from.
    #[error(
        "the module of this server is of another version than the server: its operator builds it again with `cargo xtask wasm`"
    )]
    OtherEngine,
}

#[derive(Deserialize)]
struct MadeFor {
    #[serde(default)]
    engine: String,
}

impl Pack {
    /// Reads what [`Pack::write`] wrote. The engine is read first: a pack for another one may have another form.
    pub fn read(bytes: &[u8]) -> Result<Self, UnreadablePack> {
        check_engine(bytes)?;
        Ok(serde_json::from_slice(bytes)?)
    }

    /// The pack as bytes. They are text, which servers and browsers compress on the way.
    pub fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }
}

/// Refuses a pack for another engine.
pub(crate) fn check_engine(bytes: &[u8]) -> Result<(), UnreadablePack> {
    let of: MadeFor = serde_json::from_slice(bytes)?;
    if of.engine == ENGINE {
        Ok(())
    } else {
        Err(UnreadablePack::OtherEngine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_for_another_engine_is_refused() {
        for text in [r#"{"kb": 1, "records": []}"#, r#"{"engine": "0", "records": 7}"#] {
            let error = Pack::read(text.as_bytes()).unwrap_err();
            assert!(matches!(error, UnreadablePack::OtherEngine), "{error}");
        }
        let own = format!(r#"{{"engine": "{ENGINE}", "kb": 1, "records": []}}"#);
        assert!(Pack::read(own.as_bytes()).unwrap().records.is_empty());
    }
}

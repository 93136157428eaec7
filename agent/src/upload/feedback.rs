//! A vote on what a record advises.

use kb_core::ids::RecordId;
use kb_core::terminal::harmless;
use serde_json::Value;

use super::{UploadError, Uploader};

impl Uploader {
    pub(crate) fn vote(&self, record: &RecordId, vote: &Value) -> Result<String, UploadError> {
        const TAKEN: u16 = 200;
        let said = self.ask(&format!("records/{record}/-/outcomes"), vote, TAKEN)?;
        let outcome = said.get("outcome").and_then(Value::as_str);
        outcome.map(harmless).ok_or_else(|| self.foreign(TAKEN))
    }
}

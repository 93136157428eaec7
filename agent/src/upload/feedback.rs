//! A vote on what a record advises.

use kb_core::ids::RecordId;
use kb_core::terminal::harmless;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;

use super::answer::Answer;
use super::{UploadError, Uploader};

impl Uploader {
    /// Sends a vote; what the server made of it.
    pub(crate) fn vote(&self, record: &RecordId, vote: &Value) -> Result<String, UploadError> {
        let request = self
            .client
            .post(self.beside(&format!("records/{record}/-/outcomes")))
            .header(CONTENT_TYPE, "application/json")
            .body(vote.to_string());
        let unreachable = |why| UploadError::Unreachable {
            server: self.server(),
            why,
        };
        let response = self
            .authorized(request)
            .send()
            .map_err(|error| unreachable(kb_core::unreachable::why(&error, error.is_timeout())))?;
        let status = response.status().as_u16();
        let answer = Answer::read(response);
        if status != 200 {
            let answer = answer.unwrap_or_default();
            return Err(UploadError::Refused {
                server: self.server(),
                status,
                code: answer.code(),
                detail: answer.detail(),
                retry_after: None,
            });
        }
        let said = answer.map_err(unreachable)?.json();
        match said.get("outcome").and_then(Value::as_str) {
            Some(outcome) => Ok(harmless(outcome)),
            None => Err(UploadError::Foreign {
                server: self.server(),
                status,
                shown: String::new(),
            }),
        }
    }
}

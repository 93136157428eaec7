//! A question to the server that is answered with JSON at once.

use kb_core::unreachable;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;

use super::{UploadError, Uploader};

impl Uploader {
    pub(super) fn ask(&self, call: &str, body: &Value, wanted: u16) -> Result<Value, UploadError> {
        let request = self
            .client
            .post(self.beside(call))
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string());
        let unreachable = |why| UploadError::Unreachable {
            server: self.server(),
            why,
        };
        let response = self
            .authorized(request)
            .send()
            .map_err(|error| unreachable(unreachable::why(&error, error.is_timeout())))?;
        let status = response.status().as_u16();
        let answer = self.answer(response);
        if status != wanted {
            let answer = answer.unwrap_or_default();
            return Err(UploadError::Refused {
                server: self.server(),
                status,
                code: answer.code(),
                detail: answer.detail(),
                retry_after: None,
            });
        }
        Ok(answer.map_err(unreachable)?.json())
    }

    pub(super) fn foreign(&self, status: u16) -> UploadError {
        UploadError::Foreign {
            server: self.server(),
            status,
            shown: String::new(),
        }
    }
}

//! The signatures of all records, fetched where they are not those that are here already.

use reqwest::header::{ACCEPT, ETAG, IF_NONE_MATCH};

use super::within::{self, BODY_LIMIT};
use super::{UploadError, Uploader};

/// The most of all signatures that is read; thousands of records have a few megabytes.
const MOST_BYTES: u64 = 64 << 20;

impl Uploader {
    /// The signatures of all records and their entity tag; nothing where they are those of `known`.
    pub(crate) fn signatures(&self, known: Option<&str>) -> Result<Option<(String, Vec<u8>)>, UploadError> {
        let unreachable = |why: String| UploadError::Unreachable {
            server: self.server(),
            why,
        };
        let address = self
            .address
            .join("signatures")
            .map_err(|error| unreachable(error.to_string()))?;
        let mut request = self.client.get(address).header(ACCEPT, "application/json");
        if let Some(known) = known {
            request = request.header(IF_NONE_MATCH, known);
        }
        let response = self
            .authorized(request)
            .send()
            .map_err(|error| unreachable(kb_core::unreachable::why(&error, error.is_timeout())))?;
        let status = response.status().as_u16();
        if status == 304 {
            return Ok(None);
        }
        let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
        let etag = etag.unwrap_or_default().to_owned();
        if status != 200 {
            let answer = self.answer(response).unwrap_or_default();
            return Err(UploadError::Refused {
                server: self.server(),
                status,
                code: None,
                detail: answer.detail(),
                retry_after: None,
            });
        }
        let bytes =
            within::read(response, MOST_BYTES, BODY_LIMIT).map_err(|error| unreachable(error.to_string()))?;
        Ok(Some((etag, bytes)))
    }
}

//! What the server keeps for agents, fetched where it is not what is here already: signatures of all records, the site's policy.

use kb_core::ids::NodeId;
use reqwest::Url;
use reqwest::header::{ACCEPT, ETAG, IF_NONE_MATCH};

use super::within::{self, BODY_LIMIT};
use super::{UploadError, Uploader};

/// The most of all signatures that is read; thousands of records have a few megabytes.
const MOST_BYTES: u64 = 64 << 20;
/// The most of a policy that is read: 200 rules have some hundred kilobytes.
const MOST_POLICY_BYTES: u64 = 1 << 20;

impl Uploader {
    /// The signatures of all records and their entity tag; nothing where they are those of `known`.
    pub(crate) fn signatures(&self, known: Option<&str>) -> Result<Option<(String, Vec<u8>)>, UploadError> {
        self.fetch(self.beside("signatures"), known, MOST_BYTES)
    }

    /// The site's policy for a node and its entity tag; nothing where it is that of `known`.
    pub(crate) fn policy(
        &self,
        node: &NodeId,
        known: Option<&str>,
    ) -> Result<Option<(String, Vec<u8>)>, UploadError> {
        let mut address = self.beside("policy");
        address.query_pairs_mut().append_pair("node", node.as_str());
        self.fetch(address, known, MOST_POLICY_BYTES)
    }

    fn fetch(
        &self,
        address: Url,
        known: Option<&str>,
        most: u64,
    ) -> Result<Option<(String, Vec<u8>)>, UploadError> {
        let unreachable = |why: String| UploadError::Unreachable {
            server: self.server(),
            why,
        };
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
            within::read(response, most, BODY_LIMIT).map_err(|error| unreachable(error.to_string()))?;
        Ok(Some((etag, bytes)))
    }
}

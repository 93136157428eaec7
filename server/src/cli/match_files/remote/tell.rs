//! What users say of a record, sent to a server.

use anyhow::{Context as _, anyhow, bail};
use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;

use super::answer::{body, moved_to, problem, strange};
use super::{MOST_MOVES, Remote};

impl Remote {
    /// Sends something about a record; what the server answers, and nothing where that is empty.
    pub(in crate::cli) fn tell(
        &self,
        id: &str,
        what: &str,
        sent: &serde_json::Value,
    ) -> anyhow::Result<serde_json::Value> {
        let mut id = id.to_owned();
        for _ in 0..=MOST_MOVES {
            let mut address = self.address("api/v1/records")?;
            address
                .path_segments_mut()
                .map_err(|()| anyhow!("--server {}: it has no paths", self.shown()))?
                .extend(id.split('/'))
                .extend(["-", what]);
            let request = self
                .client
                .post(address)
                .header(CONTENT_TYPE, "application/json")
                .body(sent.to_string());
            let response = self.exchange(request)?;
            let status = response.status();
            if status == StatusCode::PERMANENT_REDIRECT {
                let now =
                    moved_to(&response).with_context(|| format!("{} moves in circles", self.shown()))?;
                now.split("/-/").next().unwrap_or_default().clone_into(&mut id);
                continue;
            }
            if !status.is_success() {
                bail!("{} answers {status}{}", self.shown(), problem(response));
            }
            let bytes = body(response)?;
            if bytes.is_empty() {
                return Ok(serde_json::Value::Null);
            }
            return serde_json::from_slice(&bytes).map_err(|error| strange(&error));
        }
        bail!("{} moves in circles", self.shown());
    }
}

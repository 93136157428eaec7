//! What a server answers: the body up to a limit, and what a header, a problem or a redirect says.

use std::io::Read as _;

use anyhow::anyhow;
use kb_core::terminal::harmless;
use reqwest::blocking::Response;
use reqwest::header::LOCATION;

use crate::web::api::match_text::UNEXPLAINED_HEADER;

/// The most of an answer that is read, in bytes.
const MOST_ANSWER_BYTES: u64 = 64 << 20;
/// The most of a problem that is read, in bytes.
const MOST_PROBLEM_BYTES: u64 = 1 << 20;

/// The id that a redirect names; only the id, for the answer to come is asked of the same server.
pub(super) fn moved_to(response: &Response) -> Option<String> {
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    let (_, rest) = location.split_once("/api/v1/records/")?;
    rest.split('?').next().map(str::to_owned)
}

/// Whether something looks like an error and no record explains it. `None`: an older server does not say, and its JSON has then no more
/// than where there is nothing.
pub(super) fn has_unexplained(response: &Response) -> Option<bool> {
    let told = response.headers().get(UNEXPLAINED_HEADER)?;
    Some(told != "0")
}

pub(super) fn body(response: Response) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = response.take(MOST_ANSWER_BYTES).read_to_end(&mut bytes);
    read.map_err(|error| anyhow!("the answer broke off: {error}"))?;
    Ok(bytes)
}

/// The `detail` of a problem (RFC 9457), behind a colon.
pub(super) fn problem(response: Response) -> String {
    let mut bytes = Vec::new();
    // The status has said what matters; an answer that cannot be read only costs its details.
    let _ = response.take(MOST_PROBLEM_BYTES).read_to_end(&mut bytes);
    let problem: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let detail = problem.get("detail").and_then(serde_json::Value::as_str);
    detail.map_or_else(String::new, |detail| format!(": {}", harmless(detail)))
}

pub(super) fn strange(error: &serde_json::Error) -> anyhow::Error {
    anyhow!("the server's answer is not what was expected ({error}); is it a Peerless server?")
}

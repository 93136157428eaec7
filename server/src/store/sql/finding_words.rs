//! What a finding weighs and what the policy made of it, as they are kept.

use kb_core::report::{Bearing, Ruled};

use super::convert::unreadable;
use crate::store::{StoreError, of_word};

pub(super) fn bearing(text: &str) -> Result<Bearing, StoreError> {
    of_word(text).ok_or_else(|| unreadable("bearing", text))
}

/// As it is kept; empty where the records decided.
pub(super) fn policy_text(ruled: Option<&Ruled>) -> String {
    ruled
        .and_then(|ruled| serde_json::to_string(ruled).ok())
        .unwrap_or_default()
}

pub(super) fn policy_from(text: &str) -> Result<Option<Ruled>, StoreError> {
    if text.is_empty() {
        return Ok(None);
    }
    let ruled = serde_json::from_str(text).map(Some);
    ruled.map_err(|_| unreadable("policy's rule", text))
}

//! What search sees of a record: plain texts, whatever the record's own format.

use kb_core::ids::RecordId;
use serde::{Deserialize, Serialize};

/// One published record as search sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchDoc {
    pub id: RecordId,
    pub title: Option<String>,
    pub title_zh: Option<String>,
    /// What people type who do not know the name of the error.
    pub asked_as: Vec<String>,
    pub signature: String,
    pub signature_zh: Option<String>,
    /// Codes as people write them, the document's `error_code` among them, and former ids.
    pub codes: Vec<String>,
    pub examples: Vec<String>,
    pub root_cause: String,
    pub root_cause_zh: Option<String>,
    /// What works, in every language the record has.
    pub workarounds: Vec<String>,
    pub dead_ends: Vec<String>,
    pub tags: Vec<String>,
    pub domain: String,
    pub category: String,
    pub tier: String,
    pub locale: String,
}

/// The form in which codes are compared: without case, runs of blanks as one, none around.
pub fn comparable_code(code: &str) -> String {
    let mut words = code.split_whitespace();
    let mut comparable: String = words.next().unwrap_or_default().to_lowercase();
    for word in words {
        comparable.push(' ');
        comparable.push_str(&word.to_lowercase());
    }
    comparable
}

#[cfg(test)]
mod tests {
    use super::comparable_code;

    #[test]
    fn codes_compare_without_case_and_extra_blanks() {
        assert_eq!(comparable_code("  Xid \t 79 "), "xid 79");
        assert_eq!(comparable_code("CUDA_ERROR_ASSERT"), "cuda_error_assert");
        assert_eq!(comparable_code(" "), "");
    }
}

//! What a record must meet before it is stored: the rules of `kb_core::validate`, and rules over reports that
//! compile.

use kb_core::annex::read_annex;
use kb_core::ids::RecordId;
use kb_core::text::Violation;
use kb_core::validate::{check_record, is_refused};

use crate::domain::correlate::check_rules;

pub fn check_texts(id: &RecordId, document: &str, annex: &str) -> Result<Vec<Violation>, Vec<Violation>> {
    let mut violations = check_record(Some(id), document, annex);
    if let Ok(annex) = read_annex(annex) {
        violations.extend(check_rules(&annex));
    }
    violations.sort_by_key(|violation| violation.severity);
    if is_refused(&violations) {
        Err(violations)
    } else {
        Ok(violations)
    }
}

//! What the store derives from a published revision's two texts: the one place that looks into them.

use kb_core::ids::{RecordId, Revision};
use kb_core::record::Record;
use kb_core::text::Violation;
use kb_core::transition::Edge;

use crate::store::StoreError;

/// Longest code that can be looked up, in bytes, folded: codes are keys of an index, and PostgreSQL's take 2,700.
const MAX_CODE_BYTES: usize = 400;

pub(super) struct Derived {
    pub(super) id: RecordId,
    pub(super) signature: String,
    /// Codes, each once: for comparison, and as written.
    pub(super) codes: Vec<(String, String)>,
    pub(super) aliases: Vec<RecordId>,
    /// Edges in the order of the document.
    pub(super) edges: Vec<Edge>,
}

impl Derived {
    pub(super) fn of(
        id: &RecordId,
        revision: Revision,
        document: &str,
        annex: &str,
    ) -> Result<Self, StoreError> {
        derive(id, document, annex).map_err(|reason| StoreError::Damaged {
            id: id.clone(),
            revision,
            reason,
        })
    }
}

/// `Err` says why a text cannot be published as this record.
fn derive(id: &RecordId, document: &str, annex: &str) -> Result<Derived, String> {
    let record = Record::parse(document, annex).map_err(|violations| reasons(&violations))?;
    if record.id() != id {
        return Err(format!("its document says that it is {}", record.id()));
    }
    let mut codes: Vec<(String, String)> = Vec::new();
    for code in record.codes() {
        let folded = fold_code(&code);
        let usable = !folded.is_empty() && folded.len() <= MAX_CODE_BYTES;
        if usable && !codes.iter().any(|(known, _)| *known == folded) {
            codes.push((folded, code));
        }
    }
    let mut aliases: Vec<RecordId> = Vec::new();
    for alias in &record.document.aliases {
        if alias != id && !aliases.contains(alias) {
            aliases.push(alias.clone());
        }
    }
    Ok(Derived {
        id: id.clone(),
        codes,
        aliases,
        edges: record.edges(),
        signature: record.document.signature,
    })
}

/// A code for comparison: lower case, runs of blanks as one.
pub(super) fn fold_code(code: &str) -> String {
    let words: Vec<&str> = code.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

fn reasons(violations: &[Violation]) -> String {
    let reason = |violation: &Violation| {
        let part = format!("{:?}", violation.part).to_lowercase();
        format!("{part} {} {}", violation.pointer, violation.reason)
    };
    let reasons: Vec<String> = violations.iter().map(reason).collect();
    reasons.join("; ")
}

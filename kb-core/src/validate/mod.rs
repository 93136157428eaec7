//! What is wrong with records, where, by which rule, and what to do: pure functions over texts.
//!
//! Errors keep a record out (the door refuses it), warnings list faults of its content. One record is
//! [`check_record`], a folder of them [`check_set`]. The program `peerless check` prints what these return.

mod blame;
mod chinese;
mod content;
mod evidence;
mod links;
mod lost;
mod patterns;
mod plain;
mod set;
#[cfg(test)]
mod tests;

pub use crate::text::{Part, Severity, Violation};
pub use set::{Finding, check_set, is_record_file};

use crate::annex::{Annex, annex_shape};
use crate::ids::RecordId;
use crate::record::{Document, document_shape};
use crate::text::{Cursor, Node, examine, parse};

/// Whether any of these refuses the record.
pub fn is_refused(violations: &[Violation]) -> bool {
    violations
        .iter()
        .any(|violation| violation.severity == Severity::Error)
}

/// Everything that is wrong with a record, errors and warnings, in the order of the texts. `expected` is the id that
/// the record is to be kept under, where that is known.
pub fn check_record(expected: Option<&RecordId>, document: &str, annex: &str) -> Vec<Violation> {
    let (document_view, mut of_document) = examine::<Document>(Part::Document, document, document_shape);
    let (annex_view, mut of_annex) = examine::<Annex>(Part::Annex, annex, annex_shape);

    let mut found = Vec::new();
    if let Some(view) = &document_view {
        found.extend(links::check_identity(expected, view));
        found.extend(content::check(view));
        found.extend(plain::check(view));
        found.extend(chinese::check_document(view));
    }
    if let (Some(view), Some(annex_view)) = (&document_view, &annex_view) {
        found.extend(evidence::check(view, annex_view));
        found.extend(links::check_annex(view, annex_view));
        found.extend(blame::check(view, annex_view));
        found.extend(chinese::check_annex(view, annex_view));
        found.extend(patterns::check(view, annex_view));
    }
    for violation in found {
        match violation.part {
            Part::Document => of_document.push(violation),
            Part::Annex => of_annex.push(violation),
        }
    }
    locate(document, &mut of_document);
    locate(annex, &mut of_annex);
    of_document.extend(of_annex);
    of_document
}

/// Looks up where the pointers stand, and sorts by that. A pointer to nothing stands where its parent does.
fn locate(text: &str, violations: &mut [Violation]) {
    let Ok(root) = parse(text) else {
        return;
    };
    violations.sort_by_cached_key(|violation| offset_of(&root, &violation.pointer));
    let mut cursor = Cursor::new(text);
    for violation in violations {
        violation.position = Some(cursor.advance_to(offset_of(&root, &violation.pointer)));
    }
}

fn offset_of(root: &Node, mut pointer: &str) -> usize {
    loop {
        match (root.find(pointer), pointer.rfind('/')) {
            (Some(node), _) => return node.span.start,
            (None, Some(parent_end)) => pointer = pointer.get(..parent_end).unwrap_or_default(),
            (None, None) => return root.span.start,
        }
    }
}

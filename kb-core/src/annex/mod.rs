//! The annex: all that Peerless adds to a document. `{"schema_version": 1}` is a whole annex.

mod fields;
mod notes;
mod probe;
mod view;

pub use crate::severity::{Action, Blame, Severity};
pub use notes::{Harmless, WorkaroundKind, WorkaroundNote, WorkaroundScope};
pub use probe::{MAX_EXPRESSION_BYTES, MAX_RULES, ProbeRule, ProbeScope};
pub use view::{
    Annex, AtFault, ChineseDeadEnd, ChineseWorkaround, Dispute, Example, NearMiss, Origin, Relations,
    Reproduction, Source,
};

use crate::text::shape::check_shape;
use crate::text::{Node, Part, Violation, read_view};

/// The version of the annex that this build reads and writes.
pub const SCHEMA_VERSION: u32 = 1;

/// The smallest annex, for a document that comes without one.
pub const EMPTY: &str = "{\"schema_version\": 1}\n";

/// Reads an annex alone.
pub fn read_annex(text: &str) -> Result<Annex, Vec<Violation>> {
    read_view(Part::Annex, text, annex_shape)
}

pub(crate) fn annex_shape(root: &Node) -> Vec<Violation> {
    check_shape(Part::Annex, root, &fields::ANNEX)
}

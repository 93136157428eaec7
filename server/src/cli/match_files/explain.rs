//! What the command line needs of whoever explains: this program, or a server.

use kb_core::annex::Severity;
use kb_core::ids::RecordId;
use kb_core::record::Record;
use kb_core::scanner::Event;

use super::unpack::Text;
use crate::domain::lookup::MatchAnswer;
use crate::domain::outcomes::said;

/// Explains texts.
pub(super) trait Explainer {
    /// The answer.
    fn answer(&self, text: Text) -> anyhow::Result<MatchAnswer>;

    /// The answer for people, and whether a known error was found.
    fn rendered(&self, text: Text) -> anyhow::Result<(String, bool)>;

    /// The answer, after each hit was handed to `each` as it was found.
    fn stepwise(
        &self,
        text: Text,
        each: &mut dyn FnMut(&Event) -> anyhow::Result<()>,
    ) -> anyhow::Result<MatchAnswer>;

    /// What a record that matched says.
    fn facts(&self, id: &RecordId) -> anyhow::Result<Facts>;
}

/// What an annotation shows of a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Facts {
    pub(super) signature: String,
    pub(super) root_cause: String,
    /// What helps, best first as the record has it.
    pub(super) workarounds: Vec<String>,
    /// What wastes time.
    pub(super) dead_ends: Vec<String>,
    pub(super) severity: Option<Severity>,
    pub(super) tags: Vec<String>,
    /// Its page, where there is a server.
    pub(super) page: Option<String>,
}

impl Facts {
    /// The facts of a record that is at hand.
    pub(super) fn of(record: &Record, page: Option<String>) -> Self {
        let document = &record.document;
        Self {
            signature: document.signature.clone(),
            root_cause: document.root_cause.clone(),
            workarounds: document
                .workarounds
                .iter()
                .map(|workaround| said(&workaround.action, workaround.how.as_deref()))
                .collect(),
            dead_ends: document
                .dead_ends
                .iter()
                .map(|dead_end| said(&dead_end.action, dead_end.why_fails.as_deref()))
                .collect(),
            severity: record.annex.severity,
            tags: document.tags.clone(),
            page,
        }
    }
}

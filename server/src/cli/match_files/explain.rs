//! What the command line needs of whoever explains: this program, or a server.

use kb_core::annex::{Dispute, Severity};
use kb_core::ids::RecordId;
use kb_core::record::Record;
use kb_core::scanner::Event;

use super::unpack::Text;
use crate::domain::answer_json::ExplainedAnswer;
use crate::domain::lookup::MatchAnswer;
use crate::domain::outcomes::said;

pub(super) trait Explainer {
    /// The answer, and what it comes to.
    fn answer(&self, text: Text) -> anyhow::Result<(MatchAnswer, Found)>;

    /// The answer with what the records say, and what it comes to.
    fn explained(&self, text: Text) -> anyhow::Result<(ExplainedAnswer, Found)>;

    /// The answer for people, and what it comes to.
    fn rendered(&self, text: Text) -> anyhow::Result<(String, Found)>;

    /// The answer, after each hit was handed to `each` as it was found.
    fn stepwise(
        &self,
        text: Text,
        each: &mut dyn FnMut(&Event) -> anyhow::Result<()>,
    ) -> anyhow::Result<ExplainedAnswer>;

    fn facts(&self, id: &RecordId) -> anyhow::Result<Facts>;
}

/// What the exit code tells of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// A known error.
    pub(super) error: bool,
    /// What looks like an error and no record explains. `None`: a server that does not say.
    pub(super) unexplained: Option<bool>,
}

impl From<&MatchAnswer> for Found {
    fn from(answer: &MatchAnswer) -> Self {
        Self {
            error: answer.has_error(),
            unexplained: Some(answer.has_unexplained()),
        }
    }
}

impl From<&ExplainedAnswer> for Found {
    fn from(answer: &ExplainedAnswer) -> Self {
        Self {
            error: answer.has_error(),
            unexplained: Some(answer.has_unexplained()),
        }
    }
}

/// What an annotation shows of a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Facts {
    pub(super) signature: String,
    pub(super) root_cause: String,
    /// What helps, best first as the record has it.
    pub(super) workarounds: Vec<String>,
    pub(super) dead_ends: Vec<String>,
    /// What the record disputes of these, each with the reason; in neither list.
    pub(super) disputed: Vec<String>,
    pub(super) severity: Option<Severity>,
    pub(super) tags: Vec<String>,
    /// Its page, where there is a server.
    pub(super) page: Option<String>,
}

impl Facts {
    /// The facts of a record that is at hand.
    pub(super) fn of(record: &Record, page: Option<String>) -> Self {
        let document = &record.document;
        let mut disputed = Vec::new();
        let mut undisputed = |text: String, dispute: Option<&Dispute>| match dispute {
            Some(dispute) => {
                disputed.push(format!("{text} ({})", dispute.why));
                None
            }
            None => Some(text),
        };
        let workarounds = record.workarounds().into_iter().filter_map(|advised| {
            let text = said(&advised.item.action, advised.item.how.as_deref());
            undisputed(text, advised.dispute)
        });
        let workarounds = workarounds.collect();
        let dead_ends = record.dead_ends().into_iter().filter_map(|advised| {
            let text = said(&advised.item.action, advised.item.why_fails.as_deref());
            undisputed(text, advised.dispute)
        });
        let dead_ends = dead_ends.collect();
        Self {
            signature: document.signature.clone(),
            root_cause: document.root_cause.clone(),
            workarounds,
            dead_ends,
            disputed,
            severity: record.annex.severity,
            tags: document.tags.clone(),
            page,
        }
    }
}

//! Unknown lines as the interface tells them.

use kb_core::propose::Proposal;
use serde::Serialize;
use utoipa::ToSchema;

use crate::store::Unmatched;
use crate::web::api::records::get::rfc3339;

/// A page of unknown lines.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnmatchedPage {
    pub(super) unmatched: Vec<UnmatchedEntry>,
    /// Ask with it for the next page; absent on the last.
    pub(super) next_cursor: Option<String>,
    /// Why there are none: nobody of the name that was asked for has taken on any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
}

/// Lines of one template.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnmatchedEntry {
    /// 16 hexadecimal digits; of pasted lines `p`, the number of the text and that of the line.
    pub(super) id: String,
    /// What the lines share; what varies stands in `<>`.
    #[schema(example = "zorgblat: link <number> of GPU <pci> failed")]
    pub(super) template: String,
    /// Lines without names, addresses, private paths and secrets.
    pub(super) examples: Vec<String>,
    /// Lines that were seen.
    pub(super) count: u64,
    /// Nodes on which they were seen within 90 days.
    pub(super) nodes: u64,
    /// When, RFC 3339.
    pub(super) first_seen: String,
    /// When, RFC 3339.
    pub(super) last_seen: String,
    /// `open`, `ignored` or `known`.
    pub(super) state: &'static str,
    /// Who looks after them.
    pub(super) assignee: Option<String>,
    /// Why they are ignored.
    pub(super) reason: Option<String>,
    /// The record that is about them.
    pub(super) record: Option<String>,
    /// Who changed that last.
    pub(super) changed_by: Option<String>,
    /// When, RFC 3339.
    pub(super) changed_at: Option<String>,
}

/// Lines of one template, where and when they were seen, and what may become of them.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnmatchedDetail {
    #[serde(flatten)]
    pub(super) unmatched: UnmatchedEntry,
    /// Lines by day, the newest first.
    pub(super) by_day: Vec<UnmatchedDay>,
    /// Lines by node, the most first, at most 100.
    pub(super) by_node: Vec<UnmatchedNode>,
    /// Published records that know an example by now.
    pub(super) known_as: Vec<String>,
    /// A pattern that takes the examples.
    pub(super) proposal: Option<Proposal>,
    /// The record that is begun, where it was asked for.
    pub(super) draft: Option<UnmatchedDraft>,
}

/// Lines of a day.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnmatchedDay {
    /// In UTC.
    #[schema(example = "2026-11-28")]
    pub(super) day: String,
    pub(super) count: u64,
}

/// Lines of a node.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnmatchedNode {
    /// Absent for pasted texts, and for nodes beyond the first 500 of a day.
    pub(super) node: Option<String>,
    pub(super) count: u64,
}

/// The two texts of a record.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnmatchedDraft {
    /// As `PUT /records/…?view=full` takes them.
    pub(super) document: String,
    pub(super) annex: String,
}

pub(super) fn entry(unmatched: Unmatched) -> UnmatchedEntry {
    UnmatchedEntry {
        id: unmatched.id,
        template: unmatched.template,
        examples: unmatched.examples,
        count: unmatched.count,
        nodes: unmatched.nodes,
        first_seen: rfc3339(unmatched.first_seen),
        last_seen: rfc3339(unmatched.last_seen),
        state: unmatched.state.as_str(),
        assignee: unmatched.assignee,
        reason: unmatched.reason,
        record: unmatched.record.map(|id| id.to_string()),
        changed_by: unmatched.changed_by,
        changed_at: unmatched.changed_at.map(rfc3339),
    }
}

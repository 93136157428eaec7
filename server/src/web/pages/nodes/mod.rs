//! `/nodes` and `/nodes/{id}`: all nodes counted, narrowed and sorted, and what is to know of one.
//!
//! ```text
//! list    the page of the list      asked    what the list is narrowed by, and the links that change it
//! counts  all nodes together        one      the page of a node
//! facets  what affected nodes have in common
//! findings  what is open on a node and what people do about it    history  the verdicts of its last reports
//! ```

pub mod asked;
pub mod counts;
pub mod facets;
pub mod findings;
pub mod history;
pub mod list;
pub mod one;
mod rows;

use kb_core::ids::NodeId;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use crate::domain::fleet::{SILENT_HOURS, silent_before};
use crate::render::i18n::Locale;
use crate::render::i18n::fleet::Words;
use crate::render::words::{Mark, Tone, encoded, moment, verdict};
use crate::store::{NodeSummary, ReportListing};

/// A label and the nodes that have it, or another link with its text.
pub use crate::render::words::Link;

pub(super) fn node_href(id: &NodeId, locale: Locale) -> String {
    locale.href(format!("/nodes/{}", encoded(id.as_str())))
}

/// Address of a report's page. The node is named because two nodes may have used one id.
pub(super) fn report_href(report: &ReportListing, locale: Locale) -> String {
    locale.href(format!(
        "/reports/{}?node={}",
        encoded(report.id.as_str()),
        encoded(report.node.as_str())
    ))
}

/// The verdict that stands. For a node silent for long nobody knows whether it is healthy: that is said, with how long.
fn told(summary: &NodeSummary, now: OffsetDateTime, locale: Locale) -> (Mark, Option<String>) {
    let mark = verdict(summary.verdict, locale.language);
    if summary.heard_at >= silent_before(now, SILENT_HOURS) {
        return (mark, None);
    }
    let words = Words::of(locale.language);
    let days = (now - summary.heard_at).whole_days().unsigned_abs();
    let since = moment(summary.heard_at);
    let label = match summary.verdict {
        Verdict::Healthy => words.last_seen_healthy,
        Verdict::NoFaultSeen => words.last_seen_without_fault,
        Verdict::Degraded | Verdict::Unknown | Verdict::Refused | Verdict::Broken => {
            return (mark, Some(words.silent_for(days, &since)));
        }
    };
    let mark = Mark {
        tone: Tone::Unknown,
        sign: "?",
        label,
    };
    (mark, Some(words.silent_since(days, &since)))
}

//! `/nodes` and `/nodes/{id}`: all nodes counted, narrowed and sorted, and what is to know of one.
//!
//! ```text
//! list    the page of the list      asked    what the list is narrowed by, and the links that change it
//! counts  all nodes together        one      the page of a node
//! findings  what is open on a node and what people do about it    history  the verdicts of its last reports
//! ```

pub mod asked;
pub mod counts;
pub mod findings;
pub mod history;
pub mod list;
pub mod one;

use kb_core::ids::NodeId;

use crate::render::i18n::Locale;
use crate::render::words::encoded;
use crate::store::ReportListing;

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

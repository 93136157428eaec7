//! The rows of a node's page: its hardware, what has changed, what happened, its reports.

use kb_core::ids::NodeId;
use kb_core::report::Report;

use super::report_href;
use crate::domain::fleet_changes::{Change, Shown};
use crate::domain::node_events;
use crate::render::i18n::Locale;
use crate::render::i18n::fleet::Words;
use crate::render::words::{Mark, Row, encoded, moment, verdict};
use crate::store::{NodeEvent, NodeListing, ReportListing};

/// A fact that is different from the last good report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRow {
    pub subject: String,
    pub fact: String,
    pub before: ShownView,
    pub now: ShownView,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownView {
    pub text: String,
    /// Whether the text is a word of this page's language.
    pub is_word: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    pub at: String,
    pub href: Option<String>,
    pub text: String,
}

/// A report as the page of a node names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportLink {
    pub href: String,
    pub finished_at: String,
    pub verdict: Mark,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportRow {
    pub href: String,
    pub received_at: String,
    pub verdict: Mark,
    /// A stand-in took the driver's place.
    pub simulated: bool,
    pub reason: String,
    pub gpus: u32,
    pub findings: u32,
}

pub(super) fn hardware(node: &NodeListing, latest: Option<&Report>, words: &Words) -> Vec<Row> {
    let summary = &node.summary;
    let unknown = || words.not_known.to_owned();
    let mut rows = vec![
        Row::new(words.gpus, summary.gpus.to_string()),
        Row::new(words.model, summary.model.clone().unwrap_or_else(unknown)),
        Row::new(words.driver, summary.driver.clone().unwrap_or_else(unknown)),
        Row::new(words.last_run, moment(summary.heard_at)),
        Row::new(words.first_report, moment(node.first_seen)),
    ];
    let fact = |name: &str| {
        let fact = latest?.host.get(name)?.value.as_ref()?;
        Some(fact.as_str().map_or_else(|| fact.to_string(), str::to_owned))
    };
    for name in ["os.name", "kernel.release", "cuda.version"] {
        rows.extend(fact(name).map(|value| Row::new(name, value)));
    }
    rows
}

pub(super) fn change_row(change: &Change, words: &Words) -> ChangeRow {
    let shown = |shown: &Shown| match shown {
        Shown::Value(text) => ShownView {
            text: text.clone(),
            is_word: false,
        },
        Shown::Unread => ShownView {
            text: words.unread.to_owned(),
            is_word: true,
        },
        Shown::Absent => ShownView {
            text: words.absent.to_owned(),
            is_word: true,
        },
    };
    ChangeRow {
        subject: change
            .gpu
            .map_or_else(|| words.the_host.to_owned(), |index| format!("GPU {index}")),
        fact: change.fact.clone(),
        before: shown(&change.before),
        now: shown(&change.now),
    }
}

pub(super) fn event_row(event: &NodeEvent, node: &NodeId, locale: Locale) -> EventRow {
    let href = event.report.as_ref().map(|report| {
        let (report, node) = (encoded(report.as_str()), encoded(node.as_str()));
        locale.href(format!("/reports/{report}?node={node}"))
    });
    EventRow {
        at: moment(event.at),
        href,
        text: node_events::sentence(&event.change),
    }
}

pub(super) fn report_link(report: &ReportListing, locale: Locale) -> ReportLink {
    ReportLink {
        href: report_href(report, locale),
        finished_at: moment(report.finished_at),
        verdict: verdict(report.verdict, locale.language),
        reason: report.reason.clone(),
    }
}

pub(super) fn report_row(report: &ReportListing, locale: Locale) -> ReportRow {
    ReportRow {
        href: report_href(report, locale),
        received_at: moment(report.received_at),
        verdict: verdict(report.verdict, locale.language),
        simulated: report.simulated,
        reason: report.reason.clone(),
        gpus: report.gpus,
        findings: report.findings,
    }
}

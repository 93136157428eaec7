//! `/nodes` and `/nodes/{id}`: each node with the verdict that stands, and the reports of one node.

use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::ids::{NodeId, ReportId};
use serde::Deserialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::html;
use super::layout::{Layout, Section};
use super::together::{Together, together};
use crate::domain::{fleet, labels, node_events};
use crate::render::i18n::Locale;
use crate::render::i18n::fleet::Words;
use crate::render::words::{Mark, encoded, moment, verdict};
use crate::store::{NodeEvent, NodeListing, ReportListing, ReportQuery};
use crate::web::error::{Code, Problem};
use crate::web::limits::PAGE_DEFAULT;
use crate::web::links::base_url;
use crate::web::pages::locale;
use crate::web::state::AppState;

/// Events on the page of a node; the API has more.
const SHOWN_EVENTS: u32 = 20;

#[derive(Debug, Template)]
#[template(path = "pages/nodes.html")]
pub struct NodesPage {
    pub(super) layout: Layout,
    pub(super) words: &'static Words,
    pub(super) together: Together,
    pub(super) nodes: Vec<NodeView>,
    pub(super) base_url: String,
    pub(super) next: Option<String>,
    /// The label that the list is narrowed to.
    pub(super) narrowed: Option<String>,
}

#[derive(Debug, Template)]
#[template(path = "pages/node.html")]
pub struct NodePage {
    pub(super) layout: Layout,
    pub(super) words: &'static Words,
    pub(super) id: String,
    pub(super) facts: Vec<String>,
    pub(super) labels: Vec<Link>,
    pub(super) events: Vec<EventRow>,
    pub(super) standing: ReportLink,
    pub(super) last_seen: Option<ReportLink>,
    pub(super) reports: Vec<ReportRow>,
    pub(super) next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeView {
    pub id: String,
    pub href: String,
    /// Host name, unless redacted.
    pub hostname: Option<String>,
    /// Labels, each with the list of the nodes that have it.
    pub labels: Vec<Link>,
    pub verdict: Mark,
    /// A stand-in took the driver's place.
    pub simulated: bool,
    pub reason: String,
    pub gpus: u32,
    pub findings: u32,
    pub report: ReportLink,
    /// Its latest one, where that is another.
    pub last_seen: Option<ReportLink>,
    pub reports: u32,
}

/// A label and the nodes that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub href: String,
    /// `rack=r17`.
    pub text: String,
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

/// Builds the list of nodes; `more` says that others follow, `base_url` is where this server is reached.
pub(super) fn nodes_page(
    nodes: &[NodeListing],
    more: bool,
    narrowed: Option<String>,
    together: Together,
    base_url: String,
    locale: Locale,
) -> NodesPage {
    let words = Words::of(locale.language);
    let last = nodes.last().filter(|_| more);
    let label = narrowed
        .as_deref()
        .map(|label| format!("&label={}", encoded(label)));
    let label = label.unwrap_or_default();
    let next = last.map(|node| format!("/nodes?after={}{label}", encoded(node.id.as_str())));
    NodesPage {
        layout: Layout::new(format!("{} · Peerless", words.nodes), Section::Nodes)
            .spoken(locale)
            .in_both("/nodes"),
        words,
        together,
        nodes: nodes.iter().map(|node| node_view(node, locale)).collect(),
        base_url,
        next: next.map(|next| locale.href(next)),
        narrowed,
    }
}

fn labels(node: &NodeListing, locale: Locale) -> Vec<Link> {
    let link = |(name, value): (&String, &String)| {
        let text = format!("{name}={value}");
        Link {
            href: locale.href(format!("/nodes?label={}", encoded(&text))),
            text,
        }
    };
    node.labels.iter().map(link).collect()
}

fn event_row(event: &NodeEvent, node: &NodeId, locale: Locale) -> EventRow {
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

fn node_view(node: &NodeListing, locale: Locale) -> NodeView {
    NodeView {
        id: node.id.to_string(),
        href: node_href(&node.id, locale),
        hostname: node.hostname.clone().filter(|name| name != node.id.as_str()),
        labels: labels(node, locale),
        verdict: verdict(node.latest.verdict, locale.language),
        simulated: node.latest.simulated,
        reason: node.latest.reason.clone(),
        gpus: node.latest.gpus,
        findings: node.latest.findings,
        report: report_link(&node.latest, locale),
        last_seen: last_seen(node, locale),
        reports: node.reports,
    }
}

pub(super) fn node_href(id: &NodeId, locale: Locale) -> String {
    locale.href(format!("/nodes/{}", encoded(id.as_str())))
}

/// The latest report, unless its verdict is the one that stands.
fn last_seen(node: &NodeListing, locale: Locale) -> Option<ReportLink> {
    (node.last_seen.id != node.latest.id).then(|| report_link(&node.last_seen, locale))
}

fn report_link(report: &ReportListing, locale: Locale) -> ReportLink {
    ReportLink {
        href: report_href(report, locale),
        finished_at: moment(report.finished_at),
        verdict: verdict(report.verdict, locale.language),
        reason: report.reason.clone(),
    }
}

/// Address of a report's page. The node is named because two nodes may have used one id.
pub(super) fn report_href(report: &ReportListing, locale: Locale) -> String {
    locale.href(format!(
        "/reports/{}?node={}",
        encoded(report.id.as_str()),
        encoded(report.node.as_str())
    ))
}

/// Builds one node's page; `next` is the address of older reports.
pub(super) fn node_page(
    node: &NodeListing,
    events: &[NodeEvent],
    reports: &[ReportListing],
    next: Option<String>,
    locale: Locale,
) -> NodePage {
    let words = Words::of(locale.language);
    let id = node.id.as_str();
    let mut facts = Vec::new();
    if let Some(hostname) = &node.hostname {
        facts.push(words.host(hostname));
    }
    facts.push(words.report_count(u64::from(node.reports)));
    NodePage {
        standing: report_link(&node.latest, locale),
        last_seen: last_seen(node, locale),
        layout: Layout::new(format!("{id} · Peerless"), Section::Nodes)
            .spoken(locale)
            .in_both(&node_href(&node.id, Locale::ENGLISH)),
        words,
        id: id.to_owned(),
        facts,
        labels: labels(node, locale),
        events: events
            .iter()
            .map(|event| event_row(event, &node.id, locale))
            .collect(),
        reports: reports.iter().map(|report| report_row(report, locale)).collect(),
        next: next.map(|next| locale.href(next)),
    }
}

fn report_row(report: &ReportListing, locale: Locale) -> ReportRow {
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

#[derive(Debug, Clone, Default, Deserialize)]
pub struct NodesParams {
    pub after: Option<String>,
    /// Only those with this label: `rack=r17`.
    pub label: Option<String>,
}

pub async fn list(
    request: HttpRequest,
    params: Query<NodesParams>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let after: Option<NodeId> = params.after.as_deref().map(str::parse).transpose()?;
    let label = params.label.as_deref().map(labels::parse);
    let label = label
        .transpose()
        .map_err(|why| Problem::new(Code::BadQuery, format!("label: {why}")))?;
    let wanted = label
        .as_ref()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let mut nodes = state
        .store
        .nodes(after.as_ref(), wanted, PAGE_DEFAULT + 1)
        .await?;
    let more = nodes.len() > PAGE_DEFAULT as usize;
    nodes.truncate(PAGE_DEFAULT as usize);
    let locale = locale::of(&request);
    let generation = state.knowledge.current();
    let silent_after = time::Duration::hours(i64::from(fleet::SILENT_HOURS));
    let counted = fleet::fleet(&*state.store, &generation, state.clock.now(), silent_after).await?;
    let together = together(counted, locale);
    html(&nodes_page(
        &nodes,
        more,
        params.label.clone(),
        together,
        base_url(&request, &state),
        locale,
    ))
}

/// Where a page of reports starts: before this report.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ReportsParams {
    /// When it came, RFC 3339.
    pub before: Option<String>,
    pub id: Option<String>,
}

impl ReportsParams {
    fn cursor(&self) -> Result<Option<(OffsetDateTime, ReportId)>, Problem> {
        let (Some(before), Some(id)) = (&self.before, &self.id) else {
            return Ok(None);
        };
        let before = OffsetDateTime::parse(before, &Rfc3339)
            .map_err(|_| Problem::new(Code::BadQuery, "before must be a time as RFC 3339 writes it"))?;
        Ok(Some((before, id.parse()?)))
    }
}

pub async fn one(
    request: HttpRequest,
    id: Path<String>,
    params: Query<ReportsParams>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let id: NodeId = id.parse()?;
    let before = params.cursor()?;
    let query = ReportQuery {
        node: Some(id.clone()),
        before,
        limit: PAGE_DEFAULT + 1,
    };
    let Some(node) = state.store.node(&id).await? else {
        return Err(Problem::new(Code::NotFound, format!("no node {id} has reported")));
    };
    let events = state.store.node_events(&id, SHOWN_EVENTS).await?;
    let mut reports = state.store.reports(query).await?;
    let more = reports.len() > PAGE_DEFAULT as usize;
    reports.truncate(PAGE_DEFAULT as usize);
    let next = reports.last().filter(|_| more).and_then(|last| {
        let before = last.received_at.format(&Rfc3339).ok()?;
        let (id, before, last_id) = (encoded(id.as_str()), encoded(&before), encoded(last.id.as_str()));
        Some(format!("/nodes/{id}?before={before}&id={last_id}"))
    });
    html(&node_page(&node, &events, &reports, next, locale::of(&request)))
}

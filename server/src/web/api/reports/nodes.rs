//! `GET /api/v1/nodes` and `/nodes/{id}`: the nodes that sent reports.

use std::collections::BTreeMap;

use actix_web::{HttpResponse, web};
use kb_core::ids::NodeId;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ReportEntry;
use crate::domain::{labels, node_events};
use crate::store::{NodeEvent, NodeListing, ReportQuery};
use crate::web::api::page;
use crate::web::api::records::get::rfc3339;
use crate::web::auth::FleetReader;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::limits::PAGE_DEFAULT;
use crate::web::state::AppState;

/// Which nodes to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct NodesQuery {
    /// Entries of a page, 50 unless said, at most 200.
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Only nodes with this label: `rack=r17`.
    label: Option<String>,
}

/// A page of nodes.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodesPage {
    /// The nodes, by id.
    nodes: Vec<NodeEntry>,
    /// Ask with it for the next page; absent on the last.
    next_cursor: Option<String>,
}

/// A node.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodeEntry {
    /// Its id.
    id: String,
    /// Host name, unless redacted.
    hostname: Option<String>,
    /// Labels that it got from its join token.
    labels: BTreeMap<String, String>,
    /// Arrival of its first report, RFC 3339.
    first_seen: String,
    /// Number of its reports.
    reports: u32,
    /// The report whose verdict stands: the latest proof, which nothing but a later proof ends where it is a fault;
    /// without a proof, or with an alarm after proven health, that of `last_seen`.
    latest: ReportEntry,
    /// Its latest report of all, by the end of the run, whatever it is worth.
    last_seen: ReportEntry,
}

/// A node with its reports.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodeDetail {
    /// Its id.
    id: String,
    /// Labels that it got from its join token.
    labels: BTreeMap<String, String>,
    /// What happened to it, newest first: another name, other GPUs, a clock that is wrong.
    events: Vec<NodeEventEntry>,
    /// The report whose verdict stands, as in the list of nodes.
    latest: ReportEntry,
    /// Its latest report of all, by the end of the run.
    last_seen: ReportEntry,
    /// Its newest reports by arrival; older ones at `/api/v1/reports?node=`.
    reports: Vec<ReportEntry>,
}

/// Something that happened to a node.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodeEventEntry {
    /// When the server learned of it, RFC 3339.
    at: String,
    /// `renamed`, `gpus_changed`, `gpus_elsewhere`, `reinstalled`, `clock_ahead`, `clock_behind`,
    /// `clock_unsure`, `clock_right`; there may be more one day.
    kind: String,
    /// In one sentence.
    text: String,
    /// The report of this node that told it; null where another node's did, or an enrolment.
    report: Option<String>,
    /// The same as `text` in parts: names, nodes, UUIDs of GPUs.
    #[schema(value_type = Object)]
    detail: serde_json::Value,
}

impl From<&NodeEvent> for NodeEventEntry {
    fn from(event: &NodeEvent) -> Self {
        Self {
            at: rfc3339(event.at),
            kind: event.change.kind().to_owned(),
            text: node_events::sentence(&event.change),
            report: event.report.as_ref().map(ToString::to_string),
            detail: serde_json::to_value(&event.change).unwrap_or_default(),
        }
    }
}

impl From<&NodeListing> for NodeEntry {
    fn from(listing: &NodeListing) -> Self {
        Self {
            id: listing.id.to_string(),
            hostname: listing.hostname.clone(),
            labels: listing.labels.clone(),
            first_seen: rfc3339(listing.first_seen),
            reports: listing.reports,
            latest: (&listing.latest).into(),
            last_seen: (&listing.last_seen).into(),
        }
    }
}

/// Nodes by id, each with the report whose verdict stands and its latest one.
#[utoipa::path(get, path = "/api/v1/nodes", operation_id = "list_nodes", tag = "reports", security(("token" = ["fleet"])),
    params(NodesQuery), responses((status = 200, description = "A page of nodes", body = NodesPage)))]
pub async fn list(
    _: FleetReader,
    query: web::Query<NodesQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let limit = page::size(query.limit)?;
    let after: Option<NodeId> = query
        .cursor
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(|_| page::bad_cursor())?;
    let label = query.label.as_deref().map(labels::parse);
    let label = label
        .transpose()
        .map_err(|why| Problem::new(Code::BadQuery, format!("label: {why}")))?;
    let label = label
        .as_ref()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let listed = state.store.nodes(after.as_ref(), label, limit).await?;
    let is_full = listed.len() == limit as usize;
    Ok(HttpResponse::Ok().json(NodesPage {
        next_cursor: listed.last().filter(|_| is_full).map(|last| last.id.to_string()),
        nodes: listed.iter().map(NodeEntry::from).collect(),
    }))
}

/// One node with its newest reports.
#[utoipa::path(get, path = "/api/v1/nodes/{id}", operation_id = "get_node", tag = "reports", security(("token" = ["fleet"])),
    params(("id" = String, Path)), responses(
        (status = 200, description = "The node", body = NodeDetail),
        (status = 404, description = "No report of such a node", body = ProblemBody),
    ))]
pub async fn get(
    _: FleetReader,
    path: web::Path<String>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let node: NodeId = path.parse()?;
    let query = ReportQuery {
        node: Some(node.clone()),
        before: None,
        limit: PAGE_DEFAULT,
    };
    let Some(known) = state.store.node(&node).await? else {
        return Err(Problem::new(
            Code::NotFound,
            format!("no report of a node {node} has come"),
        ));
    };
    let events = state.store.node_events(&node, PAGE_DEFAULT).await?;
    let listed = state.store.reports(query).await?;
    Ok(HttpResponse::Ok().json(NodeDetail {
        id: node.to_string(),
        labels: known.labels.clone(),
        events: events.iter().map(NodeEventEntry::from).collect(),
        latest: (&known.latest).into(),
        last_seen: (&known.last_seen).into(),
        reports: listed.iter().map(ReportEntry::from).collect(),
    }))
}

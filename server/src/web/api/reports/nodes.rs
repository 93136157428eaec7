//! `GET /api/v1/nodes` and `/nodes/{id}`: the nodes that sent reports.

use std::collections::BTreeMap;

use actix_web::{HttpRequest, HttpResponse, web};
use kb_core::ids::NodeId;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::ReportEntry;
use super::findings::{NodeFindingEntry, entries};
use crate::domain::fleet_names::{self, Absent};
use crate::domain::node_events;
use crate::store::{Advice, NodeEvent, NodeListing, NodeSummary, ReportQuery, word};
use crate::web::api::page;
use crate::web::api::records::get::rfc3339;
use crate::web::asked_nodes;
use crate::web::auth::FleetReader;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::limits::{PAGE_DEFAULT, PAGE_MAX};
use crate::web::state::AppState;

/// Which nodes to list.
#[derive(Debug, IntoParams)]
#[expect(dead_code, reason = "describes what `asked_nodes` reads")]
#[into_params(parameter_in = Query)]
pub struct NodesQuery {
    /// Entries of a page, 50 unless said, at most 200.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Only nodes whose verdict this is.
    #[param(pattern = "^(healthy|no_fault_seen|degraded|unknown|refused|broken)$")]
    verdict: Option<String>,
    /// Only nodes of which this is what to do first: a word of the annex's `action`; `unknown`: no record says it.
    #[param(example = "reset_gpu")]
    action: Option<String>,
    /// Only nodes with something open that this record explains. A former id is followed; an id that no published record has is refused.
    record: Option<String>,
    /// Only nodes with GPUs of this model; `unknown`: it is not known.
    #[param(example = "NVIDIA H200")]
    model: Option<String>,
    /// Only nodes with this version of the driver; `unknown`: it is not known.
    driver: Option<String>,
    /// Only nodes with this label: `rack=r17`. May be given up to four times, and then all of them count.
    label: Option<Vec<String>>,
    /// Only nodes whose latest run ended longer ago than so many hours.
    #[param(minimum = 1, maximum = 8760)]
    silent_hours: Option<u32>,
    /// Only nodes whose verdict is of a simulated run, or only the others.
    simulated: Option<bool>,
    /// Only nodes with this text in their id or host name, in whatever case.
    #[param(max_length = 100)]
    q: Option<String>,
    /// What comes first: `id` (unless said), the worst `verdict`, the latest run (`heard`), the newest verdict (`since`), the
    /// most `gpus`. With `-` before it the other way round.
    #[param(pattern = "^-?(id|verdict|heard|since|gpus)$")]
    sort: Option<String>,
}

/// A page of nodes.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodesPage {
    /// The nodes, in the order that was asked for.
    nodes: Vec<NodeEntry>,
    /// Ask with it for the next page; absent on the last.
    next_cursor: Option<String>,
    /// Where the list is empty: which model or driver that was asked for no node has, and which nodes have. Absent where there is nothing to say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    notes: Vec<String>,
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
    /// The node in one line.
    summary: SummaryEntry,
    /// The report whose verdict stands: the latest proof, which nothing but a later proof ends where it is a fault;
    /// without a proof, or with an alarm after proven health, that of `last_seen`.
    latest: ReportEntry,
    /// Its latest report of all, by the end of the run, whatever it is worth.
    last_seen: ReportEntry,
}

/// A node in one line, kept as its reports come.
#[derive(Debug, Serialize, ToSchema)]
pub struct SummaryEntry {
    /// The verdict that stands.
    #[schema(value_type = String, example = "broken")]
    verdict: kb_core::verdict::Verdict,
    /// End of the run that showed this verdict first, RFC 3339.
    since: String,
    /// End of the latest run, or when the report of it came if the node's clock says later, RFC 3339.
    heard_at: String,
    /// The verdict is of a simulated run.
    simulated: bool,
    /// GPUs of the report that stands.
    gpus: u32,
    /// Model of the GPUs, as a report named it last; several are joined by ` + `.
    model: Option<String>,
    /// Version of the driver, as a report named it last.
    driver: Option<String>,
    /// The worst of what is open; null: nothing that says something against the node.
    cause: Option<CauseEntry>,
    /// What to do first about it, in the words of the annex's `action`; null where no record says it, which is not `none`.
    #[schema(example = "reset_gpu")]
    action: Option<String>,
    /// Version of the records and the policy that decided; null where it was not noted.
    rule_set: Option<String>,
    /// Open findings that the site's policy makes milder: where they are all that is wrong, the node is no plainly healthy one.
    milder_by_policy: u32,
}

/// The worst of what is open on a node.
#[derive(Debug, Serialize, ToSchema)]
pub struct CauseEntry {
    /// The record that explains it; null: nothing known does.
    record: Option<String>,
    /// The rule that found it.
    rule: String,
}

impl From<&NodeSummary> for SummaryEntry {
    fn from(summary: &NodeSummary) -> Self {
        let cause = summary.cause.as_ref();
        Self {
            verdict: summary.verdict,
            since: rfc3339(summary.since),
            heard_at: rfc3339(summary.heard_at),
            simulated: summary.simulated,
            gpus: summary.gpus,
            model: summary.model.clone(),
            driver: summary.driver.clone(),
            cause: cause.map(|cause| CauseEntry {
                record: cause.record.as_ref().map(ToString::to_string),
                rule: cause.rule.clone(),
            }),
            action: summary.action.map(word),
            rule_set: summary.rule_set.clone(),
            milder_by_policy: summary.milder,
        }
    }
}

/// A node with its reports.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodeDetail {
    /// Its id.
    id: String,
    /// Labels that it got from its join token.
    labels: BTreeMap<String, String>,
    /// The node in one line.
    summary: SummaryEntry,
    /// The policy that is for it now; what its summary says was decided by `summary.rule_set`.
    policy: PolicyEntry,
    /// What it was advised, the newest first: a row each time that this, or what decides, changed.
    advice: Vec<AdviceEntry>,
    /// What its reports show or have shown: what is open first, the worst before the others.
    findings: Vec<NodeFindingEntry>,
    /// What happened to it, newest first: another name, other GPUs, a clock that is wrong.
    events: Vec<NodeEventEntry>,
    /// The report whose verdict stands, as in the list of nodes.
    latest: ReportEntry,
    /// Its latest report of all, by the end of the run.
    last_seen: ReportEntry,
    /// Its newest reports by arrival; older ones at `/api/v1/reports?node=`.
    reports: Vec<ReportEntry>,
}

/// Which policy a node has.
#[derive(Debug, Serialize, ToSchema)]
pub struct PolicyEntry {
    /// `current`, or `candidate` where the node is one of those on which another policy is tried.
    #[schema(example = "current")]
    stage: &'static str,
    /// Version of the policy; `none` without one.
    version: String,
    /// Version of records and policy together.
    rule_set: String,
}

/// What a node was advised.
#[derive(Debug, Serialize, ToSchema)]
pub struct AdviceEntry {
    /// Since when, RFC 3339.
    at: String,
    /// The report whose verdict stood.
    report: String,
    /// That verdict.
    #[schema(value_type = String, example = "broken")]
    verdict: kb_core::verdict::Verdict,
    /// What to do first; null where no record says it.
    action: Option<String>,
    /// The record that explains the worst of what was open; null: no known one did, or nothing was.
    record: Option<String>,
    /// The rule that found it; empty where nothing was open.
    rule: String,
    /// Version of records and policy; null where it was not noted.
    rule_set: Option<String>,
}

impl From<Advice> for AdviceEntry {
    fn from(advice: Advice) -> Self {
        Self {
            at: rfc3339(advice.at),
            report: advice.report.to_string(),
            verdict: advice.verdict,
            action: advice.action.map(word),
            record: advice.record.map(|record| record.to_string()),
            rule: advice.rule,
            rule_set: advice.rule_set,
        }
    }
}

/// Something that happened to a node.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodeEventEntry {
    /// When the server learned of it, RFC 3339.
    at: String,
    /// `renamed`, `gpus_changed`, `gpus_elsewhere`, `reinstalled`, `enrolled`, `clock_ahead`, `clock_behind`,
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
            summary: (&listing.summary).into(),
            latest: (&listing.latest).into(),
            last_seen: (&listing.last_seen).into(),
        }
    }
}

/// Nodes, narrowed and sorted as asked, each with its summary, the report whose verdict stands and its latest one.
#[utoipa::path(get, path = "/api/v1/nodes", operation_id = "list_nodes", tag = "reports", security(("token" = ["fleet"])),
    params(NodesQuery), responses(
        (status = 200, description = "A page of nodes", body = NodesPage),
        (status = 400, description = "A parameter is wrong", body = ProblemBody),
    ))]
pub async fn list(
    _: FleetReader,
    request: HttpRequest,
    pairs: web::Query<Vec<(String, String)>>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let asked = asked_nodes::read(&request, &state, &pairs).await?;
    let limit = match value(&pairs, "limit") {
        None => None,
        Some(limit) => Some(limit.parse().map_err(|_| {
            Problem::new(
                Code::BadQuery,
                format!("limit is 1 to {PAGE_MAX}, written as a number"),
            )
        })?),
    };
    let limit = page::size(limit)?;
    let query = asked.query(value(&pairs, "cursor"), limit)?;
    let listed = state.store.nodes(&query).await?;
    let is_full = listed.len() == limit as usize;
    let absent = if listed.is_empty() {
        fleet_names::absent(state.store.as_ref(), &asked, state.clock.now()).await?
    } else {
        Vec::new()
    };
    Ok(HttpResponse::Ok().json(NodesPage {
        next_cursor: listed.last().filter(|_| is_full).map(|last| asked.cursor(last)),
        nodes: listed.iter().map(NodeEntry::from).collect(),
        notes: absent.iter().map(Absent::sentence).collect(),
    }))
}

/// The value of a parameter that is given once at most.
fn value<'p>(pairs: &'p [(String, String)], name: &str) -> Option<&'p str> {
    let given = pairs.iter().find(|(given, _)| given == name);
    given.map(|(_, value)| value.as_str())
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
    let findings = state.store.node_findings(&node).await?;
    let listed = state.store.reports(query).await?;
    let advice = state.store.advice(&node, PAGE_DEFAULT).await?;
    let generation = state.knowledge.current();
    let site = state
        .correlator
        .site(state.store.as_ref(), &generation, &node)
        .await?;
    Ok(HttpResponse::Ok().json(NodeDetail {
        id: node.to_string(),
        labels: known.labels.clone(),
        summary: (&known.summary).into(),
        policy: PolicyEntry {
            stage: site.stage.word(),
            version: site.policy.version,
            rule_set: site.rule_set,
        },
        advice: advice.into_iter().map(AdviceEntry::from).collect(),
        findings: entries(findings, state.clock.now()),
        events: events.iter().map(NodeEventEntry::from).collect(),
        latest: (&known.latest).into(),
        last_seen: (&known.last_seen).into(),
        reports: listed.iter().map(ReportEntry::from).collect(),
    }))
}

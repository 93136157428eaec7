//! Findings of a node with their life, and `POST /api/v1/nodes/{id}/findings`, by which they are acknowledged, silenced and owned.

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::ids::NodeId;
use kb_core::report::Ruled;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use utoipa::ToSchema;

use crate::domain::fleet_findings::{self, FindingState};
use crate::store::{FindingChange, FindingStep, HandlingKind, NodeFinding, word};
use crate::web::api::records::get::rfc3339;
use crate::web::auth::Operator;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;
use crate::web::{body, limits};

/// What reports of a node show or have shown, by the record that explains it.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodeFindingEntry {
    /// Names it on its node: the record's id, else `rule:` and the rule.
    #[schema(example = "xid/79-gpu-has-fallen-off-the-bus")]
    name: String,
    /// The record that explains it; null: nothing known does.
    record: Option<String>,
    /// The rule that found it.
    rule: String,
    /// What a report says of it.
    title: String,
    /// `new` (one run has shown it since it was over last), `ongoing`, `acknowledged`, `silenced`, or `resolved`: neither the
    /// report that stands nor the latest shows it.
    #[schema(example = "ongoing")]
    state: &'static str,
    /// What it means for the node: `event` (nothing against it), `warning`, `unknown` or `fault`.
    bearing: &'static str,
    /// How bad it is, where the record says so.
    severity: Option<String>,
    /// What to do first, where the record says so.
    action: Option<String>,
    /// What the site's policy made of it: number and words of the rule, what it `is` by that and `was` by the records; null where
    /// the records decided.
    #[schema(value_type = Option<Object>)]
    by_policy: Option<Ruled>,
    /// It is of simulated runs alone.
    simulated: bool,
    /// GPUs, pairs and the like that it is about.
    subjects: u32,
    /// Reports that showed it while they were the node's latest.
    reports: u32,
    /// End of the first run that showed it, RFC 3339.
    first_seen: String,
    /// End of the first run that showed it since it was over last, RFC 3339.
    opened_at: String,
    /// End of the last run that showed it, RFC 3339.
    last_seen: String,
    /// When a report came that ended it, RFC 3339; null while it is open.
    ended_at: Option<String>,
    /// Who looks after it.
    owner: Option<String>,
    /// What was said when it was acknowledged or silenced last.
    note: Option<String>,
    /// Until when it is silenced, RFC 3339; null where it never was, or something else was said since.
    silenced_until: Option<String>,
    /// Who acknowledged or silenced it last.
    handled_by: Option<String>,
    /// When, RFC 3339.
    handled_at: Option<String>,
}

/// What a node shows now.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodeFindingsBody {
    /// What is open first, the worst before the others; then what is over.
    findings: Vec<NodeFindingEntry>,
}

/// What is done about a finding.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeFindingAction {
    /// Somebody knows of it, for as long as it stays open.
    Acknowledge,
    /// Nobody needs to be told for a time; needs `until`.
    Silence,
    /// Neither acknowledged nor silenced any more.
    Release,
    /// Somebody looks after it: `owner`, else the caller.
    Own,
    /// Nobody does.
    Disown,
}

/// A step with a finding of a node.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"finding": "xid/79-gpu-has-fallen-off-the-bus", "step": "acknowledge", "note": "card is ordered"}))]
pub struct NodeFindingBody {
    /// Name of the finding, as the node's `findings` have it.
    finding: String,
    step: NodeFindingAction,
    /// Why, or what is being done. At most 1000 characters.
    note: Option<String>,
    /// Until when it is silenced, RFC 3339; at most a year from now.
    until: Option<String>,
    /// Who looks after it. At most 200 characters.
    owner: Option<String>,
}

/// Findings as the API tells them.
pub(super) fn entries(findings: Vec<NodeFinding>, now: OffsetDateTime) -> Vec<NodeFindingEntry> {
    findings.into_iter().map(|finding| entry(finding, now)).collect()
}

fn entry(finding: NodeFinding, now: OffsetDateTime) -> NodeFindingEntry {
    let state = FindingState::of(&finding, now).word();
    let handling = finding.handling;
    let silenced_until = handling.as_ref().and_then(|handling| match handling.kind {
        HandlingKind::Silenced(until) => Some(rfc3339(until)),
        HandlingKind::Acknowledged => None,
    });
    NodeFindingEntry {
        state,
        name: finding.name,
        record: finding.record.map(|record| record.to_string()),
        rule: finding.rule,
        title: finding.title,
        bearing: finding.bearing.word(),
        severity: finding.severity.map(word),
        action: finding.action.map(word),
        by_policy: finding.by_policy,
        simulated: finding.simulated,
        subjects: finding.subjects,
        reports: finding.reports,
        first_seen: rfc3339(finding.first_at),
        opened_at: rfc3339(finding.opened_at),
        last_seen: rfc3339(finding.last_at),
        ended_at: finding.ended_at.map(rfc3339),
        owner: finding.owner,
        silenced_until,
        handled_by: handling.as_ref().map(|handling| handling.by.clone()),
        handled_at: handling.as_ref().map(|handling| rfc3339(handling.at)),
        note: handling.and_then(|handling| handling.note),
    }
}

/// Acknowledges, silences or owns a finding. It changes no verdict, and the finding counts wherever it counted.
#[utoipa::path(
    post, path = "/api/v1/nodes/{id}/findings", operation_id = "change_finding", tag = "reports",
    security(("token" = ["fleet"])), params(("id" = String, Path)), request_body = NodeFindingBody, responses(
        (status = 200, description = "Done; the findings as they are now", body = NodeFindingsBody),
        (status = 400, description = "The body cannot be read, or lacks what the step needs", body = ProblemBody),
        (status = 404, description = "The node shows no such thing, and did not lately", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 415, description = "Not JSON", body = ProblemBody),
    ),
)]
pub async fn change(
    operator: Operator,
    request: HttpRequest,
    path: web::Path<String>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let node: NodeId = path.parse()?;
    let asked: NodeFindingBody = body::json(&request, payload, limits::REVIEW_BYTES).await?;
    let needs = |name: &str| Problem::new(Code::MalformedBody, format!("this step needs `{name}`"));
    let step = match asked.step {
        NodeFindingAction::Acknowledge => FindingStep::Acknowledge { note: asked.note },
        NodeFindingAction::Silence => {
            let until = asked.until.ok_or_else(|| needs("until"))?;
            let until = OffsetDateTime::parse(&until, &Rfc3339).map_err(|_| {
                Problem::new(Code::MalformedBody, "until must be a time as RFC 3339 writes it")
            })?;
            FindingStep::Silence {
                until,
                note: asked.note,
            }
        }
        NodeFindingAction::Release => FindingStep::Release,
        NodeFindingAction::Own => {
            FindingStep::Own(Some(asked.owner.unwrap_or_else(|| operator.0.name.clone())))
        }
        NodeFindingAction::Disown => FindingStep::Own(None),
    };
    let change = FindingChange {
        node: node.clone(),
        name: asked.finding,
        step,
        by: operator.0.by(),
        at: state.clock.now(),
    };
    fleet_findings::change(state.store.as_ref(), change).await?;
    let findings = state.store.node_findings(&node).await?;
    Ok(HttpResponse::Ok().json(NodeFindingsBody {
        findings: entries(findings, state.clock.now()),
    }))
}

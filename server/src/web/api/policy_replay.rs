//! `POST /api/v1/policy/replay`: what a policy would have said of stored reports.

use std::time::Duration;

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::ids::NodeId;
use kb_core::policy::Policy;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::domain::policy::names::{Names, by_all_names};
use crate::domain::policy::{file, replay};
use crate::web::auth::Operator;
use crate::web::body;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;

const DAYS: u32 = 30;
const NODES: u32 = 50;
/// No further node of a page is begun after so long.
const WITHIN: Duration = Duration::from_secs(20);
/// A policy in JSON.
const BODY_BYTES: u64 = 512 * 1024;

/// What is replayed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"policy": "[[rule]]\ncode = \"xid 63\"\nis = \"event\"\nreason = \"known\"\n", "days": 30}))]
pub struct ReplayBody {
    /// Text of the policy, as `policy.toml` has it; absent: the one that nodes are judged by now.
    policy: Option<String>,
    /// Days back from now, 30 unless said, at most 366.
    #[schema(minimum = 1, maximum = 366)]
    days: Option<u32>,
    /// Nodes of a page, 50 unless said, at most 100.
    #[schema(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of nodes.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReplayAnswer {
    /// Of the nodes of this page: how many there are, without history, not judged, judged otherwise; drains by the present policy and by the given.
    #[schema(value_type = Object)]
    counts: replay::Counts,
    /// Nodes that are judged otherwise, or that the given policy would have drained.
    #[schema(value_type = Vec<Object>)]
    nodes: Vec<replay::NodeReplay>,
    /// Ask with it for the next page; absent on the last.
    #[schema(value_type = Option<String>)]
    next_cursor: Option<NodeId>,
}

/// What a policy would have said of the reports of the last days, beside the policy of now.
#[utoipa::path(
    post, path = "/api/v1/policy/replay", operation_id = "replay_policy", tag = "reports", security(("token" = ["fleet"])),
    request_body = ReplayBody, responses(
        (status = 200, description = "A page of nodes", body = ReplayAnswer),
        (status = 400, description = "The body or the policy in it cannot be read", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 415, description = "Not JSON", body = ProblemBody),
    ),
)]
pub async fn post(
    _: Operator,
    request: HttpRequest,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let asked: ReplayBody = body::json(&request, payload, BODY_BYTES).await?;
    let days = within("days", asked.days.unwrap_or(DAYS), replay::DAYS_MAX)?;
    let nodes = within("limit", asked.limit.unwrap_or(NODES), replay::NODES_MAX)?;
    let generation = state.knowledge.current();
    let given = asked
        .policy
        .as_deref()
        .map(|text| file::read_by(text, &Names::of(&generation)))
        .transpose();
    let given = given
        .map_err(|error| Problem::new(Code::MalformedBody, format!("the policy is refused: {error}")))?;
    let stages = state.correlator.stages().by_all_names(&generation);
    let given: Policy = given.map_or_else(
        || stages.current.clone(),
        |given| by_all_names(given, &generation),
    );
    let after = asked.cursor.map(|cursor| cursor.parse::<NodeId>()).transpose()?;
    if let Some(node) = &after
        && state.store.node(node).await?.is_none()
    {
        let detail = format!("cursor: there is no node {node}; begin again without a cursor");
        return Err(Problem::new(Code::MalformedBody, detail));
    }
    let page = replay::replay(
        state.store.as_ref(),
        replay::Asked {
            knowledge: (&generation, &state.correlator),
            present: &stages,
            given: &given,
            days,
            after,
            nodes,
            within: WITHIN,
            now: state.clock.now(),
        },
    )
    .await?;
    Ok(HttpResponse::Ok().json(ReplayAnswer {
        counts: page.counts,
        nodes: page.nodes,
        next_cursor: page.next,
    }))
}

fn within(name: &str, number: u32, most: u32) -> Result<u32, Problem> {
    if (1..=most).contains(&number) {
        return Ok(number);
    }
    Err(Problem::new(
        Code::MalformedBody,
        format!("{name} is 1 to {most}"),
    ))
}

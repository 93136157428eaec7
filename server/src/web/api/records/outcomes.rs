//! `…/-/outcomes`: votes on what a record advises.

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};

use super::{Located, locate};
use crate::domain::outcomes::{self, OutcomeReceipt, OutcomeVote, Outcomes, Voting};
use crate::web::auth::{Anyone, FeedbackWriter};
use crate::web::error::{Problem, ProblemBody};
use crate::web::state::AppState;
use crate::web::{anonymous, body, feedback, limits};

/// What came of what the record advises. A share is told from ten people on, who vote with a session or a token of their own.
#[utoipa::path(
    get, path = "/api/v1/records/{id}/-/outcomes", operation_id = "get_record_outcomes", tag = "records",
    params(("id" = String, Path, description = "Two or three segments, raw or with %2F")),
    responses(
        (status = 200, description = "Votes by action", body = Outcomes),
        (status = 308, description = "The record has another id now"),
        (status = 404, description = "No such published record", body = ProblemBody),
    ),
)]
pub async fn get(
    caller: Anyone,
    request: HttpRequest,
    path: web::Path<String>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let status = match locate(&state, &request, &path, caller.0.as_ref()).await? {
        Located::Here(status) => status,
        Located::Moved(response) => return Ok(response),
    };
    Ok(HttpResponse::Ok().json(outcomes::outcomes(state.store.as_ref(), &status.id).await?))
}

/// Says whether something that the record advises helped. A person has one vote for each action and GPU model, whatever they send
/// it with, and may change it. A vote without a login, where the operator allows it, is read by an editor and counts in no share.
#[utoipa::path(
    post, path = "/api/v1/records/{id}/-/outcomes", operation_id = "add_record_outcome", tag = "records",
    params(("id" = String, Path, description = "Two or three segments, raw or with %2F")),
    request_body = OutcomeVote,
    responses(
        (status = 200, description = "The vote is taken; all votes", body = OutcomeReceipt),
        (status = 308, description = "The record has another id now"),
        (status = 400, description = "The body cannot be read, or names no action", body = ProblemBody),
        (status = 404, description = "No such published record or revision", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 415, description = "Not JSON", body = ProblemBody),
    ),
    security((), ("token" = [])),
)]
pub async fn post(
    writer: FeedbackWriter,
    request: HttpRequest,
    path: web::Path<String>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let voting = match &writer.0 {
        Some(actor) => Voting::Known(actor),
        None => Voting::Nobody(anonymous::nobody(&state, &request)),
    };
    let status = match locate(&state, &request, &path, writer.0.as_ref()).await? {
        Located::Here(status) => status,
        Located::Moved(response) => return Ok(response),
    };
    let vote: OutcomeVote = body::json(&request, payload, limits::OUTCOME_BYTES).await?;
    Ok(HttpResponse::Ok().json(feedback::cast(&state, &status.id, vote, voting).await?))
}

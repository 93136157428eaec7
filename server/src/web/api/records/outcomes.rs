//! `…/-/outcomes`: votes on what a record advises.

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};

use super::{Located, locate};
use crate::domain::outcomes::{self, OutcomeError, OutcomeReceipt, OutcomeVote, Outcomes};
use crate::web::auth::{Anyone, Uploader};
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;
use crate::web::{body, limits};

/// What came of what the record advises, as reporters voted.
#[utoipa::path(
    get, path = "/api/v1/records/{id}/-/outcomes", operation_id = "get_record_outcomes", tag = "records",
    params(("id" = String, Path, description = "Two or three segments, raw or with %2F")),
    responses(
        (status = 200, description = "Votes by action and environment", body = Outcomes),
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

/// Says whether something that the record advises helped. The holder of a token has one vote for each action and
/// GPU model, and may change it.
#[utoipa::path(
    post, path = "/api/v1/records/{id}/-/outcomes", operation_id = "add_record_outcome", tag = "records",
    params(("id" = String, Path, description = "Two or three segments, raw or with %2F")),
    request_body = OutcomeVote,
    responses(
        (status = 200, description = "The vote counts; all votes", body = OutcomeReceipt),
        (status = 308, description = "The record has another id now"),
        (status = 400, description = "The body cannot be read, or names no action", body = ProblemBody),
        (status = 404, description = "No such published record or revision", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 415, description = "Not JSON", body = ProblemBody),
    ),
    security(("token" = [])),
)]
pub async fn post(
    uploader: Uploader,
    request: HttpRequest,
    path: web::Path<String>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let status = match locate(&state, &request, &path, Some(&uploader.0)).await? {
        Located::Here(status) => status,
        Located::Moved(response) => return Ok(response),
    };
    let vote: OutcomeVote = body::json(&request, payload, limits::OUTCOME_BYTES).await?;
    let now = state.clock.now();
    let generation = state.knowledge.current();
    let receipt = outcomes::vote(
        (state.store.as_ref(), &generation),
        &status.id,
        vote,
        &uploader.0,
        now,
    )
    .await?;
    Ok(HttpResponse::Ok().json(receipt))
}

impl From<OutcomeError> for Problem {
    fn from(error: OutcomeError) -> Self {
        let code = match error {
            OutcomeError::Store(error) => return error.into(),
            OutcomeError::NoRecord(_) | OutcomeError::NoRevision(..) => Code::NotFound,
            OutcomeError::NoAction(..) | OutcomeError::Environment | OutcomeError::Component(_) => {
                Code::MalformedBody
            }
            OutcomeError::NoVote | OutcomeError::NoToken => Code::Forbidden,
            OutcomeError::TooManyModels => Code::RateLimited,
        };
        Self::new(code, error.to_string())
    }
}

//! `POST …/-/publish` and `…/-/withdraw`: what readers see.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse, web};
use kb_core::ids::{RecordId, Revision};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::moved_away;
use super::reviews::ReviewAnswer;
use crate::domain::curate::{self, Approver, CurateError, Gate, TakenAway};
use crate::domain::tokens::Actor;
use crate::store::{Published, Withdrawal};
use crate::web::approver::{admin_reason, approver};
use crate::web::auth::Publisher;
use crate::web::body::{self, BodyError};
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::etag::{self, Tags};
use crate::web::state::AppState;

/// What to publish.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PublishQuery {
    /// The revision; the newest unless said. An older one brings back what it said.
    revision: Option<u32>,
    /// Publish although the gate refuses it, and why; at most 500 characters, shown with the record. Needs the scope
    /// `admin`.
    force: Option<String>,
}

/// Why a record is withdrawn.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WithdrawQuery {
    /// Why, for readers of the record; at most 4000 characters.
    reason: Option<String>,
    /// Id of the published record that says it better.
    replaced_by: Option<String>,
    /// Why one person alone withdraws what decides a node's verdict; at most 500 characters, shown with the record. Needs the
    /// scope `admin`.
    alone: Option<String>,
}

/// Where a change to what readers see stands.
#[derive(Debug, Serialize, ToSchema)]
pub struct PublishedBody {
    /// The revision that readers see, or saw last.
    revision: u32,
    /// Its place in the feed: an answer with `kb.seq` of this or more knows it.
    seq: i64,
}

/// How long an answer waits for this server's own readers to see the change. They will in any case.
const PATIENCE: Duration = Duration::from_secs(2);

/// Lets this server take the change in before its author is answered.
pub(super) async fn announce(state: &AppState, published: Published) -> PublishedBody {
    state.knowledge.holds(published.seq, PATIENCE).await;
    PublishedBody {
        revision: published.revision.0,
        seq: published.seq.0,
    }
}

/// What a publication passes, and who publishes: the knowledge that it joins, or an administrator's reason to do without that and
/// without a second person.
pub(super) fn gate_for(
    force: Option<&str>,
    actor: &Actor,
    state: &AppState,
) -> Result<(Gate, Approver), Problem> {
    let force = admin_reason(("force", Code::BadQuery), force, actor, state)?;
    let gate = match &force {
        Some(reason) => Gate::Forced(reason.clone()),
        None => Gate::Asked(Arc::clone(&state.knowledge)),
    };
    Ok((gate, approver(actor, force)))
}

/// Makes a revision what readers see. No body: `?revision=N` says which. `If-Match`, when sent, must name the newest.
#[utoipa::path(
    post, path = "/api/v1/records/{id}/-/publish", operation_id = "publish_record", tag = "records", security(("token" = ["publish"])),
    params(("id" = String, Path), PublishQuery),
    responses(
        (status = 200, description = "Readers see it", body = PublishedBody),
        (status = 308, description = "The record has another id now"),
        (status = 400, description = "A body came, or a parameter is wrong", body = ProblemBody),
        (status = 404, description = "No such record or revision", body = ProblemBody),
        (status = 409, description = "Other records were published at the same time, or a second person is needed", body = ProblemBody),
        (status = 412, description = "Changed in the meantime", body = ProblemBody),
        (status = 422, description = "Breaks rules", body = ProblemBody),
    ),
)]
pub async fn publish(
    publisher: Publisher,
    request: HttpRequest,
    path: web::Path<String>,
    query: web::Query<PublishQuery>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    refuse_body(&request, payload, "say ?revision=N in the address").await?;
    let id: RecordId = path.parse()?;
    if let Some(elsewhere) = moved_away(&state, &request, &id).await? {
        return Ok(elsewhere);
    }
    check_if_match(&request, &state, &id).await?;
    let revision = query.revision.map(Revision);
    let now = state.clock.now();
    let (gate, approver) = gate_for(query.force.as_deref(), &publisher.0, &state)?;
    let which = (&id, revision);
    let store = state.store.as_ref();
    let done = curate::publish(store, (&gate, None), which, (&approver, None), now).await?;
    Ok(answer(&state, done).await)
}

/// Takes a record out of matching and search; it stays readable by its id, marked. One that decides how nodes are judged is not
/// withdrawn by one person: that waits in review until a second one approves it, or does the same. There is no body.
#[utoipa::path(
    post, path = "/api/v1/records/{id}/-/withdraw", operation_id = "withdraw_record", tag = "records", security(("token" = ["publish"])),
    params(("id" = String, Path), WithdrawQuery),
    responses(
        (status = 200, description = "Withdrawn", body = PublishedBody),
        (status = 202, description = "It waits for a second person", body = ReviewAnswer),
        (status = 308, description = "The record has another id now"),
        (status = 400, description = "A body came", body = ProblemBody),
        (status = 404, description = "No such record", body = ProblemBody),
        (status = 409, description = "It was never published, became another record, somebody asks something else with it, or a second person is needed and no reason is given", body = ProblemBody),
    ),
)]
pub async fn withdraw(
    publisher: Publisher,
    request: HttpRequest,
    path: web::Path<String>,
    query: web::Query<WithdrawQuery>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    refuse_body(&request, payload, "the whole record is withdrawn").await?;
    let id: RecordId = path.parse()?;
    if let Some(elsewhere) = moved_away(&state, &request, &id).await? {
        return Ok(elsewhere);
    }
    check_if_match(&request, &state, &id).await?;
    let now = state.clock.now();
    let query = query.into_inner();
    let replaced_by = query.replaced_by.map(|other| other.parse()).transpose()?;
    let withdrawal = Withdrawal {
        id,
        by: publisher.0.by(),
        reason: query.reason,
        replaced_by,
        expected: None,
        approves: None,
        at: now,
    };
    let alone = ("alone", Code::BadQuery);
    let alone = admin_reason(alone, query.alone.as_deref(), &publisher.0, &state)?;
    let approver = approver(&publisher.0, alone);
    match curate::take_away(state.store.as_ref(), withdrawal, &approver).await? {
        TakenAway::Gone(withdrawn) => Ok(answer(&state, withdrawn).await),
        TakenAway::Asked(review) => Ok(HttpResponse::Accepted().json(ReviewAnswer::asked(*review))),
    }
}

pub(super) async fn answer(state: &AppState, published: Published) -> HttpResponse {
    let body = announce(state, published).await;
    HttpResponse::Ok()
        .insert_header((header::ETAG, etag::of_revision(published.revision)))
        .json(body)
}

/// What somebody says in a body that nobody reads would be done otherwise than it was meant.
pub(super) async fn refuse_body(
    request: &HttpRequest,
    payload: Payload,
    instead: &str,
) -> Result<(), Problem> {
    match body::raw(request, payload, 0).await {
        Ok(_) => Ok(()),
        Err(BodyError::TooLarge(_)) => Err(Problem::new(
            Code::MalformedBody,
            format!("this takes no body: {instead}"),
        )),
        Err(error) => Err(error.into()),
    }
}

/// A precondition is welcome here, though not asked for: the step names a revision that exists already.
pub(super) async fn check_if_match(
    request: &HttpRequest,
    state: &AppState,
    id: &RecordId,
) -> Result<(), Problem> {
    let Some(Tags::These(tags)) = etag::read(request.headers(), &header::IF_MATCH)? else {
        return Ok(());
    };
    let status = state.store.status(id).await?;
    let status = status.ok_or_else(|| CurateError::NoRecord(id.clone()))?;
    if Tags::These(tags).revisions().contains(&status.head) {
        return Ok(());
    }
    Err(CurateError::Stale(Some(status.head)).into())
}

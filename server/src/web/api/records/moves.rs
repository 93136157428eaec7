//! `POST …/-/merge` and `…/-/rename`: a record that becomes another.

use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse, web};
use kb_core::ids::RecordId;
use serde::Deserialize;
use utoipa::IntoParams;

use super::moved_away;
use super::publish::{PublishedBody, answer, check_if_match, refuse_body};
use crate::domain::curate;
use crate::web::approver::{admin_reason, approver};
use crate::web::auth::Publisher;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;

/// Which record says it, too.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MergeQuery {
    /// Id of the published record that stays.
    into: String,
    /// Why, for the audit; at most 4000 characters.
    reason: Option<String>,
    /// Why one person alone merges away what decides a node's verdict; at most 500 characters, shown with the record. Needs the
    /// scope `admin`.
    alone: Option<String>,
}

/// The id that a record gets.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RenameQuery {
    /// It must be free.
    new_id: String,
}

/// Merges a record into another that says the same: its addresses, former ids, edges that end in it and votes lead there. There is no
/// body.
#[utoipa::path(
    post, path = "/api/v1/records/{id}/-/merge", operation_id = "merge_record", tag = "records", security(("token" = ["publish"])),
    params(("id" = String, Path), MergeQuery),
    responses(
        (status = 200, description = "Merged; the revision of the record that stays", body = PublishedBody),
        (status = 308, description = "The record has another id now"),
        (status = 400, description = "A body came, or a parameter is wrong", body = ProblemBody),
        (status = 404, description = "No such record", body = ProblemBody),
        (status = 409, description = "It is not published, has a draft, or a second person is needed", body = ProblemBody),
        (status = 412, description = "Changed in the meantime", body = ProblemBody),
    ),
)]
pub async fn merge(
    publisher: Publisher,
    request: HttpRequest,
    path: web::Path<String>,
    query: web::Query<MergeQuery>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    refuse_body(&request, payload, "say ?into=ID in the address").await?;
    let (id, into): (RecordId, RecordId) = (path.parse()?, query.into.parse()?);
    if let Some(elsewhere) = moved_away(&state, &request, &id).await? {
        return Ok(elsewhere);
    }
    check_if_match(&request, &state, &id).await?;
    let query = query.into_inner();
    let alone = ("alone", Code::BadQuery);
    let alone = admin_reason(alone, query.alone.as_deref(), &publisher.0, &state)?;
    let approver = approver(&publisher.0, alone);
    let (store, reason, now) = (state.store.as_ref(), query.reason.as_deref(), state.clock.now());
    let merged = curate::merge_into(store, (&id, &into), reason, &approver, now).await?;
    Ok(answer(&state, merged).await)
}

/// Gives a record another id; the former one, edges that end in it and votes lead there. There is no body.
#[utoipa::path(
    post, path = "/api/v1/records/{id}/-/rename", operation_id = "rename_record", tag = "records", security(("token" = ["publish"])),
    params(("id" = String, Path), RenameQuery),
    responses(
        (status = 200, description = "It has the new id", body = PublishedBody),
        (status = 308, description = "The record has another id now"),
        (status = 400, description = "A body came, or a parameter is wrong", body = ProblemBody),
        (status = 404, description = "No such record", body = ProblemBody),
        (status = 409, description = "It is not published, has a draft, or the id is taken", body = ProblemBody),
        (status = 412, description = "Changed in the meantime", body = ProblemBody),
        (status = 422, description = "The id breaks rules", body = ProblemBody),
    ),
)]
pub async fn rename(
    publisher: Publisher,
    request: HttpRequest,
    path: web::Path<String>,
    query: web::Query<RenameQuery>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    refuse_body(&request, payload, "say ?new_id=ID in the address").await?;
    let (id, to): (RecordId, RecordId) = (path.parse()?, query.new_id.parse()?);
    if let Some(elsewhere) = moved_away(&state, &request, &id).await? {
        return Ok(elsewhere);
    }
    check_if_match(&request, &state, &id).await?;
    let (by, now) = (publisher.0.by(), state.clock.now());
    let renamed = curate::rename(state.store.as_ref(), (&id, &to), &by, now).await?;
    Ok(answer(&state, renamed).await)
}

//! `…/-/comments`: what people say of the fields of a revision.

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::ids::{RecordId, Revision};
use kb_core::text::Part;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::get::rfc3339;
use super::{Located, locate};
use crate::domain::curate;
use crate::store::{Comment, NewComment};
use crate::web::auth::Editor;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;
use crate::web::{body, limits};

/// A comment to make, or the number of one that is done.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentBody {
    /// The revision that is spoken of; the newest unless said.
    #[schema(minimum = 1)]
    revision: Option<u32>,
    /// `document` or `annex`.
    part: Option<CommentPart>,
    /// Pointer to the field; empty for the whole text.
    #[serde(default)]
    pointer: String,
    /// At most 4000 characters.
    body: Option<String>,
    /// In place of a comment: the number of one that is done.
    resolve: Option<u32>,
}

/// Which of a record's two texts.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommentPart {
    /// The document.
    Document,
    /// The annex.
    Annex,
}

/// A comment.
#[derive(Debug, Serialize, ToSchema)]
pub struct CommentEntry {
    n: u32,
    revision: u32,
    /// `document` or `annex`.
    #[schema(value_type = String)]
    part: Part,
    pointer: String,
    author: String,
    body: String,
    /// RFC 3339.
    at: String,
    /// Who marked it as done.
    resolved_by: Option<String>,
    /// When.
    resolved_at: Option<String>,
}

/// Comments on a record, in the order in which they were made.
#[derive(Debug, Serialize, ToSchema)]
pub struct Comments {
    comments: Vec<CommentEntry>,
}

/// Comments on the fields of a record.
#[utoipa::path(
    get, path = "/api/v1/records/{id}/-/comments", operation_id = "list_record_comments", tag = "records",
    security(("token" = ["edit"])), params(("id" = String, Path)),
    responses(
        (status = 200, description = "All comments", body = Comments),
        (status = 308, description = "The record has another id now"),
        (status = 404, description = "No such record", body = ProblemBody),
    ),
)]
pub async fn list(
    editor: Editor,
    request: HttpRequest,
    path: web::Path<String>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let status = match locate(&state, &request, &path, Some(&editor.0)).await? {
        Located::Here(status) => status,
        Located::Moved(response) => return Ok(response),
    };
    answer_comments(&state, &status.id).await
}

/// Comments on a field, or marks a comment as done.
#[utoipa::path(
    post, path = "/api/v1/records/{id}/-/comments", operation_id = "comment_record", tag = "records",
    security(("token" = ["edit"])), params(("id" = String, Path)), request_body = CommentBody,
    responses(
        (status = 200, description = "All comments", body = Comments),
        (status = 308, description = "The record has another id now"),
        (status = 400, description = "The body cannot be read, or names no field", body = ProblemBody),
        (status = 404, description = "No such record, revision or open comment", body = ProblemBody),
        (status = 409, description = "The record has as many comments as it may", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 415, description = "Not JSON", body = ProblemBody),
    ),
)]
pub async fn make(
    editor: Editor,
    request: HttpRequest,
    path: web::Path<String>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let status = match locate(&state, &request, &path, Some(&editor.0)).await? {
        Located::Here(status) => status,
        Located::Moved(response) => return Ok(response),
    };
    let asked: CommentBody = body::json(&request, payload, limits::REVIEW_BYTES).await?;
    let (store, at, by) = (state.store.as_ref(), state.clock.now(), editor.0.by());
    match (asked.body, asked.resolve) {
        (Some(body), None) => {
            let comment = NewComment {
                record: status.id.clone(),
                revision: asked.revision.map_or(status.head, Revision),
                part: match asked.part {
                    Some(CommentPart::Annex) => Part::Annex,
                    _ => Part::Document,
                },
                pointer: asked.pointer,
                by,
                body,
                at,
            };
            curate::comment(store, comment).await?;
        }
        (None, Some(n)) => {
            if !curate::resolve(store, &status.id, n, &by, at).await? {
                let detail = format!("no comment {n} is open");
                return Err(Problem::new(Code::NotFound, detail));
            }
        }
        _ => {
            let detail = "send either `body`, a comment, or `resolve`, the number of one that is done";
            return Err(Problem::new(Code::MalformedBody, detail));
        }
    }
    answer_comments(&state, &status.id).await
}

async fn answer_comments(state: &AppState, id: &RecordId) -> Result<HttpResponse, Problem> {
    let comments = state.store.comments(id).await?;
    Ok(HttpResponse::Ok().json(Comments {
        comments: comments.into_iter().map(comment_entry).collect(),
    }))
}

fn comment_entry(comment: Comment) -> CommentEntry {
    CommentEntry {
        n: comment.n,
        revision: comment.revision.0,
        part: comment.part,
        pointer: comment.pointer,
        author: comment.author,
        body: comment.body,
        at: rfc3339(comment.at),
        resolved_at: comment.resolved.as_ref().map(|(_, at)| rfc3339(*at)),
        resolved_by: comment.resolved.map(|(by, _)| by),
    }
}

//! `PUT /api/v1/records/{id}`: a new head, and with `publish=true` at once what readers see.

use actix_web::http::header;
use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::ids::RecordId;
use kb_core::text::Violation;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::get::View;
use super::moved_away;
use super::publish::{PublishedBody, announce, gate_for};
use crate::domain::curate::{self, CurateError, Draft};
use crate::store::{Expected, Scope};
use crate::web::auth::{Access, Caller, Editor};
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::etag::{self, Tags};
use crate::web::state::AppState;
use crate::web::{body, limits};

/// How a change is sent.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PutQuery {
    /// `document` (the default): the body is the document, the annex stays. `full`: `{"document": …, "ext": …}`.
    #[serde(default)]
    view: View,
    /// Publish the new revision at once; needs the scope `publish` too.
    #[serde(default)]
    publish: bool,
    /// Why, for the list of revisions; at most 500 characters.
    note: Option<String>,
    /// With `publish`: publish although the gate refuses it, and why; at most 500 characters, shown with the record. Needs
    /// the scope `admin`.
    force: Option<String>,
}

/// A body of `view=full`; both texts are kept as they stand in it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FullBody {
    /// The document.
    #[schema(value_type = Object)]
    document: Box<RawValue>,
    /// The annex; absent keeps it.
    #[schema(value_type = Option<Object>)]
    ext: Option<Box<RawValue>>,
}

/// What became of a change.
#[derive(Debug, Serialize, ToSchema)]
pub struct PutAnswer {
    /// The record.
    id: String,
    /// The head now.
    revision: u32,
    /// False when the texts were the head's already.
    changed: bool,
    /// Where it was published, if that was asked for.
    published: Option<PublishedBody>,
    /// What is not good, but was accepted.
    #[schema(value_type = Vec<Object>)]
    warnings: Vec<Violation>,
}

/// Makes a new head. `If-Match: "r8"` changes, `If-None-Match: *` creates; one of them must be there.
#[utoipa::path(
    put, path = "/api/v1/records/{id}", operation_id = "save_record", tag = "records", security(("token" = ["edit"])),
    params(("id" = String, Path, description = "Two or three segments, raw or with %2F"), PutQuery,
        ("If-Match" = Option<String>, Header, description = "The revision that was read"),
        ("If-None-Match" = Option<String>, Header, description = "*: only if there is no such record yet")),
    request_body(content = Object, description = "The document, or FullBody with view=full", content_type = "application/json"),
    responses(
        (status = 200, description = "A new revision, or the texts were the head's already", body = PutAnswer),
        (status = 201, description = "A new record", body = PutAnswer),
        (status = 308, description = "The record has another id now"),
        (status = 409, description = "With publish=true: other records were published at the same time, or a second person is needed. The revision is saved", body = ProblemBody),
        (status = 412, description = "Changed in the meantime, or exists already", body = ProblemBody),
        (status = 422, description = "Breaks rules, listed in `violations`", body = ProblemBody),
        (status = 428, description = "Without If-Match and If-None-Match", body = ProblemBody),
    ),
)]
pub async fn put(
    editor: Editor,
    request: HttpRequest,
    path: web::Path<String>,
    query: web::Query<PutQuery>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let id: RecordId = path.parse()?;
    if let Some(elsewhere) = moved_away(&state, &request, &id).await? {
        return Ok(elsewhere);
    }
    if query.publish {
        let caller = Caller(Some(editor.0.clone()));
        Access::Scope(Scope::Publish).check(&caller, state.settings.opened())?;
    }
    if query
        .note
        .as_ref()
        .is_some_and(|note| note.chars().count() > limits::NOTE_CHARACTERS)
    {
        return Err(Problem::new(
            Code::BadQuery,
            format!("note has at most {} characters", limits::NOTE_CHARACTERS),
        ));
    }
    let (gate, approver) = gate_for(query.force.as_deref(), &editor.0, &state)?;
    let expected = expected(&request, &state, &id).await?;
    let (document, annex) = texts(&request, payload, &query, &state, &id).await?;
    let now = state.clock.now();
    let draft = Draft {
        id: id.clone(),
        document,
        annex,
        expected,
        by: editor.0.by(),
        note: query.note.clone(),
    };
    let gate_of_draft = query.publish.then_some(&gate);
    let accepted = curate::save(state.store.as_ref(), draft, gate_of_draft, now).await?;
    let mut published = None;
    if query.publish {
        let which = (&id, Some(accepted.revision));
        let done = curate::publish(
            state.store.as_ref(),
            (&gate, accepted.passed),
            which,
            (&approver, None),
            now,
        )
        .await?;
        published = Some(announce(&state, done).await);
    }
    // The same record sent again, because its first answer was lost, is there already.
    let created = expected == Expected::Absent && accepted.changed;
    let mut response = if created {
        HttpResponse::Created()
    } else {
        HttpResponse::Ok()
    };
    if created {
        response.insert_header((header::LOCATION, format!("/api/v1/records/{id}")));
    }
    response.insert_header((header::ETAG, etag::of_revision(accepted.revision)));
    Ok(response.json(PutAnswer {
        id: id.to_string(),
        revision: accepted.revision.0,
        changed: accepted.changed,
        published,
        warnings: accepted.warnings,
    }))
}

async fn expected(request: &HttpRequest, state: &AppState, id: &RecordId) -> Result<Expected, Problem> {
    let if_match = etag::read(request.headers(), &header::IF_MATCH)?;
    let if_none_match = etag::read(request.headers(), &header::IF_NONE_MATCH)?;
    match (if_match, if_none_match) {
        (None, Some(Tags::Any)) => Ok(Expected::Absent),
        (Some(_), Some(_)) | (None, Some(Tags::These(_))) => Err(Problem::new(
            Code::BadHeader,
            "send either If-Match with a revision, or If-None-Match: *",
        )),
        (None, None) => Err(Problem::new(
            Code::PreconditionRequired,
            "send If-Match with the ETag that was read, or If-None-Match: * to make a new record",
        )),
        (Some(tags), None) => {
            let head = state.store.status(id).await?.map(|status| status.head);
            let head = head.ok_or(CurateError::Stale(None))?;
            let named = matches!(tags, Tags::Any) || tags.revisions().contains(&head);
            if named {
                Ok(Expected::Head(head))
            } else {
                Err(CurateError::Stale(Some(head)).into())
            }
        }
    }
}

async fn texts(
    request: &HttpRequest,
    payload: Payload,
    query: &PutQuery,
    state: &AppState,
    id: &RecordId,
) -> Result<(String, Option<String>), Problem> {
    if query.view == View::Document {
        if !body::is_json(request) {
            return Err(body::json_needed());
        }
        return Ok((body::text(request, payload, limits::RECORD_BYTES).await?, None));
    }
    let full: FullBody = body::json(request, payload, limits::PUT_BYTES).await?;
    let head = match state.store.status(id).await? {
        Some(status) => state.store.revision(id, status.head).await?,
        None => None,
    };
    let (old_document, old_annex) =
        head.map_or((String::new(), String::new()), |head| (head.document, head.annex));
    let document = in_frame(full.document.get(), &old_document);
    let annex = full.ext.map(|ext| in_frame(ext.get(), &old_annex));
    Ok((document, annex))
}

/// White space around a value is no part of it, so a full view loses it on its way to the editor and back. What
/// the head has there is put back, for an unchanged text must stay unchanged; a new text ends its last line.
fn in_frame(value: &str, old: &str) -> String {
    let inner = old.trim();
    if inner.is_empty() {
        return format!("{value}\n");
    }
    let start = old.len() - old.trim_start().len();
    let end = start + inner.len();
    format!(
        "{}{value}{}",
        old.get(..start).unwrap_or_default(),
        old.get(end..).unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_white_space_around_a_text_stays() {
        assert_eq!(in_frame("{}", ""), "{}\n");
        assert_eq!(in_frame("{\"a\":1}", "{}\n"), "{\"a\":1}\n");
        assert_eq!(in_frame("{\"a\":1}", "{}"), "{\"a\":1}");
        assert_eq!(in_frame("{\"a\":1}", " \n{ }\r\n"), " \n{\"a\":1}\r\n");
    }
}

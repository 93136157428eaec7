//! `POST …/-/split`: one record becomes two.

use std::collections::BTreeSet;

use actix_web::http::header;
use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::ids::{RecordId, Revision};
use kb_core::text::{Part, Violation};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Located, locate};
use crate::domain::curate::{self, Parting};
use crate::web::auth::Editor;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;
use crate::web::{body, limits};

/// What goes to a new record.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "new_id": "cuda/peer-access-in-a-container", "revision": 1, "signature": "peer access is not supported in this container",
    "move": ["annex:/patterns/0", "annex:/examples/1", "document:/regex"],
}))]
pub struct SplitBody {
    /// Id of the new record; it must be free.
    new_id: String,
    /// The newest revision of the old one, whose places are meant.
    #[schema(minimum = 1)]
    revision: u32,
    /// Signature of the new record.
    #[schema(min_length = 1)]
    signature: String,
    /// Title of the new record.
    #[schema(min_length = 1)]
    title: Option<String>,
    /// Places in document and annex: items of `patterns`, `phrases`, `codes`, `examples`, `near_misses` and of the lists of
    /// `transition_graph`, and the document's `regex` and `error_code`.
    #[serde(rename = "move")]
    #[schema(min_items = 1)]
    moves: Vec<String>,
}

/// The newest revisions of both; none of them is published by this.
#[derive(Debug, Serialize, ToSchema)]
pub struct SplitAnswer {
    /// The record that lost what went.
    old: SplitHalf,
    /// The record that has it now.
    new: SplitHalf,
}

/// One of the two.
#[derive(Debug, Serialize, ToSchema)]
pub struct SplitHalf {
    /// The record.
    id: String,
    /// Its newest revision, a draft.
    revision: u32,
    /// What is not good about it.
    #[schema(value_type = Vec<Object>)]
    warnings: Vec<Violation>,
}

/// Makes two records of one: what is named goes to a new record. Both are drafts then, saved in one step; publishing each is its own.
#[utoipa::path(
    post, path = "/api/v1/records/{id}/-/split", operation_id = "split_record", tag = "records", security(("token" = ["edit"])),
    params(("id" = String, Path)), request_body = SplitBody,
    responses(
        (status = 201, description = "Both are drafts", body = SplitAnswer),
        (status = 308, description = "The record has another id now"),
        (status = 400, description = "Nothing is named, or nothing stands there", body = ProblemBody),
        (status = 404, description = "No such record", body = ProblemBody),
        (status = 409, description = "The new id is taken", body = ProblemBody),
        (status = 412, description = "Changed in the meantime", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 415, description = "Not JSON", body = ProblemBody),
        (status = 422, description = "One of the two would break rules", body = ProblemBody),
    ),
)]
pub async fn split(
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
    let asked: SplitBody = body::json(&request, payload, limits::REVIEW_BYTES).await?;
    let to: RecordId = asked.new_id.parse()?;
    if asked
        .title
        .as_deref()
        .is_some_and(|title| title.trim().is_empty())
    {
        return Err(Problem::new(
            Code::MalformedBody,
            "a title that is there is not empty",
        ));
    }
    let parting = Parting {
        id: &status.id,
        head: Revision(asked.revision),
        to: &to,
        signature: &asked.signature,
        title: asked.title.as_deref(),
        moves: places(asked.moves.iter().map(String::as_str))?,
    };
    let (by, now) = (editor.0.by(), state.clock.now());
    let parted = curate::split(state.store.as_ref(), parting, &by, now).await?;
    let half = |id: &RecordId, (revision, warnings): (Revision, Vec<Violation>)| SplitHalf {
        id: id.to_string(),
        revision: revision.0,
        warnings,
    };
    Ok(HttpResponse::Created()
        .insert_header((header::LOCATION, format!("/api/v1/records/{to}")))
        .json(SplitAnswer {
            old: half(&status.id, parted.old),
            new: half(&to, parted.new),
        }))
}

/// `annex:/patterns/0` is in the annex.
pub(in crate::web) fn places<'a>(
    names: impl Iterator<Item = &'a str>,
) -> Result<BTreeSet<(Part, String)>, Problem> {
    let place = |name: &str| {
        let (part, pointer) = match name.split_once(':') {
            Some(("annex", pointer)) => (Part::Annex, pointer),
            Some(("document", pointer)) => (Part::Document, pointer),
            _ => {
                let detail = format!("{name:?} begins with neither `document:` nor `annex:`");
                return Err(Problem::new(Code::MalformedBody, detail));
            }
        };
        Ok((part, pointer.to_owned()))
    };
    names.map(place).collect()
}

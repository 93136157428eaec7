//! `…/-/diff`, `…/-/blame` and `…/-/revert`: what changed by field, which revision a field is from, and going back.

use actix_web::http::header;
use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::compare::{self, Change};
use kb_core::ids::Revision;
use kb_core::text::{Part, Tree};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::get::{choose, no_revision, rfc3339};
use super::publish::{PublishedBody, announce, gate_for};
use super::{Located, locate, may_edit};
use crate::domain::curate::{self, CurateError};
use crate::domain::tokens::Actor;
use crate::store::{RecordStatus, RevisionMeta, RevisionTexts};
use crate::web::auth::{Anyone, Publisher};
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::etag::{self, Tags};
use crate::web::state::AppState;
use crate::web::{body, limits};

/// Revisions that are looked at for where a field is from.
const MOST_REVISIONS: usize = 100;

/// Which revisions to compare.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DiffQuery {
    /// The older revision.
    from: String,
    /// The newer one; the published one unless said.
    to: Option<String>,
}

/// What changed between two revisions, by field.
#[derive(Debug, Serialize, ToSchema)]
pub struct FieldDiff {
    /// The record.
    id: String,
    /// The older revision.
    from: u32,
    /// The newer one.
    to: u32,
    /// The fields that differ, in the order of the newer text.
    changes: Vec<Change>,
}

/// Which revision each field is from.
#[derive(Debug, Serialize, ToSchema)]
pub struct FieldBlame {
    /// The record.
    id: String,
    /// The revision whose fields are told.
    revision: u32,
    /// False where the record has more revisions than are looked at: what is from the oldest may be older.
    complete: bool,
    /// Its fields.
    fields: Vec<BlamedField>,
}

/// A field and where it is from.
#[derive(Debug, Serialize, ToSchema)]
pub struct BlamedField {
    /// `document` or `annex`.
    #[schema(value_type = String)]
    part: Part,
    /// JSON pointer.
    pointer: String,
    /// The revision that gave it its value.
    revision: u32,
    /// Who made that.
    actor: String,
    /// When, RFC 3339.
    at: String,
    /// Why.
    note: Option<String>,
}

/// The revision to go back to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RevertBody {
    /// Its number.
    #[schema(minimum = 1)]
    revision: u32,
    /// Publish it although the gate refuses it, or without a second person, and why. Needs the scope `admin`.
    force: Option<String>,
}

/// The new revision that says what the old one said.
#[derive(Debug, Serialize, ToSchema)]
pub struct RevertAnswer {
    /// The new head.
    revision: u32,
    /// Where it was published.
    published: PublishedBody,
}

/// What changed between two revisions, field by field.
#[utoipa::path(
    get, path = "/api/v1/records/{id}/-/diff", operation_id = "diff_record", tag = "records",
    params(("id" = String, Path), DiffQuery),
    responses(
        (status = 200, description = "The fields that differ", body = FieldDiff),
        (status = 308, description = "The record has another id now"),
        (status = 404, description = "No such record or revision", body = ProblemBody),
    ),
)]
pub async fn diff(
    caller: Anyone,
    request: HttpRequest,
    path: web::Path<String>,
    query: web::Query<DiffQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let actor = caller.0.as_ref();
    let status = match locate(&state, &request, &path, actor).await? {
        Located::Here(status) => status,
        Located::Moved(response) => return Ok(response),
    };
    let from = texts(&state, &status, Some(&query.from), actor).await?;
    let to = texts(&state, &status, query.to.as_deref(), actor).await?;
    let (older, newer) = (from.meta.revision, to.meta.revision);
    let work = move || {
        let mut changes = part(Part::Document, &from.document, &to.document)?;
        changes.extend(part(Part::Annex, &from.annex, &to.annex)?);
        Ok::<_, Problem>(changes)
    };
    let changes = Desk::of(&request).compute(ALL_RECORDS, work).await??;
    Ok(HttpResponse::Ok().json(FieldDiff {
        id: status.id.to_string(),
        from: older.0,
        to: newer.0,
        changes,
    }))
}

fn part(part: Part, old: &str, new: &str) -> Result<Vec<Change>, Problem> {
    Ok(compare::diff(part, &tree(old)?, &tree(new)?))
}

fn tree(text: &str) -> Result<Tree, Problem> {
    Tree::parse(text).map_err(|error| Problem::internal(&error))
}

/// For each field the revision that gave it its value: of the published revision, or of the newest for editors.
#[utoipa::path(
    get, path = "/api/v1/records/{id}/-/blame", operation_id = "blame_record", tag = "records",
    params(("id" = String, Path)),
    responses(
        (status = 200, description = "The fields, in the order of the texts", body = FieldBlame),
        (status = 308, description = "The record has another id now"),
        (status = 404, description = "No such record", body = ProblemBody),
    ),
)]
pub async fn blame(
    caller: Anyone,
    request: HttpRequest,
    path: web::Path<String>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let actor = caller.0.as_ref();
    let status = match locate(&state, &request, &path, actor).await? {
        Located::Here(status) => status,
        Located::Moved(response) => return Ok(response),
    };
    let newest = if may_edit(actor) {
        status.head
    } else {
        status.published.unwrap_or(status.head)
    };
    let mut metas = state.store.revisions(&status.id).await?;
    metas.retain(|meta| meta.revision <= newest);
    let complete = metas.len() <= MOST_REVISIONS;
    metas.truncate(MOST_REVISIONS);
    metas.reverse();
    let mut all: Vec<RevisionTexts> = Vec::new();
    for meta in &metas {
        all.extend(state.store.revision(&status.id, meta.revision).await?);
    }
    let work = move || {
        let mut found = Vec::new();
        for part in [Part::Document, Part::Annex] {
            let mut trees = Vec::new();
            for texts in &all {
                let text = match part {
                    Part::Document => &texts.document,
                    Part::Annex => &texts.annex,
                };
                trees.push((texts.meta.revision, tree(text)?));
            }
            found.extend(compare::blame(
                part,
                trees.iter().map(|(revision, tree)| (*revision, tree)),
            ));
        }
        Ok::<_, Problem>(found)
    };
    let found = Desk::of(&request).compute(ALL_RECORDS, work).await??;
    let fields = found
        .into_iter()
        .filter_map(|field| blamed(field, &metas))
        .collect();
    Ok(HttpResponse::Ok().json(FieldBlame {
        id: status.id.to_string(),
        revision: newest.0,
        complete,
        fields,
    }))
}

fn blamed(field: compare::Blame, metas: &[RevisionMeta]) -> Option<BlamedField> {
    let meta = metas.iter().find(|meta| meta.revision == field.revision)?;
    Some(BlamedField {
        part: field.part,
        pointer: field.pointer,
        revision: field.revision.0,
        actor: meta.actor.clone(),
        at: rfc3339(meta.at),
        note: meta.note.clone(),
    })
}

/// Makes what an older revision said the newest again, and publishes it. `If-Match` names the newest revision.
#[utoipa::path(
    post, path = "/api/v1/records/{id}/-/revert", operation_id = "revert_record", tag = "records",
    security(("token" = ["publish"])),
    params(("id" = String, Path), ("If-Match" = Option<String>, Header, description = "The revision that was read")),
    request_body = RevertBody,
    responses(
        (status = 200, description = "Readers see it", body = RevertAnswer),
        (status = 308, description = "The record has another id now"),
        (status = 400, description = "The body cannot be read", body = ProblemBody),
        (status = 404, description = "No such record or revision", body = ProblemBody),
        (status = 409, description = "A second person is needed", body = ProblemBody),
        (status = 412, description = "Changed in the meantime", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 415, description = "Not JSON", body = ProblemBody),
        (status = 422, description = "Breaks rules, or the gate refuses it", body = ProblemBody),
        (status = 428, description = "Without If-Match", body = ProblemBody),
    ),
)]
pub async fn revert(
    publisher: Publisher,
    request: HttpRequest,
    path: web::Path<String>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let status = match locate(&state, &request, &path, Some(&publisher.0)).await? {
        Located::Here(status) => status,
        Located::Moved(response) => return Ok(response),
    };
    match etag::read(request.headers(), &header::IF_MATCH)? {
        None => {
            let detail = "send If-Match with the ETag of the newest revision";
            return Err(Problem::new(Code::PreconditionRequired, detail));
        }
        Some(tags @ Tags::These(_)) if !tags.revisions().contains(&status.head) => {
            return Err(CurateError::Stale(Some(status.head)).into());
        }
        Some(_) => {}
    }
    let asked: RevertBody = body::json(&request, payload, limits::REVIEW_BYTES).await?;
    let (gate, approver) = gate_for(asked.force.as_deref(), &publisher.0, &state)?;
    let which = (&status.id, Revision(asked.revision));
    let now = state.clock.now();
    let done = curate::revert(state.store.as_ref(), &gate, which, status.head, &approver, now).await?;
    let (revision, done) = done;
    let answer = RevertAnswer {
        revision: revision.0,
        published: announce(&state, done).await,
    };
    Ok(HttpResponse::Ok()
        .insert_header((header::ETAG, etag::of_revision(revision)))
        .json(answer))
}

async fn texts(
    state: &AppState,
    status: &RecordStatus,
    asked: Option<&str>,
    actor: Option<&Actor>,
) -> Result<RevisionTexts, Problem> {
    let revision = choose(status, asked, actor)?;
    let texts = state.store.revision(&status.id, revision).await?;
    texts.ok_or_else(|| no_revision(status, revision))
}

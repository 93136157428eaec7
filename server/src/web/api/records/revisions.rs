//! `GET …/-/revisions`: the history, and what changed between two revisions.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};
use similar::TextDiff;
use utoipa::{IntoParams, ToSchema};

use super::get::{choose, no_revision, rfc3339};
use super::{Located, locate, may_edit};
use crate::domain::tokens::Actor;
use crate::store::{RecordStatus, RevisionMeta, RevisionTexts};
use crate::web::auth::Anyone;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;

/// Which revisions to compare; without them the history is listed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RevisionsQuery {
    /// The older revision.
    from: Option<String>,
    /// The newer one; the published one unless said.
    to: Option<String>,
}

/// The history of a record, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct History {
    /// The record.
    id: String,
    /// Its revisions. Those after the published one are listed for editors.
    revisions: Vec<RevisionEntry>,
}

/// One revision.
#[derive(Debug, Serialize, ToSchema)]
pub struct RevisionEntry {
    /// Its number.
    revision: u32,
    /// True for the one that readers see.
    published: bool,
    /// Who made it.
    actor: String,
    /// Why.
    note: Option<String>,
    /// When, RFC 3339.
    at: String,
    /// SHA-256 of the document's bytes, hex.
    document_sha256: String,
    /// SHA-256 of the annex' bytes, hex.
    ext_sha256: String,
}

/// What changed between two revisions, as unified diffs; an empty text where nothing did.
#[derive(Debug, Serialize, ToSchema)]
pub struct Difference {
    /// The record.
    id: String,
    /// The older revision.
    from: u32,
    /// The newer one.
    to: u32,
    /// Diff of the documents.
    document: String,
    /// Diff of the annexes.
    ext: String,
}

/// What was asked for: the history, or with `from` the difference.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum RevisionsAnswer {
    /// Without `from`.
    History(History),
    /// With `from`.
    Difference(Difference),
}

/// The history of a record, or with `from` what changed.
#[utoipa::path(
    get, path = "/api/v1/records/{id}/-/revisions", operation_id = "list_record_revisions", tag = "records",
    params(("id" = String, Path), RevisionsQuery),
    responses(
        (status = 200, description = "History; Difference with `from`", body = RevisionsAnswer),
        (status = 308, description = "The record has another id now"),
        (status = 404, description = "No such record or revision", body = ProblemBody),
    ),
)]
pub async fn revisions(
    caller: Anyone,
    request: HttpRequest,
    path: web::Path<String>,
    query: web::Query<RevisionsQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let actor = caller.0.as_ref();
    let status = match locate(&state, &request, &path, actor).await? {
        Located::Here(status) => status,
        Located::Moved(response) => return Ok(response),
    };
    match (&query.from, &query.to) {
        (Some(from), to) => {
            let from = texts(&state, &status, Some(from), actor).await?;
            let to = texts(&state, &status, to.as_deref(), actor).await?;
            let difference = difference(&status, &from, &to);
            Ok(HttpResponse::Ok().json(RevisionsAnswer::Difference(difference)))
        }
        (None, Some(_)) => Err(Problem::new(
            Code::BadQuery,
            "to needs from: the revision to compare with",
        )),
        (None, None) => {
            let all = may_edit(actor);
            let revisions = state.store.revisions(&status.id).await?;
            let visible = revisions
                .into_iter()
                .filter(|meta| all || status.published >= Some(meta.revision));
            let history = History {
                id: status.id.to_string(),
                revisions: visible.map(|meta| entry(&status, meta)).collect(),
            };
            Ok(HttpResponse::Ok().json(RevisionsAnswer::History(history)))
        }
    }
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

fn entry(status: &RecordStatus, meta: RevisionMeta) -> RevisionEntry {
    RevisionEntry {
        revision: meta.revision.0,
        published: status.published == Some(meta.revision),
        actor: meta.actor,
        note: meta.note,
        at: rfc3339(meta.at),
        document_sha256: meta.document_sha256,
        ext_sha256: meta.annex_sha256,
    }
}

fn difference(status: &RecordStatus, from: &RevisionTexts, to: &RevisionTexts) -> Difference {
    let compare = |old: &str, new: &str, end: &str| {
        if old == new {
            return String::new();
        }
        let name = |texts: &RevisionTexts| format!("{}.{end} {}", status.id, texts.meta.revision);
        TextDiff::from_lines(old, new)
            .unified_diff()
            .header(&name(from), &name(to))
            .to_string()
    };
    Difference {
        id: status.id.to_string(),
        from: from.meta.revision.0,
        to: to.meta.revision.0,
        document: compare(&from.document, &to.document, "json"),
        ext: compare(&from.annex, &to.annex, "ext.json"),
    }
}

//! Records: read, list, change, publish.

pub mod comments;
pub mod compare;
pub mod get;
pub mod graph;
pub mod list;
pub mod moves;
pub mod outcomes;
pub mod publish;
pub mod put;
pub mod reviews;
pub mod revisions;
pub mod split;

use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::ids::{RecordId, Revision};

use super::super::error::{Code, Problem};
use super::super::state::AppState;
use crate::domain::tokens::Actor;
use crate::render::words::encoded;
use crate::store::{RecordState, RecordStatus, Scope};

/// State of the record, on every answer that holds one.
const STATE_HEADER: HeaderName = HeaderName::from_static("peerless-state");
const FORCED_HEADER: HeaderName = HeaderName::from_static("peerless-forced");
/// Characters of a reason that a header holds: proxies give all headers together 4 KiB.
const FORCED_CHARACTERS: usize = 200;

enum Located {
    Here(RecordStatus),
    /// A former id: 308 to what it is now.
    Moved(HttpResponse),
}

/// Finds a record by the id in the path, or by a former id. Records never published are there for editors only.
async fn locate(
    state: &AppState,
    request: &HttpRequest,
    path_id: &str,
    actor: Option<&Actor>,
) -> Result<Located, Problem> {
    let id: RecordId = path_id.parse()?;
    match state.store.status(&id).await? {
        Some(status) if status.state == RecordState::Withdrawn => {
            // It became another: what it said stands there.
            return match state.store.resolve_alias(id.as_str()).await? {
                Some(target) => Ok(Located::Moved(moved(request, &id, &target))),
                None => Ok(Located::Here(status)),
            };
        }
        Some(status) if status.published.is_some() || may_edit(actor) => return Ok(Located::Here(status)),
        _ => {}
    }
    match state.store.resolve_alias(id.as_str()).await? {
        Some(target) => Ok(Located::Moved(moved(request, &id, &target))),
        None => Err(Problem::new(Code::NotFound, format!("there is no record {id}"))),
    }
}

/// 308 for a former id that no record has today.
async fn moved_away(
    state: &AppState,
    request: &HttpRequest,
    id: &RecordId,
) -> Result<Option<HttpResponse>, Problem> {
    if state.store.status(id).await?.is_some() {
        return Ok(None);
    }
    let target = state.store.resolve_alias(id.as_str()).await?;
    Ok(target.map(|target| moved(request, id, &target)))
}

fn may_edit(actor: Option<&Actor>) -> bool {
    actor.is_some_and(|actor| actor.may(Scope::Edit) || actor.may(Scope::Publish))
}

fn moved(request: &HttpRequest, former: &RecordId, target: &RecordId) -> HttpResponse {
    let rest = request
        .path()
        .split_once("/-/")
        .map_or(String::new(), |(_, rest)| format!("/-/{rest}"));
    let query = match request.query_string() {
        "" => String::new(),
        query => format!("?{query}"),
    };
    tracing::debug!(record = %target, former = %former, "former id asked for");
    HttpResponse::PermanentRedirect()
        .insert_header((header::LOCATION, format!("/api/v1/records/{target}{rest}{query}")))
        .finish()
}

fn state_name(state: RecordState) -> &'static str {
    match state {
        RecordState::Draft => "draft",
        RecordState::InReview => "in_review",
        RecordState::Published => "published",
        RecordState::Withdrawn => "withdrawn",
    }
}

fn state_header(state: RecordState) -> (HeaderName, HeaderValue) {
    (STATE_HEADER, HeaderValue::from_static(state_name(state)))
}

/// Why readers see this revision although the gate refused it; percent-encoded, for a header holds ASCII alone.
fn forced_header(status: &RecordStatus, revision: Revision) -> Option<(HeaderName, String)> {
    let reason = forced(status, revision)?;
    let start: String = reason.chars().take(FORCED_CHARACTERS).collect();
    Some((FORCED_HEADER, encoded(&start)))
}

/// The reason belongs to the revision that was published with it.
fn forced(status: &RecordStatus, revision: Revision) -> Option<&str> {
    let shown = status.published == Some(revision);
    status.forced.as_deref().filter(|_| shown)
}

//! `GET /api/v1/records/{id}`: the document as stored, or with `view=full` everything about the record.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use kb_core::ids::Revision;
use kb_core::record::Record;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use utoipa::{IntoParams, ToSchema};

use super::{Located, forced, forced_header, locate, may_edit, state_header, state_name};
use crate::domain::records::missing;
use crate::domain::tokens::Actor;
use crate::render::i18n::Language;
use crate::render::record::{Source, text};
use crate::store::{RecordState, RecordStatus, RevisionTexts, Scope};
use crate::web::auth::{Access, Anyone, Caller, Opened};
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::etag;
use crate::web::links::base_url;
use crate::web::state::AppState;

/// What to show of a record.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GetQuery {
    /// `document` (the default): the text as stored. `full`: document, annex and where the record stands. `text`: what its
    /// page shows, as `text/plain`.
    #[serde(default)]
    view: View,
    /// A revision's number, or `head`. Those after the published one are for editors.
    revision: Option<String>,
    /// Language of `view=text`; what has no translation stays English.
    #[serde(default)]
    lang: TextLanguage,
}

/// Language of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TextLanguage {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

/// How much to show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// The document as stored.
    #[default]
    Document,
    /// Document, annex, and where the record stands.
    Full,
    /// What the page shows, as plain text.
    Text,
}

/// A record with everything about it.
#[derive(Debug, Serialize, ToSchema)]
pub struct FullRecord<'a> {
    /// Its id.
    id: &'a str,
    /// The revision shown.
    revision: u32,
    /// The newest revision.
    head_revision: u32,
    /// What readers see, or saw last.
    published_revision: Option<u32>,
    /// `draft`, `in_review`, `published`, `withdrawn`.
    state: &'static str,
    /// Why what readers see was published although the gate refused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    forced: Option<&'a str>,
    /// Why a withdrawn record was withdrawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    withdrawn_reason: Option<&'a str>,
    /// The record that replaces a withdrawn one.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<&'a str>,
    /// Seq of its last change in the feed.
    seq: Option<i64>,
    /// Who made the revision shown.
    actor: &'a str,
    /// Why, in the editor's words.
    note: Option<&'a str>,
    /// When the revision shown was made, RFC 3339.
    revised_at: String,
    /// SHA-256 of the document's bytes, hex.
    document_sha256: &'a str,
    /// SHA-256 of the annex' bytes, hex.
    ext_sha256: &'a str,
    /// The document, its bytes as stored.
    #[schema(value_type = Object)]
    document: &'a RawValue,
    /// The annex, its bytes as stored.
    #[schema(value_type = Object)]
    ext: &'a RawValue,
}

/// What is shown of a record.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum RecordAnswer<'a> {
    /// With `view=document`.
    Document(StoredDocument<'a>),
    /// With `view=full`.
    Full(FullRecord<'a>),
}

/// A document as stored, its bytes unchanged: these keys and those that kb-seed/schema describes.
#[derive(Debug, Serialize, ToSchema)]
pub struct StoredDocument<'a> {
    /// The record's id.
    pub id: &'a str,
    /// The error's text, as people see it.
    pub signature: &'a str,
}

/// One record, by its id. A former id answers 308.
#[utoipa::path(
    get, path = "/api/v1/records/{id}", operation_id = "get_record", tag = "records",
    params(("id" = String, Path, description = "Two or three segments, raw or with %2F"), GetQuery),
    responses(
        (status = 200, description = "The document as stored, with view=full everything about the record, with view=text the \
            same as text/plain",
            content((RecordAnswer<'_> = "application/json"), (String = "text/plain")),
            headers(("ETag" = String, description = "The revision: \"r8\""),
                ("Peerless-State" = String, description = "published, withdrawn, …"),
                ("Peerless-Forced" = String, description = "Why it was published although the gate refused it, \
                    percent-encoded, its first 200 characters; absent where it was not"))),
        (status = 304, description = "If-None-Match holds the revision; only with view=document"),
        (status = 308, description = "The record has another id now"),
        (status = 404, description = "No such record", body = ProblemBody),
    ),
)]
pub async fn get(
    caller: Anyone,
    request: HttpRequest,
    path: web::Path<String>,
    query: web::Query<GetQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let actor = caller.0.as_ref();
    let status = match locate(&state, &request, &path, actor).await {
        Ok(Located::Here(status)) => status,
        Ok(Located::Moved(response)) => return Ok(response),
        Err(problem) if problem.code() == Code::NotFound => return Err(near(&request, &state, &path).await?),
        Err(problem) => return Err(problem),
    };
    let revision = choose(&status, query.revision.as_deref(), actor)?;
    let tag = etag::of_revision(revision);
    let mut response = HttpResponse::Ok();
    response.insert_header((header::ETAG, tag.clone()));
    response.insert_header((header::CACHE_CONTROL, "no-cache"));
    response.insert_header(state_header(status.state));
    // The document keeps its bytes, so that its own answer has no other place for it.
    if let Some(forced) = forced_header(&status, revision) {
        response.insert_header(forced);
    }
    let known = etag::read(request.headers(), &header::IF_NONE_MATCH)?;
    // The other views tell more than a revision: state, newest revision, seq and neighbours change while the tag stays.
    let may_be_known = query.view == View::Document;
    if may_be_known && known.is_some_and(|known| known.hold(&tag)) {
        return Ok(response
            .status(actix_web::http::StatusCode::NOT_MODIFIED)
            .finish());
    }
    let texts = state.store.revision(&status.id, revision).await?;
    let texts = texts.ok_or_else(|| no_revision(&status, revision))?;
    match query.view {
        View::Document => Ok(response.content_type("application/json").body(texts.document)),
        View::Full => Ok(response
            .content_type("application/json")
            .body(full(&status, &texts)?)),
        View::Text => Ok(response
            .content_type("text/plain; charset=utf-8")
            .body(as_text(&request, &state, &status, &texts, query.lang)?)),
    }
}

async fn near(request: &HttpRequest, state: &web::Data<AppState>, id: &str) -> Result<Problem, Problem> {
    let generation = state.knowledge.current();
    let asked = id.to_owned();
    let work = move || missing(&generation, &asked);
    let detail = Desk::of(request).compute(ALL_RECORDS, work).await?;
    Ok(Problem::new(Code::NotFound, detail))
}

fn as_text(
    request: &HttpRequest,
    state: &AppState,
    status: &RecordStatus,
    texts: &RevisionTexts,
    language: TextLanguage,
) -> Result<String, Problem> {
    // What the store took it read: only a build that is older than the text cannot.
    let record = Record::parse(&texts.document, &texts.annex).map_err(|_| {
        let detail = format!(
            "record {} is newer than this server: ask for view=document",
            status.id
        );
        Problem::new(Code::WrongState, detail)
    })?;
    let neighbours = state.knowledge.current().graph.neighbours(&status.id);
    let source = Source {
        record: &record,
        revision: texts.meta.revision,
        withdrawn: status.state == RecordState::Withdrawn,
        forced: forced(status, texts.meta.revision),
        neighbours: &neighbours,
    };
    let language = match language {
        TextLanguage::En => Language::English,
        TextLanguage::Zh => Language::Chinese,
    };
    Ok(text::render(source, language, Some(&base_url(request, state))))
}

pub(super) fn choose(
    status: &RecordStatus,
    asked: Option<&str>,
    actor: Option<&Actor>,
) -> Result<Revision, Problem> {
    let revision = match asked {
        Some("head") => status.head,
        Some(number) => {
            let digits = number.strip_prefix('r').unwrap_or(number);
            let number = digits
                .parse()
                .map_err(|_| Problem::new(Code::BadQuery, "revision is a number such as 8, or head"))?;
            Revision(number)
        }
        // Only editors get this far with a record that was never published.
        None => status.published.unwrap_or(status.head),
    };
    let is_history = status.published.is_some_and(|published| revision <= published);
    if is_history || may_edit(actor) {
        return Ok(revision);
    }
    // Refuses everybody who gets here: no token is 401, one without the scope 403.
    Access::Scope(Scope::Edit).check(&Caller(actor.cloned()), Opened::default())?;
    Ok(revision)
}

pub(super) fn no_revision(status: &RecordStatus, revision: Revision) -> Problem {
    Problem::new(
        Code::NotFound,
        format!("record {} has no revision {revision}", status.id),
    )
}

fn full(status: &RecordStatus, texts: &RevisionTexts) -> Result<String, Problem> {
    let raw = |text: &'_ str| {
        serde_json::from_str::<Box<RawValue>>(text).map_err(|error| Problem::internal(&error))
    };
    let (document, ext) = (raw(&texts.document)?, raw(&texts.annex)?);
    let body = FullRecord {
        id: status.id.as_str(),
        revision: texts.meta.revision.0,
        head_revision: status.head.0,
        published_revision: status.published.map(|revision| revision.0),
        state: state_name(status.state),
        forced: status.forced.as_deref(),
        withdrawn_reason: status.withdrawn_reason.as_deref(),
        replaced_by: status.replaced_by.as_ref().map(kb_core::ids::RecordId::as_str),
        seq: status.seq.map(|seq| seq.0),
        actor: &texts.meta.actor,
        note: texts.meta.note.as_deref(),
        revised_at: rfc3339(texts.meta.at),
        document_sha256: &texts.meta.document_sha256,
        ext_sha256: &texts.meta.annex_sha256,
        document: &document,
        ext: &ext,
    };
    serde_json::to_string(&body).map_err(|error| Problem::internal(&error))
}

pub(in crate::web) fn rfc3339(at: OffsetDateTime) -> String {
    // Fails for years beyond 9999 only.
    at.format(&Rfc3339).unwrap_or_default()
}

//! `GET /api/v1/search`.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::domain::search;
use crate::render::search_text;
use crate::web::auth::Anyone;
use crate::web::compute::Desk;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;
use crate::web::{accept, limits};
use peerless_search::{Filters, SearchAnswer, SearchError, SearchRequest};

/// What to search.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// Words, a code, or a piece of an error; at most 4096 bytes. Empty lists everything.
    #[serde(default)]
    q: String,
    /// Only of this domain.
    domain: Option<String>,
    /// Only of this category.
    category: Option<String>,
    /// Only with this tag.
    tag: Option<String>,
    /// Only of this verification tier.
    tier: Option<String>,
    /// Only in this language.
    locale: Option<String>,
    /// Hits of a page, 20 unless said, at most 100.
    limit: Option<usize>,
    /// 1 while the text is being typed: its last word may be a beginning. 0 unless said.
    #[serde(default)]
    #[param(minimum = 0, maximum = 1)]
    typing: u8,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Number of hits in an answer as text.
pub const HITS_HEADER: &str = "peerless-hits";

/// Searches the published records.
#[utoipa::path(get, path = "/api/v1/search", operation_id = "search_records", tag = "search", params(SearchQuery), responses(
    (status = 200, description = "Hits, best first; a line for each as text/plain when asked for", content(
        (SearchAnswer = "application/json"), (String = "text/plain"),
    )),
    (status = 400, description = "A parameter is wrong", body = ProblemBody),
    (status = 406, description = "`Accept` allows no form of the answer", body = ProblemBody),
))]
pub async fn search(
    _: Anyone,
    request: HttpRequest,
    query: web::Query<SearchQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let wants_text = accept::best(&request, &[("application/json", false), ("text/plain", true)])?;
    let query = query.into_inner();
    if query.q.len() > limits::QUERY_BYTES {
        let detail = format!(
            "q has at most {} bytes; a log belongs to POST /api/v1/match",
            limits::QUERY_BYTES
        );
        return Err(Problem::new(Code::BadQuery, detail));
    }
    if query.typing > 1 {
        let detail = format!("typing is {}, it may be 0 or 1", query.typing);
        return Err(Problem::new(Code::BadQuery, detail));
    }
    let desk = Desk::of(&request);
    let asked = SearchRequest {
        text: query.q,
        filters: Filters {
            domain: query.domain,
            category: query.category,
            tag: query.tag,
            tier: query.tier,
            locale: query.locale,
        },
        limit: query.limit,
        cursor: query.cursor,
        is_typing: query.typing == 1,
        first: Vec::new(),
    };
    let generation = state.knowledge.current();
    let work = search::work(&generation, &asked);
    if wants_text {
        let found = desk.compute(work, move || {
            search::search(&generation, &asked)
                .map(|answer| (answer.hits.len(), search_text::render(&answer, &generation)))
        });
        let (hits, text) = found.await??;
        return Ok(HttpResponse::Ok()
            .insert_header((HITS_HEADER, hits))
            .content_type("text/plain; charset=utf-8")
            .body(text));
    }
    let answer = desk
        .compute(work, move || search::search(&generation, &asked))
        .await??;
    Ok(HttpResponse::Ok().json(answer))
}

impl From<SearchError> for Problem {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Index(_) | SearchError::NotBuilt => Self::internal(&error),
            refusal => Self::new(Code::BadQuery, refusal.to_string()),
        }
    }
}

//! What browsers and search engines ask a site for: `/robots.txt` and `/opensearch.xml`, by which a browser offers the search
//! (developer.mozilla.org, "`OpenSearch` description format").

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::rendered;
use crate::web::error::Problem;
use crate::web::links::base_url;
use crate::web::state::AppState;

/// Records and lists of records are to be found. Each search and each way through the graph is a page that leads to others.
const ROBOTS: &str = "User-agent: *\nDisallow: /api/\nDisallow: /graph/path\nDisallow: /search?\n";

#[derive(Debug, Template)]
#[template(path = "pages/opensearch.xml")]
struct OpenSearch {
    base: String,
}

pub(super) async fn robots() -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/plain; charset=utf-8")
        .body(ROBOTS)
}

pub(super) async fn open_search(
    request: HttpRequest,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let page = OpenSearch {
        base: base_url(&request, &state),
    };
    let body = rendered(&page).map_err(|error| Problem::internal(&error))?;
    Ok(HttpResponse::Ok()
        .content_type("application/opensearchdescription+xml")
        .body(body))
}

//! `/`, and `POST /match`: one box for an error, a log or words to search for, and what it finds.
//!
//! The text comes as a form field, or as it is (a file that the script sends). It is never put into an address and
//! never kept; the answer echoes a short one into the box, so that it can be changed.

mod body;
mod form;
mod matches;
mod result;

use actix_web::http::header;
use actix_web::web::{Data, Payload, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

pub use form::EnvironmentField;
pub use result::{Source, page};

use super::layout::{Layout, Section};
use super::record::Params;
use super::record::texts::Language;
use super::words::count;
use super::{base_url, html, html_not_shared};
use crate::web::error::Problem;
use crate::web::state::AppState;

/// Home.
#[derive(Debug, Template)]
#[template(path = "pages/home.html")]
pub struct HomePage {
    layout: Layout,
    box_label: &'static str,
    box_text: String,
    box_focus: bool,
    box_action: &'static str,
    environment: Vec<EnvironmentField>,
    base_url: String,
    records: String,
}

/// Builds the home page. `records` is how many are known.
pub fn home_page(base_url: String, records: usize) -> HomePage {
    HomePage {
        layout: Layout::new("Peerless: what a GPU error means and what to do", Section::Lookup).indexed(),
        box_label: "Error line, log, or words to search for",
        box_text: String::new(),
        box_focus: true,
        // In the language that the browser asks for.
        box_action: "/match",
        environment: form::fields(&std::collections::BTreeMap::new()),
        base_url,
        records: count(records as u64, "record", "records"),
    }
}

/// `GET /`.
pub async fn home(request: HttpRequest, state: Data<AppState>) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let mut page = home_page(base_url(&request, &state), generation.len());
    page.layout = page.layout.at(generation.seq);
    html(&page)
}

/// `GET /match`: there is nothing to show without a text.
pub async fn no_text() -> HttpResponse {
    HttpResponse::SeeOther()
        .insert_header((header::LOCATION, "/"))
        .finish()
}

/// `POST /match`.
pub async fn look_up(
    request: HttpRequest,
    payload: Payload,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let language = language(&request);
    let looked_up = body::look_up(&request, payload, generation.clone()).await?;
    let page = page(Source {
        generation: &generation,
        answer: &looked_up.answer,
        found: looked_up.found.as_ref(),
        echo: &looked_up.echo,
        environment: &looked_up.environment,
        language,
    });
    html_not_shared(&page)
}

/// `?lang=` where it is said, else what the browser prefers.
fn language(request: &HttpRequest) -> Language {
    let said = Query::<Params>::from_query(request.query_string()).ok();
    if let Some(lang) = said.and_then(|params| params.into_inner().lang) {
        return Language::from_query(Some(&lang));
    }
    let accepted = request.headers().get(header::ACCEPT_LANGUAGE);
    Language::from_accepted(accepted.and_then(|value| value.to_str().ok()).unwrap_or_default())
}

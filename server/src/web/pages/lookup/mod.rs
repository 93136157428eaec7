//! `/`, and `POST /match`: one box for an error, a log or words to search for, and what it finds.
//!
//! The text comes as a form field, or as it is (a file that the script sends). It is never put into an address and
//! never kept; the answer echoes a short one into the box, so that it can be changed.

pub(super) mod body;
pub(in crate::web) mod form;
mod log;
mod matches;
mod narrow;
mod result;
mod share;

use actix_web::http::header;
use actix_web::web::{Data, Payload, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use serde::Deserialize;

pub use form::{EnvironmentField, empty as environment_fields};
pub use result::{ResultPage, Source, page};
pub use share::{ShareForm, SharedView};

use super::layout::{Layout, Section};
use super::{html, html_text, not_shared, rendered};
use crate::render::i18n::{Locale, lookup::Words};
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::Problem;
use crate::web::links::base_url;
use crate::web::pages::locale;
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/home.html")]
pub struct HomePage {
    layout: Layout,
    words: &'static Words,
    box_text: String,
    box_focus: bool,
    box_action: String,
    environment: Vec<EnvironmentField>,
    base_url: String,
    records: String,
}

/// Builds the home page. `records` is how many are known.
pub fn home_page(base_url: String, records: usize, locale: Locale) -> HomePage {
    let words = Words::of(locale.language);
    let layout = Layout::new(words.title, Section::Lookup).indexed().in_both("/");
    HomePage {
        layout: layout.spoken(locale),
        words,
        box_text: String::new(),
        box_focus: true,
        box_action: locale.href("/match"),
        environment: form::empty(locale.language),
        base_url,
        records: words.known(records as u64),
    }
}

pub async fn home(request: HttpRequest, state: Data<AppState>) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let mut page = home_page(base_url(&request, &state), generation.len(), locale::of(&request));
    page.layout = page.layout.at(generation.seq).reading_in_tab(state.tab.is_some());
    html(&page)
}

#[derive(Debug, Deserialize)]
pub struct NoText {
    /// Number of an answer that the reader's browser still has: the script of the page puts it back.
    answer: Option<String>,
}

/// `GET /match`: there is nothing to show without a text.
pub async fn no_text(
    request: HttpRequest,
    asked: Query<NoText>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    if asked.answer.is_some() {
        return home(request, state).await;
    }
    Ok(HttpResponse::SeeOther()
        .insert_header((header::LOCATION, locale::of(&request).href("/")))
        .finish())
}

pub async fn look_up(
    request: HttpRequest,
    payload: Payload,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let locale = locale::of(&request);
    let looked_up = body::look_up(&request, payload, generation.clone()).await?;
    let base_url = base_url(&request, &state);
    let writing = state.settings.anonymous_writing;
    let has_tab = state.tab.is_some();
    let may_keep = writing && !looked_up.echo().is_empty();
    let desk = Desk::of(&request);
    let bytes = looked_up.text.as_ref().map_or(ALL_RECORDS, String::len);
    let page = desk.go_on(bytes, move || {
        let mut page = page(Source {
            generation: &generation,
            answer: &looked_up.answer,
            found: looked_up.found.as_ref(),
            hits: &looked_up.hits,
            text: looked_up.text.as_deref(),
            kept: None,
            shares: writing,
            echo: looked_up.echo(),
            environment: &looked_up.environment,
            only: &looked_up.only,
            base_url: &base_url,
            locale,
        });
        page.layout = page.layout.reading_in_tab(has_tab);
        page.keep_action = may_keep.then(|| locale.href("/unknown"));
        rendered(&page)
    });
    let body = page.await?.map_err(|error| Problem::internal(&error))?;
    Ok(not_shared(html_text(body)))
}

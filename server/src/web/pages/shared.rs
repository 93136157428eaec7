//! `/share` and `/a/{name}`: an answer that its reader shares. What would be kept is shown first; kept, it is read by whoever has
//! the link, until its time is over or its writer deletes it.

use std::collections::BTreeMap;

use actix_web::http::header::{HeaderName, HeaderValue, REFERRER_POLICY};
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::kept::new_key;
use super::layout::{Layout, Section};
use super::lookup::{self, SharedView};
use super::{html_not_shared, html_text, locale, not_shared, rendered};
use crate::domain::anonymous::{A_DAY, AnonymousError, ENTRY_BYTES};
use crate::domain::hits::Hits;
use crate::domain::shared::{self, ShareError, Shared};
use crate::render::answer::origin::Only;
use crate::render::i18n::Locale;
use crate::render::i18n::shared::Words;
use crate::render::words::moment;
use crate::web::anonymous;
use crate::web::auth::Anyone;
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem};
use crate::web::links::base_url;
use crate::web::session::Form;
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/shared.html")]
pub struct MadePage {
    pub(in crate::web::pages) layout: Layout,
    pub(in crate::web::pages) words: &'static Words,
    pub(in crate::web::pages) until: String,
    pub(in crate::web::pages) href: String,
    pub(in crate::web::pages) delete: String,
}

pub(in crate::web::pages) fn made_page(
    (href, delete): (String, String),
    until: String,
    locale: Locale,
) -> MadePage {
    let words = Words::of(locale.language);
    MadePage {
        layout: Layout::new(format!("{} · Peerless", words.made), Section::Lookup).spoken(locale),
        words,
        until,
        href,
        delete,
    }
}

/// Shows what would be kept. Nothing is kept by that.
pub async fn preview(
    _: Anyone,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["answer"])?;
    let (shared, _) = settled(&request, &form, &state).await?;
    show(&request, &state, shared, false).await
}

/// Keeps what was shown. It is redacted again: where that changes something, the form was changed, and it is shown again.
pub async fn keep(
    _: Anyone,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["answer", "days"])?;
    let days = form.get("days").parse().unwrap_or_default();
    let (shared, was_changed) = settled(&request, &form, &state).await?;
    if was_changed {
        return show(&request, &state, shared, true).await;
    }
    let nobody = anonymous::nobody(&state, &request);
    let (name, key) = (new_key(&state)?, new_key(&state)?);
    let kept = shared::keep(
        state.store.as_ref(),
        nobody,
        (&shared, days),
        (&name, &key),
        state.clock.now(),
    );
    let (until, kept) = kept.await.map_err(|error| match error {
        ShareError::Days => Problem::new(Code::MalformedBody, error.to_string()),
        ShareError::Anonymous(error) => refuse(&state, error),
        ShareError::Store(error) => error.into(),
    })?;
    anonymous::count(&state, kept);
    state.metrics.count("answers_shared_total", 1);
    let base = base_url(&request, &state);
    let locale = locale::of(&request);
    let links = (format!("{base}/a/{name}"), locale.href(format!("/kept/{key}")));
    Ok(secret(html_not_shared(&made_page(links, moment(until), locale))?))
}

pub async fn get(
    _: Anyone,
    request: HttpRequest,
    name: Path<String>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let nothing = || {
        let detail =
            "no answer is shared under this link: it was deleted, its time is over, or there never was one";
        Problem::new(Code::NotFound, detail)
    };
    let nobody = anonymous::nobody(&state, &request);
    nobody.check().map_err(|_| nothing())?;
    let kept = shared::find(state.store.as_ref(), &name, state.clock.now()).await?;
    let kept = kept.ok_or_else(nothing)?;
    let locale = locale::of(&request);
    let view = SharedView::of_kept(&kept, format!("/a/{name}"), locale);
    let page = page(&request, &state, kept.shared, view).await?;
    Ok(secret(page))
}

/// The answer of a form after redaction, and whether that changed it.
async fn settled(request: &HttpRequest, form: &Form, state: &AppState) -> Result<(Shared, bool), Problem> {
    let nobody = anonymous::nobody(state, request);
    nobody.check().map_err(|error| refuse(state, error))?;
    let sent = form.get("answer");
    if sent.len() > ENTRY_BYTES {
        return Err(refuse(state, AnonymousError::TooLarge));
    }
    let generation = state.knowledge.current();
    let sent = Shared::read(sent).filter(|sent| sent.is_something() && sent.is_of(&generation));
    let Some(sent) = sent else {
        let detail = "this is no answer of this server: look the text up again, and share it from its page";
        return Err(Problem::new(Code::MalformedBody, detail));
    };
    let work = move || {
        let settled = sent.clone().settled();
        let was_changed = settled != sent;
        (settled, was_changed)
    };
    Ok(Desk::of(request).compute(ALL_RECORDS, work).await?)
}

async fn show(
    request: &HttpRequest,
    state: &AppState,
    shared: Shared,
    was_changed: bool,
) -> Result<HttpResponse, Problem> {
    let view = SharedView::of_preview(&shared, was_changed, locale::of(request));
    page(request, state, shared, view).await
}

async fn page(
    request: &HttpRequest,
    state: &AppState,
    shared: Shared,
    view: SharedView,
) -> Result<HttpResponse, Problem> {
    let (generation, locale) = (state.knowledge.current(), locale::of(request));
    let base_url = base_url(request, state);
    let work = move || {
        let held = shared.held(&generation);
        let answer = shared.answer(&generation, &held);
        let page = lookup::page(lookup::Source {
            generation: &generation,
            answer: &answer,
            found: None,
            hits: &Hits::of_answer(&answer),
            text: None,
            kept: Some(&shared),
            shares: false,
            echo: "",
            environment: &BTreeMap::new(),
            only: &Only::default(),
            base_url: &base_url,
            locale,
        });
        rendered(&page.of_shared(view.held(&held, locale)))
    };
    let page = Desk::of(request).compute(ALL_RECORDS, work).await?;
    let body = page.map_err(|error| Problem::internal(&error))?;
    Ok(not_shared(html_text(body)))
}

/// A page whose address is not for everybody. It has no form: a browser would not tell where that comes from.
fn secret(mut response: HttpResponse) -> HttpResponse {
    let headers = response.headers_mut();
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let robots = HeaderName::from_static("x-robots-tag");
    headers.insert(robots, HeaderValue::from_static("noindex"));
    response
}

/// Answers are counted by address, with or without a login. So this problem never asks for one.
fn refuse(state: &AppState, error: AnonymousError) -> Problem {
    match error {
        AnonymousError::Off => Problem::new(Code::NotFound, "this server shares no answers"),
        AnonymousError::TooManyToday => {
            let detail = format!("{A_DAY} entries came from this address today: try again tomorrow (UTC)");
            anonymous::refuse_with(state, error, detail)
        }
        AnonymousError::TooLarge => anonymous::refuse(state, error),
    }
}

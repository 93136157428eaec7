//! `/records/new`: the id of a new record is asked for, and the form begins with what is known.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::ids::RecordId;
use serde::Deserialize;

use super::sent::{self, Given};
use super::{Desktop, Extra, page};
use crate::domain::unmatched::draft;
use crate::render::i18n::edit::Words;
use crate::web::api::unmatched;
use crate::web::auth::Editor;
use crate::web::compute::Desk;
use crate::web::error::Problem;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::{html_not_shared, locale};
use crate::web::session::Session;
use crate::web::state::AppState;

/// What a pattern of a few examples costs to make, in bytes of input.
const DRAFT_BYTES: usize = 8 * 1024;

#[derive(Debug, Template)]
#[template(path = "pages/new.html")]
struct NewPage {
    layout: Layout,
    words: &'static Words,
    id: String,
    unmatched: Option<String>,
    refusal: Option<&'static str>,
}

#[derive(Debug, Deserialize)]
pub struct NewParams {
    id: Option<String>,
    /// Unknown lines that it begins with.
    unmatched: Option<String>,
}

pub async fn get(
    editor: Editor,
    session: Option<Session>,
    request: HttpRequest,
    params: Query<NewParams>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let locale = locale::of(&request);
    let words = Words::of(locale.language);
    let NewParams { id, unmatched } = params.into_inner();
    let wanted = id.unwrap_or_default();
    let ask = |refusal| {
        let layout = Layout::new(format!("{} · Peerless", words.new), Section::NewRecord);
        html_not_shared(&NewPage {
            layout: layout.in_both("/records/new").spoken(locale),
            words,
            id: wanted.clone(),
            unmatched: unmatched.clone(),
            refusal,
        })
    };
    if wanted.is_empty() {
        return ask(None);
    }
    let Ok(id) = wanted.trim().parse::<RecordId>() else {
        return ask(Some(words.no_id));
    };
    if state.store.status(&id).await?.is_some() {
        return ask(Some(words.known_already));
    }
    let desktop = Desktop {
        actor: editor.0,
        csrf: session.map(|session| session.csrf).unwrap_or_default(),
        locale,
        id,
        base: None,
    };
    let begun = match unmatched {
        Some(lines) => {
            let lines = unmatched::one(&state, &lines).await?.unmatched;
            let id = desktop.id.clone();
            let work = move || draft(&id, &lines);
            Some(Desk::of(&request).compute(DRAFT_BYTES, work).await?)
        }
        None => None,
    };
    // As if somebody had written it into the raw texts.
    let raw = begun.iter().flat_map(|begun| {
        [
            ("document", begun.document.as_str()),
            ("annex", begun.annex.as_str()),
        ]
    });
    let sent = sent::read(&Given::of(raw), &desktop.base_texts());
    page(&request, &state, &desktop, sent, Extra::default(), StatusCode::OK).await
}

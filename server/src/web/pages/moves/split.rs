//! `/r/{id}/-/split`: what of a record goes to a new one is ticked, and both are drafts afterwards.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::form::Texts;
use kb_core::ids::{RecordId, Revision};
use kb_core::text::{Part, Violation};

use super::{answer, see};
use crate::domain::curate::{self, CurateError, Movable, Parting, movable};
use crate::domain::records::{Found, find};
use crate::render::i18n::{Locale, field, moves::Words};
use crate::render::words::record_href;
use crate::store::StoreError;
use crate::web::api::records::split::places;
use crate::web::auth::Editor;
use crate::web::error::{Code, Problem};
use crate::web::pages::former_id::moved;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::locale;
use crate::web::session::{Form, Session};
use crate::web::state::AppState;

const FIELDS: [&str; 5] = ["head", "new_id", "signature", "title", "move[]"];

#[derive(Debug, Template)]
#[template(path = "pages/split.html")]
struct SplitPage {
    layout: Layout,
    words: &'static Words,
    csrf: String,
    id: String,
    heading: String,
    action: String,
    record_href: String,
    edit_href: String,
    history_href: String,
    head: u32,
    new_id: String,
    signature: String,
    title: String,
    groups: Vec<Group>,
    refusal: Option<String>,
}

#[derive(Debug)]
struct Group {
    name: &'static str,
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    /// `annex:/patterns/0`.
    place: String,
    text: String,
    chosen: bool,
}

#[derive(Debug, Default)]
struct Asked<'f> {
    new_id: &'f str,
    signature: &'f str,
    title: &'f str,
    places: Vec<&'f str>,
    refusal: Option<String>,
}

pub async fn get(
    _: Editor,
    session: Option<Session>,
    request: HttpRequest,
    id: Path<String>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let id: RecordId = id.parse()?;
    if let Found::Moved(now) = find(&state.knowledge.current(), id.as_str())? {
        return Ok(moved(&request, &now, "/-/split"));
    }
    let csrf = session.map(|session| session.csrf).unwrap_or_default();
    let shown = (locale::of(&request), csrf);
    page(&state, &id, shown, Asked::default(), StatusCode::OK).await
}

pub async fn post(
    editor: Editor,
    session: Option<Session>,
    request: HttpRequest,
    id: Path<String>,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&FIELDS)?;
    let id: RecordId = id.parse()?;
    let locale = locale::of(&request);
    let words = Words::of(locale.language);
    let csrf = session.map(|session| session.csrf).unwrap_or_default();
    let head = form.get("head").parse().map(Revision);
    let head =
        head.map_err(|_| Problem::new(Code::MalformedBody, "the field head is the number of a revision"))?;
    let mut asked = Asked {
        new_id: form.get("new_id").trim(),
        signature: form.get("signature").trim(),
        title: form.get("title").trim(),
        places: form.all("move").collect(),
        refusal: None,
    };
    let (refusal, status) = match asked.new_id.parse::<RecordId>() {
        Err(_) => (words.no_id.to_owned(), StatusCode::UNPROCESSABLE_ENTITY),
        Ok(to) => {
            let parting = Parting {
                id: &id,
                head,
                to: &to,
                signature: asked.signature,
                title: Some(asked.title).filter(|title| !title.is_empty()),
                moves: places(asked.places.iter().copied())?,
            };
            let (store, by, now) = (state.store.as_ref(), editor.0.by(), state.clock.now());
            match curate::split(store, parting, &by, now).await {
                Ok(_) => {
                    let there = format!("{}/-/edit", record_href(to.as_str()));
                    return Ok(see(locale.href(there)));
                }
                Err(error) => refused(error, words)?,
            }
        }
    };
    asked.refusal = Some(refusal);
    page(&state, &id, (locale, csrf), asked, status).await
}

fn refused(error: CurateError, words: &Words) -> Result<(String, StatusCode), Problem> {
    match error {
        CurateError::NothingMoves => Ok((words.nothing_moves.to_owned(), StatusCode::UNPROCESSABLE_ENTITY)),
        CurateError::Store(StoreError::AliasTaken { .. }) => {
            Ok((words.taken.to_owned(), StatusCode::CONFLICT))
        }
        CurateError::Invalid(violations) => {
            let told: Vec<String> = violations.iter().map(told).collect();
            let refusal = format!("{}: {}", words.would_break, told.join("; "));
            Ok((refusal, StatusCode::UNPROCESSABLE_ENTITY))
        }
        error => Err(error.into()),
    }
}

fn told(violation: &Violation) -> String {
    format!("{}: {}", violation.pointer, violation.reason)
}

async fn page(
    state: &AppState,
    id: &RecordId,
    (locale, csrf): (Locale, String),
    asked: Asked<'_>,
    status: StatusCode,
) -> Result<HttpResponse, Problem> {
    let nothing = || Problem::new(Code::NotFound, format!("there is no record {id}"));
    let head = state.store.status(id).await?.ok_or_else(nothing)?.head;
    let texts = state.store.revision(id, head).await?.ok_or_else(nothing)?;
    let texts = Texts::parse(&texts.document, &texts.annex)
        .map_err(|(part, error)| CurateError::Invalid(vec![Violation::unreadable(part, error)]))?;
    let words = Words::of(locale.language);
    let heading = words.split_heading(id.as_str());
    let href = |rest: &str| locale.href(format!("{}{rest}", record_href(id.as_str())));
    let layout = Layout::new(format!("{heading} · Peerless"), Section::Search);
    let page = SplitPage {
        layout: layout
            .in_both(&format!("{}/-/split", record_href(id.as_str())))
            .spoken(locale),
        words,
        csrf,
        id: id.to_string(),
        heading,
        action: href("/-/split"),
        record_href: href(""),
        edit_href: href("/-/edit"),
        history_href: href("/-/revisions"),
        head: head.0,
        new_id: asked.new_id.to_owned(),
        signature: asked.signature.to_owned(),
        title: asked.title.to_owned(),
        groups: groups(movable(&texts), &asked.places, locale),
        refusal: asked.refusal,
    };
    answer(&page, status)
}

fn groups(all: Vec<Movable>, chosen: &[&str], locale: Locale) -> Vec<Group> {
    let labels = field::Words::of(locale.language);
    let mut groups: Vec<Group> = Vec::new();
    for one in all {
        let name = labels.named(field::name(one.part, one.list)).unwrap_or(one.list);
        let part = match one.part {
            Part::Document => "document",
            Part::Annex => "annex",
        };
        let place = format!("{part}:{}", one.pointer);
        let item = Item {
            chosen: chosen.contains(&place.as_str()),
            place,
            text: one.text,
        };
        match groups.last_mut().filter(|group| group.name == name) {
            Some(group) => group.items.push(item),
            None => groups.push(Group {
                name,
                items: vec![item],
            }),
        }
    }
    groups
}

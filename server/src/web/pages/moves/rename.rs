//! `/r/{id}/-/rename`: a record gets another id, to which its former one leads.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::ids::RecordId;

use super::{Begun, Visit, answer, begin, done};
use crate::domain::curate::{self, CurateError};
use crate::render::i18n::moves::Words;
use crate::render::words::record_href;
use crate::store::StoreError;
use crate::web::auth::Publisher;
use crate::web::error::Problem;
use crate::web::pages::layout::{Layout, Section};
use crate::web::session::{Form, Session};
use crate::web::state::AppState;

const PLACE: &str = "/-/rename";

#[derive(Debug, Template)]
#[template(path = "pages/rename.html")]
struct RenamePage {
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
    refusal: Option<String>,
    has_draft: bool,
}

pub async fn get(
    publisher: Publisher,
    session: Option<Session>,
    request: HttpRequest,
    id: Path<String>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    match begin((publisher.0, session), &request, (&state, &id), PLACE).await? {
        Begun::Here(visit) => page(&visit, (visit.id().as_str(), None), StatusCode::OK),
        Begun::Elsewhere(response) => Ok(response),
    }
}

pub async fn post(
    publisher: Publisher,
    session: Option<Session>,
    request: HttpRequest,
    id: Path<String>,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["new_id", "head"])?;
    let visit = match begin((publisher.0, session), &request, (&state, &id), PLACE).await? {
        Begun::Here(visit) => visit,
        // Somebody moved it since the form was made.
        Begun::Elsewhere(_) => return Err(CurateError::NotSettled(id.parse()?).into()),
    };
    visit.check_head(&form)?;
    let words = Words::of(visit.locale.language);
    let wanted = form.get("new_id").trim();
    let refuse = |refusal: String, status| page(&visit, (wanted, Some(refusal)), status);
    let Ok(to) = wanted.parse::<RecordId>() else {
        return refuse(words.no_id.to_owned(), StatusCode::UNPROCESSABLE_ENTITY);
    };
    let (store, by, now) = (state.store.as_ref(), visit.actor.by(), state.clock.now());
    match curate::rename(store, (visit.id(), &to), &by, now).await {
        Ok(renamed) => {
            let there = visit.locale.href(record_href(to.as_str()));
            Ok(done(&state, renamed, there).await)
        }
        Err(CurateError::Store(StoreError::AliasTaken { .. })) => {
            refuse(words.taken.to_owned(), StatusCode::CONFLICT)
        }
        Err(CurateError::NotSettled(_)) => refuse(words.has_draft.to_owned(), StatusCode::CONFLICT),
        Err(CurateError::Invalid(violations)) => {
            let reasons: Vec<&str> = violations.iter().map(|found| found.reason.as_str()).collect();
            let refusal = format!("{}: {}", words.breaks_rules, reasons.join("; "));
            refuse(refusal, StatusCode::UNPROCESSABLE_ENTITY)
        }
        Err(error) => Err(error.into()),
    }
}

fn page(
    visit: &Visit,
    (new_id, refusal): (&str, Option<String>),
    status: StatusCode,
) -> Result<HttpResponse, Problem> {
    let words = Words::of(visit.locale.language);
    let id = visit.id();
    let heading = words.rename_heading(id.as_str());
    let layout = Layout::new(format!("{heading} · Peerless"), Section::Search);
    let page = RenamePage {
        layout: layout
            .in_both(&format!("{}{PLACE}", record_href(id.as_str())))
            .spoken(visit.locale),
        words,
        csrf: visit.csrf.clone(),
        id: id.to_string(),
        heading,
        action: visit.href(PLACE),
        record_href: visit.href(""),
        edit_href: visit.href("/-/edit"),
        history_href: visit.href("/-/revisions"),
        head: visit.status.head.0,
        new_id: new_id.to_owned(),
        refusal,
        has_draft: visit.has_draft(),
    };
    answer(&page, status)
}

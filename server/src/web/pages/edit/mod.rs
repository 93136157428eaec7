//! `/r/{id}/-/edit` and `/records/new`: a record as a form, with its two texts beside it.
//!
//! ```text
//! begun     a record is begun: its id is asked for
//! sent      what a form sent, put into the texts that it showed     view  fields with their values and findings
//! together  another editor was faster: both changes, merged         save  what the buttons keep
//! alike     published records that may say the same    mod   the page
//! places    where in the form a finding stands     at    the form opened at one field
//! ```

pub(super) mod alike;
pub mod at;
pub mod begun;
mod places;
mod save;
mod sent;
mod together;
mod view;

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::form::Texts;
use kb_core::ids::{RecordId, Revision};
use kb_core::record::Record;
use kb_core::text::{Part, Violation};

use self::alike::{AlikeView, alike_views};
use self::at::At;
use self::places::{Place, places};
pub(super) use self::sent::name as field_name;
use self::sent::{Given, Pair, Sent};
use self::together::Together;
use self::view::{Entry, Finding, SectionView, Told, sections, unknown_records};
use super::html_not_shared;
use super::layout::{Layout, Section};
use super::{assets, locale};
use crate::domain::curate::{self, alike, check_texts};
use crate::domain::tokens::Actor;
use crate::render::i18n::{self, Language, Locale, edit::Words, field};
use crate::render::record::Source;
use crate::render::words::record_href;
use crate::store::{Expected, Scope};
use crate::web::auth::Editor;
use crate::web::compute::Desk;
use crate::web::error::{Code, Problem};
use crate::web::session::{Form, Session};
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/edit.html")]
struct EditPage {
    layout: Layout,
    words: &'static Words,
    script: &'static str,
    csrf: String,
    id: String,
    heading: String,
    action: String,
    record_href: Option<String>,
    history_href: Option<String>,
    /// Number of the revision that the form began with; nothing for a new record.
    base: String,
    shown: Pair,
    raw: Pair,
    note: String,
    sections: Vec<SectionView>,
    general: Vec<Finding>,
    places: Vec<Place>,
    alike: Vec<AlikeView>,
    refusal: Option<String>,
    /// What to know before one corrects the field that has the focus.
    notice: Option<String>,
    together: Option<Together>,
    may_publish: bool,
    /// Pages on which the record becomes another, each with its name.
    moves: Vec<(&'static str, String)>,
}

struct Desktop {
    actor: Actor,
    csrf: String,
    locale: Locale,
    id: RecordId,
    /// Revision and texts that the form began with.
    base: Option<(Revision, Pair)>,
}

impl Desktop {
    fn base_texts(&self) -> Pair {
        if let Some((_, texts)) = &self.base {
            return texts.clone();
        }
        let (document, annex) = curate::begun(&self.id);
        Pair { document, annex }
    }

    fn expected(&self) -> Expected {
        match &self.base {
            Some((revision, _)) => Expected::Head(*revision),
            None => Expected::Absent,
        }
    }
}

#[derive(Default)]
struct Extra {
    note: String,
    refusal: Option<String>,
    together: Option<Together>,
    violations: Vec<Violation>,
    at: at::Found,
}

pub async fn get(
    editor: Editor,
    session: Option<Session>,
    request: HttpRequest,
    id: Path<String>,
    asked: Query<At>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let id: RecordId = id.parse()?;
    let nothing = || Problem::new(Code::NotFound, format!("there is no record {id}"));
    let status = state.store.status(&id).await?.ok_or_else(nothing)?;
    let base = texts(&state, &id, status.head).await?;
    let At { at, read } = asked.into_inner();
    let at = match (at, read.map(Revision).filter(|read| *read != status.head)) {
        (Some(field), Some(read)) => {
            let words = Words::of(locale::of(&request).language);
            match texts(&state, &id, read).await {
                Ok(before) => at::find(field, (read, &before), &base, words),
                // A mistyped number, or a revision of a record that was merged into this one.
                Err(problem) if problem.code() == Code::NotFound => at::Found::default(),
                Err(problem) => return Err(problem),
            }
        }
        (field, _) => at::Found { field, notice: None },
    };
    let desktop = Desktop {
        actor: editor.0,
        csrf: session.map(|session| session.csrf).unwrap_or_default(),
        locale: locale::of(&request),
        id,
        base: Some((status.head, base.clone())),
    };
    let sent = sent::read(&Given::of(std::iter::empty()), &base);
    let extra = Extra {
        at,
        ..Extra::default()
    };
    page(&request, &state, &desktop, sent, extra, StatusCode::OK).await
}

pub async fn send_new(
    editor: Editor,
    session: Option<Session>,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let id = form.get("id").parse()?;
    answer(editor.0, session, &request, (id, None), &form, &state).await
}

pub async fn send(
    editor: Editor,
    session: Option<Session>,
    request: HttpRequest,
    id: Path<String>,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let id: RecordId = id.parse()?;
    let base = form.get("base").parse().map(Revision);
    let base =
        base.map_err(|_| Problem::new(Code::MalformedBody, "the field base is the number of a revision"))?;
    answer(editor.0, session, &request, (id, Some(base)), &form, &state).await
}

async fn answer(
    actor: Actor,
    session: Option<Session>,
    request: &HttpRequest,
    (id, base): (RecordId, Option<Revision>),
    form: &Form,
    state: &AppState,
) -> Result<HttpResponse, Problem> {
    let base = match base {
        Some(revision) => Some((revision, texts(state, &id, revision).await?)),
        None => None,
    };
    let desktop = Desktop {
        actor,
        csrf: session.map(|session| session.csrf).unwrap_or_default(),
        locale: locale::of(request),
        id,
        base,
    };
    let sent = sent::read(&Given::of(form.fields()), &desktop.base_texts());
    let extra = Extra {
        note: form.get("note").trim().to_owned(),
        ..Extra::default()
    };
    let whole = sent.unreadable.is_none() && sent.not_taken.is_empty() && sent.twice.is_empty();
    match form.get("do") {
        "preview-en" => preview(request, state, &desktop, sent, extra, Language::English).await,
        "preview-zh" => preview(request, state, &desktop, sent, extra, Language::Chinese).await,
        step @ ("save" | "propose" | "publish") if whole => {
            save::save(request, state, desktop, (sent, extra), step).await
        }
        "save" | "propose" | "publish" => {
            page(
                request,
                state,
                &desktop,
                sent,
                extra,
                StatusCode::UNPROCESSABLE_ENTITY,
            )
            .await
        }
        _ => page(request, state, &desktop, sent, extra, StatusCode::OK).await,
    }
}

async fn preview(
    request: &HttpRequest,
    state: &AppState,
    desktop: &Desktop,
    sent: Sent,
    extra: Extra,
    language: Language,
) -> Result<HttpResponse, Problem> {
    let Ok(record) = Record::parse(&sent.now.document, &sent.now.annex) else {
        return page(request, state, desktop, sent, extra, StatusCode::OK).await;
    };
    let generation = state.knowledge.current();
    let neighbours = generation.graph.neighbours(&desktop.id);
    let source = Source {
        record: &record,
        revision: desktop
            .base
            .as_ref()
            .map_or(Revision(1), |(revision, _)| *revision),
        withdrawn: false,
        forced: None,
        neighbours: &neighbours,
    };
    let mut page = super::record::page(source, Locale::asked(language));
    page.layout.indexed = false;
    html_not_shared(&page)
}

async fn page(
    request: &HttpRequest,
    state: &AppState,
    desktop: &Desktop,
    sent: Sent,
    extra: Extra,
    status: StatusCode,
) -> Result<HttpResponse, Problem> {
    let Desktop { locale, id, .. } = desktop;
    let words = Words::of(locale.language);
    let generation = state.knowledge.current();
    let (of_check, now) = (id.clone(), sent.now.clone());
    let bytes = now.document.len() + now.annex.len();
    let beside = Arc::clone(&generation);
    let check = move || {
        let found = match check_texts(&of_check, &now.document, &now.annex) {
            Ok(found) | Err(found) => found,
        };
        let record = Record::parse(&now.document, &now.annex);
        (found, record.map(|record| alike(&record, &beside)))
    };
    let (mut violations, others) = Desk::of(request).compute(bytes, check).await?;
    violations.extend(extra.violations);
    let mut told = Told::of(&violations, &sent.not_taken, words);
    for conflict in &sent.twice {
        let finding = Finding {
            class: "bad",
            kind: words.error,
            text: words.twice.to_owned(),
        };
        told.add(conflict.part, conflict.pointer.clone(), finding);
    }
    if sent.unreadable.is_some() {
        let finding = Finding {
            class: "bad",
            kind: words.error,
            text: words.unreadable.to_owned(),
        };
        told.add(Part::Document, String::new(), finding);
    }
    let mut sections = match Texts::parse(&sent.fields.document, &sent.fields.annex) {
        Ok(texts) => {
            unknown_records(&texts, &generation, words, &mut told);
            let labels = field::Words::of(locale.language);
            sections(&texts, &mut told, &sent.not_taken, words, labels)
        }
        Err(_) => Vec::new(),
    };
    if let Some(field) = &extra.at.field {
        at::focus(&mut sections, field);
    }
    let places = places(&sections);
    let href = record_href(id.as_str());
    let (action, heading) = match &desktop.base {
        Some(_) => (format!("{href}/-/edit"), words.heading(id.as_str())),
        None => ("/records/new".to_owned(), format!("{}: {id}", words.new)),
    };
    let layout = Layout::new(format!("{heading} · Peerless"), Section::Search);
    let address = match &desktop.base {
        Some(_) => action.clone(),
        None => format!("/records/new?id={id}"),
    };
    let known = desktop.base.is_some();
    let may_publish = desktop.actor.may(Scope::Publish);
    let may_move = may_publish && generation.record(id).is_some();
    let moves = i18n::moves::Words::of(locale.language);
    let moves = [
        (known, moves.split, "split"),
        (may_move, moves.merge, "merge"),
        (may_move, moves.rename, "rename"),
    ];
    let moves = moves.into_iter().filter(|(may, ..)| *may);
    let moves = moves.map(|(_, name, step)| (name, locale.href(format!("{href}/-/{step}"))));
    let page = EditPage {
        layout: layout.in_both(&address).spoken(*locale),
        words,
        script: assets::edit_script(),
        csrf: desktop.csrf.clone(),
        id: id.to_string(),
        heading,
        action: locale.href(action),
        record_href: known.then(|| locale.href(&href)),
        history_href: known.then(|| locale.href(format!("{href}/-/revisions"))),
        base: desktop
            .base
            .as_ref()
            .map_or_else(String::new, |(revision, _)| revision.0.to_string()),
        shown: sent.shown,
        raw: sent.now,
        note: extra.note,
        sections,
        general: told.rest(),
        places,
        alike: alike_views(others.unwrap_or_default(), &generation, *locale),
        refusal: extra.refusal,
        notice: extra.at.notice,
        together: extra.together,
        may_publish,
        moves: moves.collect(),
    };
    let mut response = html_not_shared(&page)?;
    *response.status_mut() = status;
    Ok(response)
}

async fn texts(state: &AppState, id: &RecordId, revision: Revision) -> Result<Pair, Problem> {
    let found = state.store.revision(id, revision).await?;
    let found =
        found.ok_or_else(|| Problem::new(Code::NotFound, format!("{id} has no revision {revision}")))?;
    Ok(Pair {
        document: found.document,
        annex: found.annex,
    })
}

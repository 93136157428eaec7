//! `/r/{id}/-/merge`: the record that stays is chosen, both are shown, and one of them goes.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::ids::RecordId;
use serde::Deserialize;

use super::side::{Side, side};
use super::{Begun, Visit, answer, begin, done, see};
use crate::domain::curate::{self, CurateError, TakenAway, alike};
use crate::domain::records::{Found, find, near};
use crate::feed::{Generation, PublishedRecord};
use crate::render::i18n::moves::Words;
use crate::render::record::texts;
use crate::render::words::{encoded, record_href};
use crate::store::{ReviewState, Scope};
use crate::web::auth::Publisher;
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem};
use crate::web::limits;
use crate::web::pages::layout::{Layout, Section};
use crate::web::session::{Form, Session};
use crate::web::state::AppState;

const PLACE: &str = "/-/merge";

#[derive(Debug, Template)]
#[template(path = "pages/merge.html")]
struct MergePage {
    layout: Layout,
    words: &'static Words,
    csrf: String,
    id: String,
    heading: String,
    /// Without its language, which a form that is sent with GET carries as a field.
    action: String,
    record_href: String,
    edit_href: String,
    history_href: String,
    head: u32,
    /// What was written as the record that stays.
    asked: String,
    /// Records that may be meant; nothing where one is chosen.
    near: Option<Vec<NearView>>,
    both: Option<Both>,
    refusal: Option<String>,
    reason: String,
    has_draft: bool,
    needs_second_person: bool,
    is_admin: bool,
    /// Who asked for it already, and why.
    waits: Option<(String, String)>,
}

#[derive(Debug)]
struct NearView {
    id: String,
    title: String,
    href: String,
}

#[derive(Debug)]
struct Both {
    goes: Side,
    stays: Side,
}

#[derive(Debug, Deserialize)]
pub struct MergeParams {
    into: Option<String>,
}

#[derive(Debug, Default)]
struct Asked {
    into: String,
    reason: String,
    refusal: Option<String>,
}

pub async fn get(
    publisher: Publisher,
    session: Option<Session>,
    request: HttpRequest,
    id: Path<String>,
    params: Query<MergeParams>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let visit = match begin((publisher.0, session), &request, (&state, &id), PLACE).await? {
        Begun::Here(visit) => visit,
        Begun::Elsewhere(response) => return Ok(response),
    };
    let into = params.into_inner().into.unwrap_or_default();
    if into.len() > limits::QUERY_BYTES {
        let most = limits::QUERY_BYTES;
        return Err(Problem::new(
            Code::BadQuery,
            format!("into has at most {most} bytes"),
        ));
    }
    let asked = Asked {
        into: into.trim().to_owned(),
        ..Asked::default()
    };
    page(&request, &state, &visit, asked, StatusCode::OK).await
}

pub async fn post(
    publisher: Publisher,
    session: Option<Session>,
    request: HttpRequest,
    id: Path<String>,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["into", "head", "reason", "alone"])?;
    let visit = match begin((publisher.0, session), &request, (&state, &id), PLACE).await? {
        Begun::Here(visit) => visit,
        // Somebody moved it since the form was made.
        Begun::Elsewhere(_) => return Err(CurateError::NotSettled(id.parse()?).into()),
    };
    visit.check_head(&form)?;
    let words = Words::of(visit.locale.language);
    let into: RecordId = form.get("into").parse()?;
    let reason = form.get("reason").trim();
    let refuse = |refusal: &str| Asked {
        into: into.to_string(),
        reason: reason.to_owned(),
        refusal: Some(refusal.to_owned()),
    };
    if reason.is_empty() {
        let asked = refuse(words.reason_needed);
        return page(&request, &state, &visit, asked, StatusCode::UNPROCESSABLE_ENTITY).await;
    }
    let approver = visit.approver(&state, form.get("alone"))?;
    let (store, now) = (state.store.as_ref(), state.clock.now());
    let refusal = match curate::merge_away(store, (visit.id(), &into), Some(reason), &approver, now).await {
        Ok(TakenAway::Gone(merged)) => {
            let there = visit.locale.href(record_href(into.as_str()));
            return Ok(done(&state, merged, there).await);
        }
        Ok(TakenAway::Asked(_)) => return Ok(see(visit.href("/-/revisions"))),
        Err(CurateError::NotSettled(_)) => words.has_draft,
        Err(CurateError::NoReplacement(_)) => words.no_replacement,
        Err(error) => return Err(error.into()),
    };
    page(&request, &state, &visit, refuse(refusal), StatusCode::CONFLICT).await
}

async fn page(
    request: &HttpRequest,
    state: &AppState,
    visit: &Visit,
    asked: Asked,
    status: StatusCode,
) -> Result<HttpResponse, Problem> {
    let (id, locale) = (visit.id(), visit.locale);
    let words = Words::of(locale.language);
    let generation = state.knowledge.current();
    let stays = chosen(&generation, id, &asked.into);
    let near = match &stays {
        None => Some(meant(request, &generation, visit, &asked.into).await?),
        Some(_) => None,
    };
    let both = match stays {
        Some(stays) => {
            let of_goes = state.store.votes(id).await?;
            let of_stays = state.store.votes(stays.id()).await?;
            Some(Both {
                goes: side(&visit.record, &generation, &of_goes, locale),
                stays: side(&stays, &generation, &of_stays, locale),
            })
        }
        None => None,
    };
    let approver = visit.approver(state, "")?;
    let needs = curate::needs_second_person(state.store.as_ref(), id, &approver).await?;
    let waits = state.store.reviews(id, 1).await?.into_iter();
    let mut waits = waits.filter(|review| review.state == ReviewState::Open && review.asks.is_withdrawal());
    let waits = waits.next().map(|review| {
        let why = match (review.note.unwrap_or_default(), review.asks.replaced_by()) {
            (why, Some(other)) => format!("{why} ({other})"),
            (why, None) => why,
        };
        (words.asked_by(&review.asked_by.name), why)
    });
    let heading = words.merge_heading(id.as_str());
    let action = format!("{}{PLACE}", record_href(id.as_str()));
    let address = match asked.into.as_str() {
        "" => action.clone(),
        into => format!("{action}?into={}", encoded(into)),
    };
    let layout = Layout::new(format!("{heading} · Peerless"), Section::Search);
    let page = MergePage {
        layout: layout.in_both(&address).spoken(locale),
        words,
        csrf: visit.csrf.clone(),
        id: id.to_string(),
        heading,
        action,
        record_href: visit.href(""),
        edit_href: visit.href("/-/edit"),
        history_href: visit.href("/-/revisions"),
        head: visit.status.head.0,
        asked: asked.into,
        near,
        both,
        refusal: asked.refusal,
        reason: asked.reason,
        has_draft: visit.has_draft(),
        needs_second_person: needs.is_some(),
        is_admin: visit.actor.may(Scope::Admin),
        waits,
    };
    answer(&page, status)
}

fn chosen(generation: &Generation, id: &RecordId, into: &str) -> Option<Arc<PublishedRecord>> {
    let found = match find(generation, into).ok()? {
        Found::Published(published) => published,
        Found::Moved(now) => Arc::clone(generation.record(&now)?),
        Found::Unpublished(_) => return None,
    };
    (found.id() != id).then_some(found)
}

/// Records that a code or words may mean; without them those that seem to say the same.
async fn meant(
    request: &HttpRequest,
    generation: &Arc<Generation>,
    visit: &Visit,
    into: &str,
) -> Result<Vec<NearView>, Problem> {
    let (asked, searched) = (into.to_owned(), Arc::clone(generation));
    let record = Arc::clone(&visit.record);
    let work = move || {
        if asked.is_empty() {
            let found = alike(&record.record, &searched).into_iter();
            found.map(|alike| alike.record).collect()
        } else {
            near(&searched, &asked)
        }
    };
    let found = Desk::of(request).compute(ALL_RECORDS, work).await?;
    let views = found.into_iter().filter(|other| other != visit.id());
    let views = views.filter_map(|other| {
        let record = &generation.record(&other)?.record;
        Some(NearView {
            title: texts::heading(record, visit.locale.language).text,
            href: visit.href(&format!("{PLACE}?into={}", encoded(other.as_str()))),
            id: other.to_string(),
        })
    });
    Ok(views.collect())
}

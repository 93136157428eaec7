//! `/r/{id}`: a record for a reader. Dead ends stand before what works; rates never without who vouches for them.

pub mod neighbours;
pub mod text;
pub mod texts;
pub mod tier;
mod view;

use actix_web::http::header;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::ids::RecordId;
use kb_core::record::Record;

pub use view::{ExampleView, LanguageLink, NearMissView, Notice, Source, page};

use super::advice::{Advice, Citation, Objection, Text};
use super::graph;
use super::i18n::{self, Locale};
use super::layout::{Layout, Section};
use super::words::{Link, Row, record_href};
use super::{Unreadable, filters, html, html_not_shared};
use crate::domain::records::{Found, find};
use crate::feed::Generation;
use crate::store::RecordState;
use crate::web::error::{Code, Problem};
use crate::web::state::AppState;
use neighbours::Group;
use tier::Tier;

#[derive(Debug, Template)]
#[template(path = "pages/record.html")]
pub struct RecordPage {
    pub(super) layout: Layout,
    pub(super) words: &'static i18n::record::Words,
    pub(super) id: String,
    pub(super) notices: Vec<Notice>,
    /// `None` where the record has no title: its signature is the heading.
    pub(super) title: Option<Text>,
    pub(super) signature: Text,
    pub(super) signature_other: Option<Text>,
    pub(super) tier: Tier,
    pub(super) facts: Vec<String>,
    pub(super) root_cause: Text,
    pub(super) root_cause_dispute: Option<Objection>,
    pub(super) dead_ends: Vec<Advice>,
    pub(super) workarounds: Vec<Advice>,
    pub(super) examples: Vec<ExampleView>,
    pub(super) near_misses: Vec<NearMissView>,
    pub(super) languages: Vec<LanguageLink>,
    pub(super) codes: Vec<Link>,
    pub(super) neighbours: Vec<Group>,
    pub(super) graph: Option<Surroundings>,
    pub(super) applies_to: Vec<Row>,
    pub(super) versions: Vec<String>,
    pub(super) sources: Vec<Citation>,
    pub(super) about: Vec<Row>,
    pub(super) history_href: String,
    pub(super) json_href: String,
}

/// Most nodes that the record's own page draws; the page of its graph has the rest.
const DRAWN: usize = 20;

/// What the record is joined to, drawn.
#[derive(Debug)]
pub(super) struct Surroundings {
    pub(super) words: &'static i18n::graph::Words,
    pub(super) drawing: graph::Drawing,
    pub(super) truncated: Option<String>,
    pub(super) href: String,
}

pub async fn get(
    request: HttpRequest,
    id: Path<String>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let locale = Locale::of(&request);
    match find(&generation, &id)? {
        Found::Published(published) => {
            let neighbours = generation.graph.neighbours(published.record.id());
            let source = Source::published(&published, &neighbours);
            let mut page = page(source, locale);
            page.layout = page.layout.at(generation.seq);
            page.graph = surroundings(&generation, published.record.id(), locale);
            html(&page)
        }
        Found::Moved(now) => Ok(moved(&request, &now, "")),
        Found::Unpublished(id) => withdrawn(&generation, &state, &id, locale).await,
    }
}

/// What a record is joined to; nothing where it stands alone.
fn surroundings(generation: &Generation, id: &RecordId, locale: Locale) -> Option<Surroundings> {
    let found = generation.graph.neighbourhood(id, 1, &[], DRAWN).ok()?;
    let words = i18n::graph::Words::of(locale.language);
    (found.nodes.len() > 1).then(|| Surroundings {
        words,
        drawing: graph::sketch_around(generation, &found, locale),
        truncated: found.truncated.then(|| words.truncated(found.nodes.len() as u64)),
        href: graph::around_href(id, locale),
    })
}

/// A former id leads to the present one, with whatever else stood in the address: `rest` of the path, and the query.
pub(super) fn moved(request: &HttpRequest, now: &RecordId, rest: &str) -> HttpResponse {
    let mut address = format!("{}{rest}", record_href(now.as_str()));
    if !request.query_string().is_empty() {
        address = format!("{address}?{}", request.query_string());
    }
    HttpResponse::PermanentRedirect()
        .insert_header((header::LOCATION, address))
        .finish()
}

/// A withdrawn record stays readable by its id, marked; a draft is not for readers.
async fn withdrawn(
    generation: &Generation,
    state: &AppState,
    id: &RecordId,
    locale: Locale,
) -> Result<HttpResponse, Problem> {
    let nothing = || Problem::new(Code::NotFound, format!("there is no published record {id}"));
    let status = state.store.status(id).await?.ok_or_else(nothing)?;
    if status.state != RecordState::Withdrawn {
        return Err(nothing());
    }
    let revision = status.published.unwrap_or(status.head);
    let texts = state.store.revision(id, revision).await?.ok_or_else(nothing)?;
    let record = Record::parse(&texts.document, &texts.annex).map_err(|violations| {
        let reasons = violations.into_iter().map(|violation| violation.reason);
        let reason = reasons.collect::<Vec<_>>().join("; ");
        Problem::internal(&Unreadable {
            what: format!("record {id} {revision}"),
            reason,
        })
    })?;
    let neighbours = generation.graph.neighbours(id);
    let source = Source {
        record: &record,
        revision,
        withdrawn: true,
        forced: status.forced.as_deref(),
        neighbours: &neighbours,
    };
    let mut page = page(source, locale);
    page.layout.indexed = false;
    html_not_shared(&page)
}

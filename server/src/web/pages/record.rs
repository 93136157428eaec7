//! `/r/{id}`: a record for a reader: what it is, what to do first, what works and what does not; rates never without who
//! vouches for them. `/r/{id}.md` is the same as Markdown, and `/r/{id}.json` leads to the API.

use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::ids::RecordId;
use kb_core::record::Record;
use serde::Deserialize;

use super::correct;
use super::feedback::{self, SuggestForm};
use super::former_id::moved;
use super::graph;
use super::layout::{Layout, Section};
use super::nodes::facets::about_href;
use super::record_forms::{Meta, other_form, tagged};
use super::{Unreadable, filters, html, html_not_shared};
use crate::domain::records::{Found, find};
use crate::feed::Generation;
use crate::render::i18n::{self, Language, Locale};
use crate::render::record::{Notice, RecordView, Source, texts, view};
use crate::render::words::{Link, Tone, encoded, record_href};
use crate::store::{RecordState, RecordStatus};
use crate::web::auth::{Access, Anyone, Caller};
use crate::web::error::{Code, Problem};
use crate::web::links::base_url;
use crate::web::pages::locale;
use crate::web::session::Session;
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/record.html")]
pub struct RecordPage {
    pub(super) layout: Layout,
    pub(super) words: &'static i18n::record::Words,
    pub(super) say: &'static i18n::answer::Words,
    pub(super) meta: Meta,
    pub(super) record: RecordView,
    pub(super) languages: Vec<LanguageLink>,
    pub(super) graph: Option<Surroundings>,
    /// Where somebody may suggest a correction.
    pub(super) suggest: Option<SuggestForm>,
    pub(super) history_href: String,
    /// The nodes that show it and what they have in common, for whoever may see nodes.
    pub(super) nodes: Vec<Link>,
    pub(super) json_href: String,
    pub(super) markdown_href: String,
}

impl RecordPage {
    fn record_edit(&self) -> String {
        let href = record_href(&self.record.id);
        self.layout.locale.href(format!("{href}/-/edit"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageLink {
    /// BCP 47.
    pub lang: &'static str,
    pub name: &'static str,
    pub href: String,
    pub current: bool,
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

#[derive(Debug, Deserialize)]
pub struct RecordParams {
    told: Option<String>,
}

pub async fn get(
    caller: Anyone,
    session: Option<Session>,
    request: HttpRequest,
    id: Path<String>,
    params: Query<RecordParams>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let locale = locale::of(&request);
    if let Some(other) = other_form(&request, &state, &generation, &id, locale) {
        return Ok(other);
    }
    match find(&generation, &id)? {
        Found::Published(published) => {
            let neighbours = generation.graph.neighbours(published.record.id());
            let source = Source::published(&published, &neighbours);
            let mut page = page(source, locale);
            page.meta.lead_from(&base_url(&request, &state));
            page.layout = page.layout.at(generation.seq);
            page.graph = surroundings(&generation, published.record.id(), locale);
            page.record
                .notices
                .extend(feedback::told(params.told.as_deref(), locale));
            page.nodes = nodes_links(&caller, &state, published.record.id(), locale);
            let reader = feedback::Reader::of(&caller, session, &state);
            reader.fill(&mut page, &published, &state, locale).await;
            correct::fill(&mut page, &published, &state, locale).await;
            tagged(&request, html(&page)?)
        }
        Found::Moved(now) => Ok(moved(&request, &now, "")),
        Found::Unpublished(id) => withdrawn(&request, &state, &id, locale).await,
    }
}

pub(super) fn page(source: Source<'_>, locale: Locale) -> RecordPage {
    let (record, language) = (source.record, locale.language);
    let id = record.id();
    RecordPage {
        layout: layout(record, &texts::heading(record, language).text, locale),
        words: language.words(),
        say: i18n::answer::Words::of(language),
        meta: Meta::of(record, language),
        record: view(source, locale),
        languages: languages(id, language),
        graph: None,
        suggest: None,
        nodes: Vec::new(),
        history_href: format!("{}/-/revisions", record_href(id.as_str())),
        json_href: format!("/api/v1/records/{id}?view=full"),
        markdown_href: locale.href(format!("{}.md", record_href(id.as_str()))),
    }
}

fn layout(record: &Record, heading: &str, locale: Locale) -> Layout {
    Layout::new(format!("{heading} · Peerless"), Section::Search)
        .indexed()
        .in_both(&record_href(record.id().as_str()))
        .spoken(locale)
}

fn languages(id: &RecordId, current: Language) -> Vec<LanguageLink> {
    Language::ALL
        .map(|(language, name)| LanguageLink {
            lang: language.tag(),
            name,
            href: language.address(&record_href(id.as_str())),
            current: language == current,
        })
        .into()
}

fn nodes_links(caller: &Anyone, state: &AppState, id: &RecordId, locale: Locale) -> Vec<Link> {
    let caller = Caller(caller.0.clone());
    if Access::FleetReader
        .check(&caller, state.settings.opened())
        .is_err()
    {
        return Vec::new();
    }
    vec![
        Link {
            href: locale.href(format!("/nodes?record={}", encoded(id.as_str()))),
            text: i18n::fleet::Words::of(locale.language).nodes_of_record.to_owned(),
        },
        Link {
            href: about_href(id.as_str(), false, locale),
            text: i18n::facets::Words::of(locale.language).title.to_owned(),
        },
    ]
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

/// A withdrawn record stays readable by its id, marked; a draft is not for readers.
async fn withdrawn(
    request: &HttpRequest,
    state: &AppState,
    id: &RecordId,
    locale: Locale,
) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
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
    page.meta.lead_from(&base_url(request, state));
    page.layout.indexed = false;
    page.record.notices.extend(why_withdrawn(&status, locale));
    html_not_shared(&page)
}

fn why_withdrawn(status: &RecordStatus, locale: Locale) -> Option<Notice> {
    let words = locale.language.words();
    let instead = status.replaced_by.as_ref().map(|other| Link {
        text: other.to_string(),
        href: locale.href(record_href(other.as_str())),
    });
    if status.withdrawn_reason.is_none() && instead.is_none() {
        return None;
    }
    Some(Notice {
        tone: Tone::Warn,
        title: if instead.is_some() {
            words.replaced
        } else {
            words.withdrawn_because
        },
        text: status.withdrawn_reason.clone().unwrap_or_default(),
        link: instead,
    })
}

#[cfg(test)]
mod tests {
    use kb_core::ids::Revision;

    use super::*;
    use crate::feed::samples::PEER_ACCESS;

    #[test]
    fn a_page_strikes_what_is_disputed() {
        let (document, annex) = PEER_ACCESS;
        let record = Record::parse(document, annex).unwrap();
        let source = Source {
            record: &record,
            revision: Revision(7),
            withdrawn: false,
            forced: None,
            neighbours: &[],
        };
        for (language, struck, why) in [
            (
                Language::English,
                "<s>If using multiple GPUs",
                "<strong>Disputed:</strong>",
            ),
            (Language::Chinese, "<s>使用多块 GPU", "<strong>有争议：</strong>"),
        ] {
            let html = page(source, language.into()).render().unwrap();
            let at = html.find(struck).unwrap();
            assert!(html.get(at..).unwrap().contains(why), "{html}");
            assert!(html.contains("/user-guide/docs/env.html\""), "{html}");
            // What can be copied with a button is not among it: the signature, and the command of the first step.
            let disputed = html.get(at..).unwrap().split("</li>").next().unwrap();
            assert!(!disputed.contains("data-copy"), "{disputed}");
        }
    }
}

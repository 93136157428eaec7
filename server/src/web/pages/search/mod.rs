//! `/search`: the published records by words and facets. A search stands in the address, so that it can be shared;
//! errors and logs belong in the box, which keeps them out of addresses.

mod facets;

use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use serde::Deserialize;

pub use facets::{Chosen, FacetView};

use super::evidence::Part;
use super::html;
use super::layout::{Layout, Section};
use crate::domain::search::search;
use crate::feed::Generation;
use crate::render::i18n::{Language, Locale, search::Words};
use crate::render::record::tier::Tier;
use crate::render::words::{encoded, is_chinese, record_href};
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem};
use crate::web::limits;
use crate::web::pages::locale;
use crate::web::state::AppState;
use peerless_search::{Correction, Filters, Highlight, SearchAnswer, SearchHit, SearchRequest};

#[derive(Debug, Template)]
#[template(path = "pages/search.html")]
pub struct SearchPage {
    layout: Layout,
    words: &'static Words,
    heading: String,
    query: String,
    filters: Vec<Chosen>,
    facets: Vec<FacetView>,
    hits: Vec<HitView>,
    next: Option<String>,
    near: bool,
    unknown: Vec<String>,
    read_as: Vec<Correction>,
    wider: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitView {
    pub id: String,
    pub href: String,
    /// Title, what was sought marked; empty where the record has none.
    pub title: Vec<Part>,
    pub title_lang: &'static str,
    pub signature: Vec<Part>,
    pub signature_lang: &'static str,
    pub snippets: Vec<Snippet>,
    pub tier: Option<Tier>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    pub lang: &'static str,
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct Params {
    #[serde(default)]
    pub q: String,
    pub domain: Option<String>,
    pub category: Option<String>,
    pub tag: Option<String>,
    pub tier: Option<String>,
    pub locale: Option<String>,
    pub cursor: Option<String>,
    /// 1 while the text is being typed.
    #[serde(default)]
    pub typing: u8,
}

impl Params {
    /// The facets chosen; an empty field chooses nothing.
    fn filters(&self) -> Filters {
        let chosen = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        Filters {
            domain: chosen(&self.domain),
            category: chosen(&self.category),
            tag: chosen(&self.tag),
            tier: chosen(&self.tier),
            locale: chosen(&self.locale),
        }
    }
}

pub async fn get(
    request: HttpRequest,
    params: Query<Params>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let locale = locale::of(&request);
    let desk = Desk::of(&request);
    let params = params.into_inner();
    if params.q.len() > limits::QUERY_BYTES {
        let detail = format!(
            "q has {} bytes, it may have {}",
            params.q.len(),
            limits::QUERY_BYTES
        );
        return Err(Problem::new(Code::BadQuery, detail));
    }
    let request = SearchRequest {
        text: params.q.clone(),
        filters: params.filters(),
        limit: None,
        cursor: params.cursor.clone().filter(|cursor| !cursor.is_empty()),
        is_typing: params.typing == 1,
        ..SearchRequest::default()
    };
    let generation = state.knowledge.current();
    let searched = generation.clone();
    let work = desk.compute(ALL_RECORDS, move || search(&searched, &request));
    let answer = work.await??;
    html(&page(&generation, &params, &answer, locale))
}

pub fn page(generation: &Generation, params: &Params, answer: &SearchAnswer, locale: Locale) -> SearchPage {
    let words = Words::of(locale.language);
    let filters = params.filters();
    let heading = match (params.q.trim().is_empty(), answer.total) {
        (_, 0) => words.nothing_found.to_owned(),
        (false, _) if answer.near => words.near.to_owned(),
        (true, total) => words.record_count(total as u64),
        (false, total) => words.found(total as u64),
    };
    let next = answer.next_cursor.as_ref().map(|cursor| {
        let address = facets::address(&params.q, &filters, locale);
        let separator = if address.contains('?') { '&' } else { '?' };
        let typing = if params.typing == 1 { "&typing=1" } else { "" };
        format!("{address}{separator}cursor={}{typing}", encoded(cursor))
    });
    SearchPage {
        layout: Layout::new(format!("{heading} · Peerless"), Section::Search)
            .spoken(locale)
            .with_own_search()
            .in_both(&facets::address(&params.q, &filters, Locale::ENGLISH))
            .at(answer.kb.seq),
        words,
        heading,
        query: params.q.clone(),
        facets: facets::facets(&answer.facets, &params.q, &filters, locale),
        filters: facets::chosen(&params.q, &filters, locale),
        hits: answer
            .hits
            .iter()
            .map(|hit| hit_view(generation, hit, locale))
            .collect(),
        next,
        near: answer.near,
        unknown: answer.unknown.clone(),
        read_as: answer.read_as.clone(),
        wider: (filters != Filters::default())
            .then(|| facets::address(&params.q, &Filters::default(), locale)),
    }
}

pub fn hit_view(generation: &Generation, hit: &SearchHit, locale: Locale) -> HitView {
    let of_field = |field: &str| hit.highlights.iter().find(|highlight| highlight.field == field);
    let shown = |field: &str, text: &str| of_field(field).map_or_else(|| vec![Part::plain(text)], parts);
    let (title_field, title) = match (locale.language, &hit.title_zh) {
        (Language::Chinese, Some(title)) => ("title_zh", Some(title)),
        _ => ("title", hit.title.as_ref()),
    };
    // Title and signature are shown anyway.
    let others = hit.highlights.iter();
    let others = others.filter(|highlight| !["title", "title_zh", "signature"].contains(&highlight.field));
    let published = generation.record(&hit.id);
    HitView {
        id: hit.id.to_string(),
        href: locale.href(record_href(hit.id.as_str())),
        title: title.map_or_else(Vec::new, |title| shown(title_field, title)),
        title_lang: title.map_or("en", |title| lang(title)),
        signature: shown("signature", &hit.signature),
        signature_lang: lang(&hit.signature),
        snippets: others.map(snippet).collect(),
        tier: published.map(|published| Tier::of(&published.record.document, locale.language.words())),
    }
}

impl Part {
    fn plain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            marked: false,
        }
    }
}

fn snippet(highlight: &Highlight) -> Snippet {
    let text: String = highlight
        .segments
        .iter()
        .map(|segment| segment.text.as_str())
        .collect();
    Snippet {
        lang: lang(&text),
        parts: parts(highlight),
    }
}

fn parts(highlight: &Highlight) -> Vec<Part> {
    let each = highlight.segments.iter();
    each.map(|segment| Part {
        text: segment.text.clone(),
        marked: segment.hit,
    })
    .collect()
}

fn lang(text: &str) -> &'static str {
    if is_chinese(text) { "zh-Hans" } else { "en" }
}

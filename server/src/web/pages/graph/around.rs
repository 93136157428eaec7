//! `/r/{id}/-/graph`: what lies around a record, drawn and as a list.

use std::sync::Arc;

use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::ids::RecordId;
use kb_core::transition::EdgeKind;
use serde::Deserialize;

use super::Drawing;
use super::items::{Choice, EdgeView, edge_view, languages, record_in};
use super::sketch;
use crate::domain::records::{Found, find};
use crate::feed::Generation;
use crate::render::advice::Text;
use crate::render::i18n::{Locale, graph::Words};
use crate::render::record::neighbours::{Group, groups};
use crate::render::record::texts;
use crate::render::words::{Link, record_href};
use crate::web::api::graph::kinds;
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem};
use crate::web::pages::former_id::moved;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::locale;
use crate::web::pages::{filters, html};
use crate::web::state::AppState;

/// Most nodes that are drawn: more cannot be read.
const DRAWN: usize = 50;
/// Deepest drawing that a link leads to.
const DEEPEST: u32 = 3;

#[derive(Debug, Template)]
#[template(path = "pages/graph_around.html")]
pub struct AroundPage {
    layout: Layout,
    words: &'static Words,
    languages: Vec<Choice>,
    id: String,
    record_href: String,
    heading: Text,
    depths: Vec<Choice>,
    shows: Vec<Choice>,
    drawing: Drawing,
    truncated: Option<String>,
    groups: Vec<Group>,
    further: Vec<EdgeView>,
    json_href: String,
    way_href: String,
    map_href: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct Params {
    /// Steps, 1 unless said.
    pub depth: Option<u32>,
    /// Kinds of edges, all unless said.
    pub kinds: Option<String>,
}

pub async fn get(
    request: HttpRequest,
    id: Path<String>,
    params: Query<Params>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    match find(&generation, &id)? {
        Found::Published(published) => {
            let id = published.record.id().clone();
            let known = Arc::clone(&generation);
            let locale = locale::of(&request);
            let work = move || page(&known, &id, &params, locale);
            html(&Desk::of(&request).compute(ALL_RECORDS, work).await??)
        }
        Found::Moved(now) => Ok(moved(&request, &now, "/-/graph")),
        Found::Unpublished(id) => Err(Problem::new(
            Code::NotFound,
            format!("there is no published record {id}"),
        )),
    }
}

fn page(
    generation: &Generation,
    id: &RecordId,
    params: &Params,
    locale: Locale,
) -> Result<AroundPage, Problem> {
    let words = Words::of(locale.language);
    let wanted = kinds(params.kinds.as_deref().filter(|kinds| !kinds.trim().is_empty()))?;
    let depth = params.depth.unwrap_or(1);
    let found = generation.graph.neighbourhood(id, depth, &wanted, DRAWN)?;
    let of_record = |edge: &&crate::feed::GraphEdge| edge.from != *id && edge.target() != Some(id);
    let further = found.edges.iter().filter(of_record);
    let further = further.map(|edge| edge_view(edge, locale)).collect();
    let neighbours: Vec<_> = generation
        .graph
        .neighbours(id)
        .into_iter()
        .filter(|near| found.nodes.iter().any(|node| node.node.id == near.id))
        .filter(|near| wanted.is_empty() || is_shown(&found.edges, near))
        .collect();
    let heading = generation.record(id).map_or_else(
        || Text::new(id.as_str()),
        |published| texts::heading(&published.record, locale.language),
    );
    let href = address(id, depth, params.kinds.as_deref());
    let title = format!("{} · {id} · Peerless", words.around);
    Ok(AroundPage {
        layout: Layout::new(title, Section::Graph)
            .at(generation.seq)
            .spoken(locale)
            .in_both(&href),
        words,
        languages: languages(&href, locale),
        record_href: record_in(id.as_str(), locale),
        heading,
        depths: depths(id, depth, params, locale),
        shows: shows(id, depth, &wanted, locale),
        drawing: sketch::around(generation, &found, locale),
        truncated: found.truncated.then(|| words.truncated(found.nodes.len() as u64)),
        groups: groups(id, &neighbours, locale),
        further,
        json_href: json_href(id, depth, &wanted),
        way_href: locale.href(format!("/graph/path?from={id}")),
        map_href: locale.href("/graph"),
        id: id.to_string(),
    })
}

/// True where one of the edges shown is what a neighbour is known by.
fn is_shown(edges: &[crate::feed::GraphEdge], near: &crate::feed::Neighbour) -> bool {
    let same = |edge: &&crate::feed::GraphEdge| {
        edge.from == near.stated_by && (edge.to == near.id || edge.from.as_str() == near.id)
    };
    let confused = |kind: EdgeKind| kind == EdgeKind::FrequentlyConfusedWith;
    edges
        .iter()
        .filter(same)
        .any(|edge| confused(edge.kind) == confused(near.relation))
}

pub(in crate::web) fn href(id: &RecordId, locale: Locale) -> String {
    locale.href(address(id, 1, None))
}

fn address(id: &RecordId, depth: u32, kinds: Option<&str>) -> String {
    let mut parts = Vec::new();
    if depth != 1 {
        parts.push(format!("depth={depth}"));
    }
    if let Some(kinds) = kinds.filter(|kinds| !kinds.is_empty()) {
        parts.push(format!("kinds={kinds}"));
    }
    let query = if parts.is_empty() { "" } else { "?" };
    format!("{}/-/graph{query}{}", record_href(id.as_str()), parts.join("&"))
}

fn json_href(id: &RecordId, depth: u32, wanted: &[EdgeKind]) -> String {
    let kinds: Vec<&str> = wanted.iter().map(|kind| kind.as_str()).collect();
    let kinds = if kinds.is_empty() {
        String::new()
    } else {
        format!("&kinds={}", kinds.join(","))
    };
    format!("/api/v1/records/{id}/-/graph?depth={depth}{kinds}")
}

fn depths(id: &RecordId, depth: u32, params: &Params, locale: Locale) -> Vec<Choice> {
    let choice = |steps: u32| Choice {
        link: Link {
            href: locale.href(address(id, steps, params.kinds.as_deref())),
            text: steps.to_string(),
        },
        lang: locale.language.tag(),
        current: steps == depth,
    };
    (1..=DEEPEST).map(choice).collect()
}

fn shows(id: &RecordId, depth: u32, wanted: &[EdgeKind], locale: Locale) -> Vec<Choice> {
    const CAUSAL: [EdgeKind; 2] = [EdgeKind::LeadsTo, EdgeKind::PrecededBy];
    const CONFUSED: [EdgeKind; 1] = [EdgeKind::FrequentlyConfusedWith];
    let words = Words::of(locale.language);
    let choices: [(&str, &[EdgeKind]); 3] = [
        (words.everything, &[]),
        (words.causes, &CAUSAL),
        (words.lookalikes, &CONFUSED),
    ];
    choices
        .map(|(text, kinds)| {
            let named: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
            Choice {
                link: Link {
                    href: locale.href(address(id, depth, Some(&named.join(",")))),
                    text: text.to_owned(),
                },
                lang: locale.language.tag(),
                current: are_same(kinds, wanted),
            }
        })
        .into()
}

/// True for the same kinds, in whatever order and however often they are named.
fn are_same(one: &[EdgeKind], other: &[EdgeKind]) -> bool {
    one.iter().all(|kind| other.contains(kind)) && other.iter().all(|kind| one.contains(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_kinds_does_not_matter_and_the_json_has_them_too() {
        let id = "t/a".parse().unwrap();
        let wanted = kinds(Some("preceded_by,leads_to")).unwrap();
        let current = |wanted: &[EdgeKind]| {
            let shows = shows(&id, 1, wanted, Locale::ENGLISH);
            shows.iter().map(|choice| choice.current).collect::<Vec<_>>()
        };
        assert_eq!(current(&wanted), [false, true, false]);
        assert_eq!(current(&[]), [true, false, false]);
        assert_eq!(
            json_href(&id, 2, &wanted),
            "/api/v1/records/t/a/-/graph?depth=2&kinds=preceded_by,leads_to"
        );
        assert_eq!(json_href(&id, 1, &[]), "/api/v1/records/t/a/-/graph?depth=1");
    }
}

//! `/graph/path`: the shortest ways from a first cause to a symptom.

use std::collections::HashMap;

use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::ids::RecordId;
use serde::Deserialize;

use super::Drawing;
use super::drawing::{Node, draw};
use super::items::{Choice, EdgeView, edge_view, languages, node_title, record_in};
use super::label::Label;
use super::sketch::edges;
use crate::domain::records::{Found, find};
use crate::feed::{Generation, GraphEdge, Ways};
use crate::render::i18n::Locale;
use crate::render::i18n::graph::Words;
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem};
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::locale;
use crate::web::pages::{filters, html};
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/graph_way.html")]
pub struct WayPage {
    layout: Layout,
    words: &'static Words,
    languages: Vec<Choice>,
    from: String,
    to: String,
    drawing: Option<Drawing>,
    answer: Option<&'static str>,
    back_href: Option<String>,
    paths: Vec<Vec<EdgeView>>,
    map_href: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct Params {
    #[serde(default)]
    pub from: String,
    #[serde(default)]
    pub to: String,
}

pub async fn get(
    request: HttpRequest,
    params: Query<Params>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let locale = locale::of(&request);
    let work = move || page(&generation, &params, locale);
    html(&Desk::of(&request).compute(ALL_RECORDS, work).await??)
}

fn page(generation: &Generation, params: &Params, locale: Locale) -> Result<WayPage, Problem> {
    let words = Words::of(locale.language);
    let (from, to) = (params.from.trim(), params.to.trim());
    let href = address(from, to);
    let layout = Layout::new(format!("{} · Peerless", words.way), Section::Graph).at(generation.seq);
    let mut page = WayPage {
        layout: layout.spoken(locale).in_both(&href),
        words,
        languages: languages(&href, locale),
        from: from.to_owned(),
        to: to.to_owned(),
        drawing: None,
        answer: None,
        back_href: None,
        paths: Vec::new(),
        map_href: locale.href("/graph"),
    };
    if from.is_empty() || to.is_empty() {
        return Ok(page);
    }
    let (from, to) = (record(generation, from)?, record(generation, to)?);
    let found = generation.graph.paths(&from, &to, &[])?;
    page.answer = match found.steps {
        None => Some(words.no_way),
        Some(0) => Some(words.same),
        Some(_) => found.truncated.then_some(words.more_ways),
    };
    if found.steps.is_none() && generation.graph.paths(&to, &from, &[])?.steps.is_some() {
        page.back_href = Some(locale.href(address(to.as_str(), from.as_str())));
    }
    if found.steps.is_some_and(|steps| steps > 0) {
        page.drawing = Some(drawing(generation, &from, &found, locale));
        let sentences = |path: &Vec<crate::feed::PathStep>| {
            let stated = path.iter().flat_map(|step| &step.edges);
            stated.map(|edge| edge_view(edge, locale)).collect()
        };
        page.paths = found.paths.iter().map(sentences).collect();
    }
    Ok(page)
}

fn record(generation: &Generation, id: &str) -> Result<RecordId, Problem> {
    match find(generation, id)? {
        Found::Published(published) => Ok(published.record.id().clone()),
        Found::Moved(now) => Ok(now),
        Found::Unpublished(id) => Err(Problem::new(
            Code::NotFound,
            format!("there is no published record {id}"),
        )),
    }
}

fn address(from: &str, to: &str) -> String {
    use crate::render::words::encoded;
    format!("/graph/path?from={}&to={}", encoded(from), encoded(to))
}

fn drawing(generation: &Generation, from: &RecordId, found: &Ways, locale: Locale) -> Drawing {
    let words = Words::of(locale.language);
    let mut columns: Vec<(&str, i32)> = vec![(from.as_str(), 0)];
    let mut stated: Vec<GraphEdge> = Vec::new();
    for path in &found.paths {
        for (column, step) in (1..).zip(path) {
            if !columns.iter().any(|(id, _)| *id == step.to.as_str()) {
                columns.push((step.to.as_str(), column));
            }
            stated.extend(step.edges.iter().cloned());
        }
    }
    let last = columns
        .iter()
        .map(|(_, column)| *column)
        .max()
        .unwrap_or_default();
    let nodes: Vec<Node> = columns
        .iter()
        .map(|(id, column)| Node {
            label: Label::of(id),
            href: Some(record_in(id, locale)),
            title: node_title(generation, id, locale.language),
            class: if *column == 0 || *column == last {
                "g-node g-this"
            } else {
                "g-node"
            },
            column: *column,
            below: false,
        })
        .collect();
    let places: HashMap<&str, usize> = columns
        .iter()
        .enumerate()
        .map(|(at, (id, _))| (*id, at))
        .collect();
    let mut drawing = draw(&nodes, &edges(&stated, &places, words), &|_, _| None);
    words.way.clone_into(&mut drawing.title);
    words.way_means.clone_into(&mut drawing.description);
    drawing
}

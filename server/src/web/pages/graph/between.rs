//! `/graph/between`: the edges from one domain to another.

use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::near;
use serde::Deserialize;

use super::items::{Choice, EdgeView, edge_view, languages};
use crate::feed::{Between, Generation};
use crate::render::i18n::graph::Words;
use crate::render::words::encoded;
use crate::web::error::{Code, Problem};
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::locale;
use crate::web::pages::{filters, html};
use crate::web::state::AppState;

/// Edges shown: a page of more is not read.
const SHOWN: usize = 500;

#[derive(Debug, Template)]
#[template(path = "pages/graph_between.html")]
pub struct BetweenPage {
    layout: Layout,
    words: &'static Words,
    languages: Vec<Choice>,
    from: String,
    relation: &'static str,
    to: String,
    edges: Vec<EdgeView>,
    truncated: bool,
    map_href: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Params {
    pub from: String,
    pub to: String,
    pub kind: String,
}

pub async fn get(
    request: HttpRequest,
    params: Query<Params>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let locale = locale::of(&request);
    let words = Words::of(locale.language);
    let causal = match params.kind.as_str() {
        "causal" => true,
        "confused" => false,
        _ => return Err(Problem::new(Code::BadQuery, "kind is causal or confused")),
    };
    let (from, to) = (params.from.as_str(), params.to.as_str());
    for (name, domain) in [("from", from), ("to", to)] {
        check_domain(name, domain, &generation)?;
    }
    let mut stated = generation.graph.between(Between { from, to, causal });
    let edges: Vec<EdgeView> = stated
        .by_ref()
        .take(SHOWN)
        .map(|edge| edge_view(edge, locale))
        .collect();
    let href = format!(
        "/graph/between?from={}&to={}&kind={}",
        encoded(from),
        encoded(to),
        params.kind
    );
    let layout = Layout::new(format!("{from} → {to} · Peerless"), Section::Graph).at(generation.seq);
    html(&BetweenPage {
        layout: layout.spoken(locale).in_both(&href),
        words,
        languages: languages(&href, locale),
        from: from.to_owned(),
        relation: if causal { words.leads_to } else { words.taken_for },
        to: to.to_owned(),
        edges,
        truncated: stated.next().is_some(),
        map_href: locale.href("/graph"),
    })
}

/// Refuses a domain that no record has: a page without edges would say that nothing joins it.
fn check_domain(name: &str, domain: &str, generation: &Generation) -> Result<(), Problem> {
    let domains = &generation.graph.domains().domains;
    let known: Vec<&str> = domains.iter().map(|domain| domain.name.as_str()).collect();
    if known.contains(&domain) {
        return Ok(());
    }
    let (shown, choices) = (near::shown(domain), near::choices(domain, &known));
    let detail = format!("{name}: no record has the domain {shown}: {choices}");
    Err(Problem::new(Code::BadQuery, detail))
}

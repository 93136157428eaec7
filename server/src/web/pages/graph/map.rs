//! `/graph`: the domains, how many records each has, and what leads from one to another.

use std::collections::{BTreeMap, BTreeSet};

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::Drawing;
use super::drawing::{Edge, Node, draw};
use super::items::{Choice, languages};
use super::label::Label;
use crate::feed::{DomainLink, DomainMap, DomainNode};
use crate::render::i18n::Locale;
use crate::render::i18n::graph::Words;
use crate::render::words::{Link, encoded};
use crate::web::error::Problem;
use crate::web::pages::html;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::locale;
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/graph_map.html")]
pub struct MapPage {
    layout: Layout,
    words: &'static Words,
    languages: Vec<Choice>,
    map: MapView,
    way_href: String,
}

/// The domains, drawn and as lists.
#[derive(Debug)]
pub struct MapView {
    pub drawing: Drawing,
    /// Domains that no line of the drawing would reach.
    pub apart: Vec<Link>,
    pub domains: Vec<DomainRow>,
    pub links: Vec<LinkRow>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainRow {
    pub link: Link,
    pub records: usize,
    pub inner: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRow {
    pub from: String,
    pub relation: &'static str,
    pub to: String,
    pub link: Link,
}

pub async fn get(request: HttpRequest, state: Data<AppState>) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let locale = locale::of(&request);
    let words = Words::of(locale.language);
    let layout = Layout::new(format!("{} · Peerless", words.map), Section::Graph).indexed();
    html(&MapPage {
        layout: layout.at(generation.seq).spoken(locale).in_both("/graph"),
        words,
        languages: languages("/graph", locale),
        map: view(generation.graph.domains(), locale),
        way_href: locale.href("/graph/path"),
    })
}

/// The map as its page shows it; the links lead where those of `locale` lead.
pub fn view(map: &DomainMap, locale: Locale) -> MapView {
    let words = Words::of(locale.language);
    MapView {
        drawing: drawing(map, locale),
        apart: apart(map).map(|name| domain_link(name, locale)).collect(),
        domains: map
            .domains
            .iter()
            .map(|domain| DomainRow {
                link: domain_link(&domain.name, locale),
                records: domain.records,
                inner: domain.inner,
            })
            .collect(),
        links: map
            .links
            .iter()
            .map(|link| LinkRow {
                from: link.from.clone(),
                relation: if link.causal {
                    words.leads_to
                } else {
                    words.taken_for
                },
                to: link.to.clone(),
                link: Link {
                    href: link_href(link, locale),
                    text: link.edges.to_string(),
                },
            })
            .collect(),
    }
}

fn domain_link(name: &str, locale: Locale) -> Link {
    Link {
        href: domain_href(name, locale),
        text: name.to_owned(),
    }
}

fn causal(map: &DomainMap) -> impl Iterator<Item = &DomainLink> {
    map.links.iter().filter(|link| link.causal)
}

/// Domains from and to which nothing leads: among the others they would only stand before lines.
fn apart(map: &DomainMap) -> impl Iterator<Item = &str> {
    let ends = causal(map).flat_map(|link| [link.from.as_str(), link.to.as_str()]);
    let joined: BTreeSet<&str> = ends.collect();
    let names = map.domains.iter().map(|domain| domain.name.as_str());
    names.filter(move |name| !joined.contains(name))
}

fn domain_href(name: &str, locale: Locale) -> String {
    locale.href(format!("/search?domain={}", encoded(name)))
}

fn link_href(link: &DomainLink, locale: Locale) -> String {
    let (from, to) = (encoded(&link.from), encoded(&link.to));
    let kind = if link.causal { "causal" } else { "confused" };
    locale.href(format!("/graph/between?from={from}&to={to}&kind={kind}"))
}

fn drawing(map: &DomainMap, locale: Locale) -> Drawing {
    let words = Words::of(locale.language);
    let mut degrees: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for link in causal(map) {
        degrees.entry(&link.from).or_default().0 += link.edges;
        degrees.entry(&link.to).or_default().1 += link.edges;
    }
    let drawn: Vec<(&DomainNode, i32)> = map
        .domains
        .iter()
        .filter_map(|domain| {
            let (out, into) = degrees.get(domain.name.as_str())?;
            Some((domain, column(*out, *into)))
        })
        .collect();
    let nodes: Vec<Node> = drawn
        .iter()
        .map(|(domain, column)| Node {
            label: Label::counted(&domain.name, format!("{} · {}", words.records, domain.records)),
            href: Some(domain_href(&domain.name, locale)),
            title: format!("{}, {} {}", domain.name, words.records, domain.records),
            class: "g-node",
            column: *column,
            below: false,
        })
        .collect();
    let place = |name: &str| drawn.iter().position(|(domain, _)| domain.name == name);
    let edges: Vec<Edge> = causal(map)
        .filter_map(|link| {
            Some(Edge {
                from: place(&link.from)?,
                to: place(&link.to)?,
                causal: true,
                weight: match link.edges {
                    0..3 => 1,
                    3..10 => 2,
                    10.. => 3,
                },
                title: format!("{} {} {} · {}", link.from, words.leads_to, link.to, link.edges),
                href: Some(link_href(link, locale)),
            })
        })
        .collect();
    let mut drawing = draw(&nodes, &edges, &|_, _| None);
    words.map_drawing.clone_into(&mut drawing.title);
    words.map_means.clone_into(&mut drawing.description);
    drawing
}

/// -2, where all edges lead out, to 2, where all lead in.
fn column(out: usize, into: usize) -> i32 {
    // Five shares of equal width, the middle one around as many out as in.
    let share = (into * 5).checked_div(out + into).unwrap_or(2).min(4);
    i32::try_from(share).unwrap_or(2) - 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leads_nowhere_is_named_and_not_drawn() {
        let domain = |name: &str| DomainNode {
            name: name.to_owned(),
            records: 1,
            inner: 0,
        };
        let link = |from: &str, to: &str, causal| DomainLink {
            from: from.to_owned(),
            to: to.to_owned(),
            causal,
            edges: 1,
        };
        let map = DomainMap {
            domains: ["a", "b", "c", "d"].map(domain).to_vec(),
            links: vec![link("a", "b", true), link("b", "c", false)],
        };
        assert_eq!(apart(&map).collect::<Vec<_>>(), ["c", "d"]);
        let drawing = drawing(&map, Locale::ENGLISH);
        assert_eq!((drawing.boxes.len(), drawing.lines.len()), (2, 1));
    }

    #[test]
    fn causes_stand_left_and_symptoms_right() {
        let columns = [(9, 0), (7, 2), (5, 5), (2, 7), (0, 1)].map(|(out, into)| column(out, into));
        assert_eq!(columns, [-2, -1, 0, 1, 2]);
        assert_eq!(column(0, 0), 0);
    }
}

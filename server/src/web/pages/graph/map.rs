//! `/graph`: the domains, how many records each has, and what leads from one to another.

use std::collections::{BTreeMap, BTreeSet};

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::Drawing;
use super::drawing::{Edge, Node, draw};
use super::items::{Choice, languages};
use super::label::Label;
use crate::feed::{DomainLink, DomainMap};
use crate::web::error::Problem;
use crate::web::pages::html;
use crate::web::pages::i18n::Locale;
use crate::web::pages::i18n::graph::Words;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::words::{Link, encoded};
use crate::web::state::AppState;

/// The page.
#[derive(Debug, Template)]
#[template(path = "pages/graph_map.html")]
pub struct MapPage {
    layout: Layout,
    words: &'static Words,
    languages: Vec<Choice>,
    drawing: Drawing,
    domains: Vec<DomainRow>,
    links: Vec<LinkRow>,
    way_href: String,
}

/// A domain in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainRow {
    /// Its name, with its records.
    pub link: Link,
    /// Published records.
    pub records: usize,
    /// Edges between its own records.
    pub inner: usize,
}

/// What joins two domains, in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRow {
    /// Domain of the earlier errors.
    pub from: String,
    /// What they do.
    pub relation: &'static str,
    /// Domain of the later ones.
    pub to: String,
    /// How many edges, with their list.
    pub link: Link,
}

/// `GET /graph`.
pub async fn get(request: HttpRequest, state: Data<AppState>) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let locale = Locale::of(&request);
    let words = Words::of(locale.language);
    let map = generation.graph.domains();
    let layout = Layout::new(format!("{} · Peerless", words.map), Section::Graph).indexed();
    html(&MapPage {
        layout: layout.at(generation.seq).spoken(locale).in_both("/graph"),
        words,
        languages: languages("/graph", locale),
        drawing: drawing(map, locale),
        domains: map
            .domains
            .iter()
            .map(|domain| DomainRow {
                link: Link {
                    href: domain_href(&domain.name, locale),
                    text: domain.name.clone(),
                },
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
        way_href: locale.href("/graph/path"),
    })
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
    for link in map.links.iter().filter(|link| link.causal) {
        degrees.entry(&link.from).or_default().0 += link.edges;
        degrees.entry(&link.to).or_default().1 += link.edges;
    }
    // No line is drawn for those that are only taken for each other, but joined they are.
    let ends = map
        .links
        .iter()
        .flat_map(|link| [link.from.as_str(), link.to.as_str()]);
    let joined: BTreeSet<&str> = ends.collect();
    let nodes: Vec<Node> = map
        .domains
        .iter()
        .map(|domain| {
            let degree = degrees.get(domain.name.as_str());
            Node {
                label: Label::counted(&domain.name, format!("{} · {}", words.records, domain.records)),
                href: Some(domain_href(&domain.name, locale)),
                title: format!("{}, {} {}", domain.name, words.records, domain.records),
                class: "g-node",
                column: degree.map_or(0, |(out, into)| column(*out, *into)),
                below: !joined.contains(domain.name.as_str()),
            }
        })
        .collect();
    let place = |name: &str| map.domains.iter().position(|domain| domain.name == name);
    let edges: Vec<Edge> = map
        .links
        .iter()
        .filter(|link| link.causal)
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
    let mut drawing = draw(&nodes, &edges, &|_, below| below.then_some(words.apart));
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
    use crate::feed::DomainNode;

    #[test]
    fn who_is_taken_for_another_is_joined_to_it() {
        let domain = |name: &str| DomainNode {
            name: name.to_owned(),
            records: 1,
            inner: 0,
        };
        let link = DomainLink {
            from: "a".to_owned(),
            to: "b".to_owned(),
            causal: false,
            edges: 1,
        };
        let mut map = DomainMap {
            domains: vec![domain("a"), domain("b")],
            links: vec![link],
        };
        let apart = |map: &DomainMap| drawing(map, Locale::ENGLISH).headings.len();
        assert_eq!(apart(&map), 0);
        map.links.clear();
        assert_eq!(apart(&map), 1);
    }

    #[test]
    fn causes_stand_left_and_symptoms_right() {
        let columns = [(9, 0), (7, 2), (5, 5), (2, 7), (0, 1)].map(|(out, into)| column(out, into));
        assert_eq!(columns, [-2, -1, 0, 1, 2]);
        assert_eq!(column(0, 0), 0);
    }
}

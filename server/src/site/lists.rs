//! The lists: the domains, the records of each with the edges that lead out of it, and the map of the graph.

use askama::Template;

use super::layout::{Layout, Section, Site};
use super::lean;
use crate::feed::{Between, Generation, PublishedRecord};
use crate::render::i18n::{Language, graph, lookup};
use crate::render::record::texts;
use crate::render::site_address::domain_name;
use crate::render::words::{Link, encoded, grouped, record_href};
use crate::web::pages::filters;
use crate::web::pages::graph::EdgeView;
use crate::web::pages::graph::edge_view;
use crate::web::pages::graph::map::{MapView, view};

#[derive(Debug, Template)]
#[template(path = "site/records.html")]
struct RecordsPage {
    layout: Layout,
    home: &'static lookup::Words,
    known: String,
    /// Each with how many records it has.
    domains: Vec<(Link, String)>,
}

#[derive(Debug, Template)]
#[template(path = "site/domain.html")]
struct DomainPage {
    layout: Layout,
    words: &'static graph::Words,
    name: String,
    count: String,
    records: Vec<Row>,
    joined: Vec<Joined>,
}

#[derive(Debug)]
struct Row {
    href: String,
    title: String,
    /// BCP 47, where it is not the page's.
    lang: Option<&'static str>,
}

/// The edges from one domain to another.
#[derive(Debug)]
struct Joined {
    name: String,
    edges: Vec<EdgeView>,
}

#[derive(Debug, Template)]
#[template(path = "site/graph.html")]
struct GraphPage {
    layout: Layout,
    words: &'static graph::Words,
    map: MapView,
}

pub(super) fn records(site: Site<'_>, generation: &Generation, language: Language) -> askama::Result<String> {
    let home = lookup::Words::of(language);
    let layout = Layout::new(
        site,
        language,
        &format!("{} · Peerless", layout_title(language)),
        "records",
        Section::Records,
    );
    let domains = generation.graph.domains().domains.iter();
    let domains = domains.map(|domain| {
        let link = Link {
            href: layout
                .locale
                .href(format!("/search?domain={}", encoded(&domain.name))),
            text: domain.name.clone(),
        };
        (link, grouped(domain.records as u64))
    });
    lean::page(
        &RecordsPage {
            domains: domains.collect(),
            layout,
            home,
            known: home.known(generation.len() as u64),
        },
        language.tag(),
    )
}

fn layout_title(language: Language) -> &'static str {
    crate::render::i18n::files::Words::of(language).by_domain
}

pub(super) fn domain(
    site: Site<'_>,
    generation: &Generation,
    language: Language,
    name: &str,
    records: &[&PublishedRecord],
) -> askama::Result<String> {
    let title = format!("{name} · Peerless");
    let layout = Layout::new(site, language, &title, &domain_name(name), Section::Records);
    let row = |published: &&PublishedRecord| {
        let heading = texts::heading(&published.record, language);
        Row {
            href: layout.locale.href(record_href(published.id().as_str())),
            title: heading.text,
            lang: (heading.lang != language.tag()).then_some(heading.lang),
        }
    };
    let records: Vec<Row> = records.iter().map(row).collect();
    let joined = joined(generation, name, &layout);
    let count = lookup::Words::of(language).known(records.len() as u64);
    lean::page(
        &DomainPage {
            words: graph::Words::of(language),
            name: name.to_owned(),
            count,
            records,
            joined,
            layout,
        },
        language.tag(),
    )
}

/// What leads from the domain to others, and what of them it is taken for, by the other domain.
fn joined(generation: &Generation, name: &str, layout: &Layout) -> Vec<Joined> {
    let links = &generation.graph.domains().links;
    let mut joined: Vec<Joined> = Vec::new();
    for link in links.iter().filter(|link| link.from == name) {
        let between = Between {
            from: &link.from,
            to: &link.to,
            causal: link.causal,
        };
        let edges = generation.graph.between(between);
        // What tells the two apart stands on their own pages.
        let edges = edges.map(|edge| EdgeView {
            details: Vec::new(),
            ..edge_view(edge, layout.locale)
        });
        match joined.iter_mut().find(|known| known.name == link.to) {
            Some(known) => known.edges.extend(edges),
            None => joined.push(Joined {
                name: link.to.clone(),
                edges: edges.collect(),
            }),
        }
    }
    joined
}

pub(super) fn graph(site: Site<'_>, generation: &Generation, language: Language) -> askama::Result<String> {
    let words = graph::Words::of(language);
    let title = format!("{} · Peerless", words.map);
    let layout = Layout::new(site, language, &title, "graph", Section::Graph);
    lean::page(
        &GraphPage {
            map: view(generation.graph.domains(), layout.locale),
            layout,
            words,
        },
        language.tag(),
    )
}

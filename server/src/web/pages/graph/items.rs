//! Edges and links as the graph pages show them.

use kb_core::transition::EdgeKind;

use crate::feed::{Generation, GraphEdge};
use crate::render::advice::Text;
use crate::render::i18n::graph::Words;
use crate::render::i18n::{Language, Locale};
use crate::render::record::texts;
use crate::render::record::tier::percent;
use crate::render::words::{Link, record_href};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndView {
    pub id: String,
    pub href: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeView {
    pub from: EndView,
    pub relation: &'static str,
    pub to: EndView,
    /// When it holds, how to tell the two apart, how often.
    pub details: Vec<Text>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub link: Link,
    /// BCP 47.
    pub lang: &'static str,
    pub current: bool,
}

pub(super) fn record_in(id: &str, locale: Locale) -> String {
    locale.href(record_href(id))
}

pub fn edge_view(edge: &GraphEdge, locale: Locale) -> EdgeView {
    let words = Words::of(locale.language);
    let end = |id: &str, known: bool| EndView {
        id: id.to_owned(),
        href: known.then(|| record_in(id, locale)),
    };
    let own = end(edge.from.as_str(), true);
    let other = end(&edge.to, edge.resolved);
    let (from, to) = match edge.kind {
        EdgeKind::PrecededBy => (other, own),
        EdgeKind::LeadsTo | EdgeKind::FrequentlyConfusedWith => (own, other),
    };
    let stated = [edge.distinction.as_deref(), edge.condition.as_deref()];
    let mut details: Vec<Text> = stated.into_iter().filter_map(Text::filled).collect();
    if let Some(probability) = edge.probability {
        details.push(Text {
            text: format!("{} {}", words.probability, percent(probability)),
            lang: locale.language.tag(),
        });
    }
    EdgeView {
        from,
        relation: words.relation(edge.kind),
        to,
        details,
    }
}

pub(super) fn node_title(generation: &Generation, id: &str, language: Language) -> String {
    let parsed = id.parse().ok();
    let Some(published) = parsed.and_then(|id| generation.record(&id)) else {
        return format!("{id} {}", Words::of(language).no_such_record);
    };
    format!("{id}: {}", texts::heading(&published.record, language).text)
}

/// The languages of a page, each an address that asks for it: the browser may prefer another.
pub(super) fn languages(href: &str, locale: Locale) -> Vec<Choice> {
    let choice = |(language, name): (Language, &str)| Choice {
        link: Link {
            href: language.address(href),
            text: name.to_owned(),
        },
        lang: language.tag(),
        current: language == locale.language,
    };
    Language::ALL.map(choice).into()
}

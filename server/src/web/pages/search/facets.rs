//! Facets as links: each choice is an address of its own.

use crate::render::i18n::{Locale, search::Words};
use crate::render::record::tier::Tier;
use crate::render::words::encoded;
use peerless_search::{FacetValue, Facets, Filters};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetView {
    pub label: &'static str,
    pub values: Vec<ValueView>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueView {
    pub text: String,
    pub href: String,
    pub count: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    pub name: &'static str,
    pub label: &'static str,
    pub value: String,
    pub text: String,
    pub without: String,
    pub taken_back: String,
}

const FACETS: [&str; 5] = ["domain", "category", "tag", "tier", "locale"];

fn label(name: &str, words: &Words) -> &'static str {
    match name {
        "domain" => words.domain,
        "category" => words.category,
        "tag" => words.tag,
        "tier" => words.tier,
        _ => words.locale,
    }
}

pub(super) fn address(query: &str, filters: &Filters, locale: Locale) -> String {
    let mut parts = Vec::new();
    if !query.is_empty() {
        parts.push(format!("q={}", encoded(query)));
    }
    for name in FACETS {
        if let Some(value) = value_of(filters, name) {
            parts.push(format!("{name}={}", encoded(value)));
        }
    }
    locale.href(if parts.is_empty() {
        "/search".to_owned()
    } else {
        format!("/search?{}", parts.join("&"))
    })
}

pub(super) fn facets(facets: &Facets, query: &str, filters: &Filters, locale: Locale) -> Vec<FacetView> {
    let views = FACETS.into_iter().map(|name| {
        let chosen = value_of(filters, name);
        let others = values_of(facets, name)
            .iter()
            .filter(|value| chosen != Some(value.value.as_str()));
        let values = others.map(|value| ValueView {
            text: value_text(name, &value.value, locale),
            href: address(query, &with(filters, name, Some(value.value.clone())), locale),
            count: value.count,
        });
        FacetView {
            label: label(name, Words::of(locale.language)),
            values: values.collect(),
        }
    });
    // One value for all hits narrows nothing.
    views
        .filter(|facet| facet.values.len() > 1 || (facet.values.len() == 1 && !filters_is_empty(filters)))
        .collect()
}

pub(super) fn chosen(query: &str, filters: &Filters, locale: Locale) -> Vec<Chosen> {
    let words = Words::of(locale.language);
    let each = FACETS.into_iter().filter_map(|name| {
        let value = value_of(filters, name)?;
        let (label, text) = (label(name, words), value_text(name, value, locale));
        Some(Chosen {
            name,
            label,
            value: value.to_owned(),
            without: address(query, &with(filters, name, None), locale),
            taken_back: words.without(label, &text),
            text,
        })
    });
    each.collect()
}

fn filters_is_empty(filters: &Filters) -> bool {
    *filters == Filters::default()
}

fn value_text(name: &str, value: &str, locale: Locale) -> String {
    match name {
        "tier" => Tier::named(value, locale.language.words()).label.to_owned(),
        _ => value.replace('_', " "),
    }
}

fn value_of<'a>(filters: &'a Filters, name: &str) -> Option<&'a str> {
    let value = match name {
        "domain" => &filters.domain,
        "category" => &filters.category,
        "tag" => &filters.tag,
        "tier" => &filters.tier,
        _ => &filters.locale,
    };
    value.as_deref()
}

fn values_of<'a>(facets: &'a Facets, name: &str) -> &'a [FacetValue] {
    match name {
        "domain" => &facets.domain,
        "category" => &facets.category,
        "tag" => &facets.tag,
        "tier" => &facets.tier,
        _ => &facets.locale,
    }
}

fn with(filters: &Filters, name: &str, value: Option<String>) -> Filters {
    let mut filters = filters.clone();
    match name {
        "domain" => filters.domain = value,
        "category" => filters.category = value,
        "tag" => filters.tag = value,
        "tier" => filters.tier = value,
        _ => filters.locale = value,
    }
    filters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_addresses() {
        let filters = Filters {
            domain: Some("cuda".to_owned()),
            ..Filters::default()
        };
        assert_eq!(
            address("Xid 79 & more", &filters, Locale::ENGLISH),
            "/search?q=Xid%2079%20%26%20more&domain=cuda"
        );
        assert_eq!(address("", &Filters::default(), Locale::ENGLISH), "/search");
        let chosen = chosen("xid", &filters, Locale::ENGLISH);
        assert_eq!(
            chosen.first().map(|choice| choice.without.as_str()),
            Some("/search?q=xid")
        );
    }

    #[test]
    fn a_facet_with_one_value_is_left_out() {
        let value = |value: &str| FacetValue {
            value: value.to_owned(),
            count: 2,
        };
        let found = Facets {
            domain: vec![value("cuda"), value("nccl")],
            category: vec![value("runtime_error")],
            ..Facets::default()
        };
        let views = facets(&found, "", &Filters::default(), Locale::ENGLISH);
        assert_eq!(views.len(), 1);
        let hrefs: Vec<&str> = views
            .iter()
            .flat_map(|facet| &facet.values)
            .map(|value| value.href.as_str())
            .collect();
        assert_eq!(hrefs, ["/search?domain=cuda", "/search?domain=nccl"]);
    }
}

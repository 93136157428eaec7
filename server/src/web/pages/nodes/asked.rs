//! What the list of nodes is narrowed by: said, taken back, and changed by links that keep the rest.

use kb_core::severity::Action;

use crate::domain::fleet_filter::Asked;
use crate::render::i18n::fleet::Words;
use crate::render::i18n::{Locale, terms};
use crate::render::words::encoded;
use crate::store::{Known, NodeFilter, NodeOrder};

/// A condition of the list, and the list without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub label: String,
    pub value: String,
    /// Whether the value is a word of this page's language.
    pub is_word: bool,
    pub without: String,
}

/// A field that a form sends on as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    pub name: &'static str,
    pub value: String,
}

pub fn href(asked: &Asked, locale: Locale) -> String {
    locale.href(address(asked, None))
}

/// Its page behind a cursor.
pub fn next_href(asked: &Asked, cursor: &str, locale: Locale) -> String {
    locale.href(address(asked, Some(cursor)))
}

fn address(asked: &Asked, cursor: Option<&str>) -> String {
    let pairs = asked.pairs().into_iter();
    let pairs = pairs.chain(cursor.map(|cursor| ("after", cursor.to_owned())));
    let pairs: Vec<String> = pairs
        .map(|(name, value)| format!("{name}={}", encoded(&value)))
        .collect();
    if pairs.is_empty() {
        return "/nodes".to_owned();
    }
    format!("/nodes?{}", pairs.join("&"))
}

/// The list with another filter.
pub fn with(asked: &Asked, change: impl FnOnce(&mut NodeFilter)) -> Asked {
    let mut changed = asked.clone();
    change(&mut changed.filter);
    if changed.filter.silent_before.is_none() {
        changed.silent_hours = None;
    }
    changed
}

/// The list in another order; in the same one, the other way round.
pub fn sorted(asked: &Asked, order: NodeOrder) -> Asked {
    Asked {
        reversed: asked.order == order && !asked.reversed,
        order,
        ..asked.clone()
    }
}

/// All conditions of the list.
pub fn kept(asked: &Asked, locale: Locale) -> Vec<Kept> {
    let words = Words::of(locale.language);
    let terms = terms::Words::of(locale.language);
    let filter = &asked.filter;
    let mut all = Vec::new();
    let mut keep = |label: &str, value: Option<(String, bool)>, without: fn(&mut NodeFilter)| {
        all.extend(value.map(|(value, is_word)| Kept {
            label: label.to_owned(),
            value,
            is_word,
            without: href(&with(asked, without), locale),
        }));
    };
    let named = |value: &Option<Known<String>>| {
        value.as_ref().map(|value| match value {
            Known::Is(value) => (value.clone(), false),
            Known::Unknown => (words.not_known.to_owned(), true),
        })
    };
    keep(
        words.searched,
        filter.text.clone().map(|text| (text, false)),
        |filter| filter.text = None,
    );
    let verdict = filter
        .verdict
        .map(|verdict| (terms.verdict(verdict).to_owned(), true));
    keep(words.verdict, verdict, |filter| filter.verdict = None);
    let action = filter
        .action
        .as_ref()
        .map(|action| (action_word(action, locale).to_owned(), true));
    keep(words.action, action, |filter| filter.action = None);
    let record = filter.record.as_ref().map(|record| (record.to_string(), false));
    keep(words.fault, record, |filter| filter.record = None);
    keep(words.model, named(&filter.model), |filter| filter.model = None);
    keep(words.driver, named(&filter.driver), |filter| filter.driver = None);
    let silent = asked
        .silent_hours
        .map(|hours| (words.without_run(u64::from(hours)), true));
    keep(words.last_run, silent, |filter| filter.silent_before = None);
    let simulated = filter.simulated.map(|simulated| {
        let word = if simulated {
            words.simulated
        } else {
            words.not_simulated
        };
        (word.to_owned(), true)
    });
    keep(words.run, simulated, |filter| filter.simulated = None);
    for label in &filter.labels {
        let without = with(asked, |filter| filter.labels.retain(|kept| kept != label));
        all.push(Kept {
            label: words.label.to_owned(),
            value: format!("{}={}", label.0, label.1),
            is_word: false,
            without: href(&without, locale),
        });
    }
    all
}

/// What to do first, in the words of the page.
pub fn action_word(action: &Known<Action>, locale: Locale) -> &'static str {
    match action {
        Known::Is(action) => terms::Words::of(locale.language).action(*action),
        Known::Unknown => Words::of(locale.language).no_record_says,
    }
}

/// What the form of the list sends on: all but what it has fields for.
pub fn hidden(asked: &Asked) -> Vec<Hidden> {
    let pairs = asked.pairs().into_iter();
    pairs
        .filter(|(name, _)| *name != "q")
        .map(|(name, value)| Hidden { name, value })
        .collect()
}

#[cfg(test)]
mod tests {
    use kb_core::verdict::Verdict;
    use time::OffsetDateTime;

    use super::*;

    #[test]
    fn a_link_changes_one_part_and_keeps_the_rest() {
        let pairs = [
            ("verdict", "broken"),
            ("label", "rack=r1"),
            ("silent_hours", "24"),
            ("sort", "heard"),
        ];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let asked = Asked::read(&pairs, OffsetDateTime::UNIX_EPOCH).unwrap();
        let locale = Locale::ENGLISH;
        assert_eq!(
            href(
                &with(&asked, |filter| filter.verdict = Some(Verdict::Healthy)),
                locale
            ),
            "/nodes?verdict=healthy&label=rack%3Dr1&silent_hours=24&sort=heard"
        );
        assert_eq!(
            href(&sorted(&asked, NodeOrder::Heard), locale),
            "/nodes?verdict=broken&label=rack%3Dr1&silent_hours=24&sort=-heard"
        );
        let without: Vec<String> = kept(&asked, locale)
            .into_iter()
            .map(|kept| kept.without)
            .collect();
        assert_eq!(
            without,
            [
                "/nodes?label=rack%3Dr1&silent_hours=24&sort=heard",
                "/nodes?verdict=broken&label=rack%3Dr1&sort=heard",
                "/nodes?verdict=broken&silent_hours=24&sort=heard",
            ]
        );
    }
}

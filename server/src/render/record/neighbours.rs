//! What stands around a record in the graph. What another record states is shown as its statement, without a number:
//! P(next | this) is not P(previous | this).

use kb_core::ids::RecordId;
use kb_core::transition::EdgeKind;

use super::tier::percent;
use crate::feed::Neighbour;
use crate::render::advice::Text;
use crate::render::i18n::{Locale, record::Words};
use crate::render::words::record_href;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub title: &'static str,
    /// As this record states it.
    pub items: Vec<NeighbourView>,
    /// As those records state it.
    pub elsewhere: Vec<NeighbourView>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeighbourView {
    pub id: String,
    /// Its page, where it is a published record.
    pub href: Option<String>,
    /// How to tell the two apart, when it holds, how often.
    pub details: Vec<Text>,
}

/// The neighbours of `id` by kind; empty kinds are left out.
pub fn groups(id: &RecordId, neighbours: &[Neighbour], locale: Locale) -> Vec<Group> {
    let words = locale.language.words();
    let kinds = [
        (EdgeKind::LeadsTo, words.leads_to),
        (EdgeKind::PrecededBy, words.preceded_by),
        (EdgeKind::FrequentlyConfusedWith, words.confused_with),
    ];
    let group = |(kind, title)| {
        let of_kind = neighbours.iter().filter(|neighbour| neighbour.relation == kind);
        let (own, others): (Vec<_>, Vec<_>) = of_kind.partition(|neighbour| neighbour.stated_by == *id);
        let views = |list: Vec<&Neighbour>| list.into_iter().map(|one| view(one, locale)).collect();
        Group {
            title,
            items: views(own),
            elsewhere: views(others),
        }
    };
    kinds
        .into_iter()
        .map(group)
        .filter(|group| !group.items.is_empty() || !group.elsewhere.is_empty())
        .collect()
}

fn view(neighbour: &Neighbour, locale: Locale) -> NeighbourView {
    let words: &Words = locale.language.words();
    let own_words = |text: String| Text {
        text,
        lang: locale.language.tag(),
    };
    let stated = [neighbour.distinction.as_deref(), neighbour.condition.as_deref()];
    let mut details: Vec<Text> = stated.into_iter().filter_map(Text::filled).collect();
    if let Some(probability) = neighbour.probability {
        details.push(own_words(format!(
            "{} {}",
            words.probability,
            percent(probability)
        )));
    }
    NeighbourView {
        id: neighbour.id.clone(),
        href: neighbour
            .resolved
            .then(|| locale.href(record_href(&neighbour.id))),
        details,
    }
}

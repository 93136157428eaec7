//! All nodes together, as the page of nodes shows them: by verdict, first step, model, driver and label, what most of them show,
//! who is silent. Each count leads to the list that it is the length of.

use super::asked::{action_word, href, with};
use super::{Link, node_href};
use crate::domain::fleet::{Fault, Fleet, SILENT_HOURS, silent_before};
use crate::domain::fleet_filter::Asked;
use crate::render::advice::Text;
use crate::render::i18n::fleet::Words;
use crate::render::i18n::{Language, Locale};
use crate::render::words::{Mark, grouped, moment, record_href, severity, verdict};
use crate::store::{Known, LabelCount, NodeFilter};

/// Values of one label that are shown at most.
const VALUES: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    pub facts: Vec<String>,
    /// Verdicts that some node has, best first.
    pub verdicts: Vec<VerdictView>,
    /// What most nodes show first; notices behind what is a fault.
    pub faults: Vec<FaultView>,
    pub facets: Vec<Facet>,
    /// How many had no run that ended lately, and their list.
    pub silent: String,
    pub silent_href: Option<String>,
    /// The node longest without a run, and since when.
    pub oldest: Option<(Link, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictView {
    pub verdict: Mark,
    pub href: String,
    pub nodes: String,
    pub gpus: String,
    /// How many of the nodes were simulated, where any was.
    pub simulated: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultView {
    pub title: Text,
    /// How bad it is, where the record says so.
    pub severity: Option<Mark>,
    pub record: Option<Link>,
    pub nodes: String,
    /// The nodes that show it, where a record explains it.
    pub href: Option<String>,
}

/// Nodes by the values of something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facet {
    pub label: String,
    pub values: Vec<FacetValue>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetValue {
    pub text: String,
    /// Whether the text is a word of this page's language.
    pub is_word: bool,
    pub nodes: String,
    pub href: String,
    /// The list is narrowed by it; the link takes it back.
    pub is_set: bool,
}

/// Everything counted, with links that keep what the list is narrowed by.
pub fn counts(fleet: Fleet, asked: &Asked, now: time::OffsetDateTime, locale: Locale) -> Counts {
    let words = Words::of(locale.language);
    let present = fleet.verdicts.iter().filter(|count| count.nodes > 0);
    let verdicts = present.map(|count| VerdictView {
        verdict: verdict(count.verdict, locale.language),
        href: toggled(asked, locale, |filter| set(&mut filter.verdict, count.verdict)).0,
        nodes: grouped(count.nodes),
        gpus: grouped(count.gpus),
        simulated: (count.simulated > 0).then(|| words.simulated_nodes(count.simulated)),
    });
    let verdicts = verdicts.collect();
    let oldest = fleet.oldest.first().map(|heard| {
        let link = Link {
            href: node_href(&heard.id, locale),
            text: heard.id.to_string(),
        };
        (link, moment(heard.at))
    });
    let silent_href = (fleet.silent > 0).then(|| {
        let mut silent = with(asked, |filter| {
            filter.silent_before = Some(silent_before(now, SILENT_HOURS));
        });
        silent.silent_hours = Some(SILENT_HOURS);
        href(&silent, locale)
    });
    let facets = facets(&fleet, asked, locale);
    let mut faults = fleet.faults;
    faults.sort_by_key(|fault| fault.is_notice);
    Counts {
        facts: vec![words.node_count(fleet.nodes), words.gpu_count(fleet.gpus)],
        verdicts,
        silent: words.silent(fleet.silent, u64::from(SILENT_HOURS)),
        silent_href,
        oldest,
        facets,
        faults: faults
            .into_iter()
            .map(|fault| fault_view(fault, asked, locale))
            .collect(),
    }
}

/// The list with a value set, or without it where it was set; and whether it was.
fn toggled(asked: &Asked, locale: Locale, change: impl FnOnce(&mut NodeFilter) -> bool) -> (String, bool) {
    let mut was_set = false;
    let changed = with(asked, |filter| was_set = change(filter));
    (href(&changed, locale), was_set)
}

/// Sets a value, or takes it back where it is set; whether it was.
fn set<T: PartialEq>(place: &mut Option<T>, value: T) -> bool {
    let was_set = place.as_ref() == Some(&value);
    *place = (!was_set).then_some(value);
    was_set
}

fn facets(fleet: &Fleet, asked: &Asked, locale: Locale) -> Vec<Facet> {
    let words = Words::of(locale.language);
    let actions = fleet.actions.iter().map(|(action, nodes)| {
        let action = action.map_or(Known::Unknown, Known::Is);
        let text = action_word(&action, locale).to_owned();
        value(
            text,
            true,
            *nodes,
            toggled(asked, locale, |filter| set(&mut filter.action, action)),
        )
    });
    let models = fleet.models.iter().map(|(model, nodes)| {
        let (text, is_word, known) = named(model.as_ref(), words);
        value(
            text,
            is_word,
            *nodes,
            toggled(asked, locale, |filter| set(&mut filter.model, known)),
        )
    });
    let drivers = fleet.drivers.iter().map(|(driver, nodes)| {
        let (text, is_word, known) = named(driver.as_ref(), words);
        value(
            text,
            is_word,
            *nodes,
            toggled(asked, locale, |filter| set(&mut filter.driver, known)),
        )
    });
    let mut facets = vec![
        Facet {
            label: words.action.to_owned(),
            values: actions.collect(),
        },
        Facet {
            label: words.model.to_owned(),
            values: models.collect(),
        },
        Facet {
            label: words.driver.to_owned(),
            values: drivers.collect(),
        },
    ];
    for label in &fleet.labels {
        let title = words.label_named(&label.name);
        let value = label_value(label, asked, locale);
        match facets.iter_mut().find(|facet| facet.label == title) {
            Some(facet) if facet.values.len() >= VALUES => {}
            Some(facet) => facet.values.push(value),
            None => facets.push(Facet {
                label: title,
                values: vec![value],
            }),
        }
    }
    facets.retain(|facet| !facet.values.is_empty());
    facets
}

fn named(name: Option<&String>, words: &Words) -> (String, bool, Known<String>) {
    match name {
        Some(name) => (name.clone(), false, Known::Is(name.clone())),
        None => (words.not_known.to_owned(), true, Known::Unknown),
    }
}

fn value(text: String, is_word: bool, nodes: u64, (href, is_set): (String, bool)) -> FacetValue {
    FacetValue {
        text,
        is_word,
        nodes: grouped(nodes),
        href,
        is_set,
    }
}

fn label_value(label: &LabelCount, asked: &Asked, locale: Locale) -> FacetValue {
    let wanted = (label.name.clone(), label.value.clone());
    let link = toggled(asked, locale, |filter| {
        let was_set = filter.labels.contains(&wanted);
        if was_set {
            filter.labels.retain(|kept| *kept != wanted);
        } else {
            filter.labels.push(wanted);
        }
        was_set
    });
    value(label.value.clone(), false, label.nodes, link)
}

fn fault_view(fault: Fault, asked: &Asked, locale: Locale) -> FaultView {
    let record = fault.record.clone();
    let href = record.map(|record| toggled(asked, locale, |filter| set(&mut filter.record, record)).0);
    FaultView {
        severity: fault.severity.map(|word| severity(word, locale.language)),
        record: fault.record.map(|id| Link {
            href: locale.href(record_href(id.as_str())),
            text: id.to_string(),
        }),
        title: match (locale.language, fault.title_zh) {
            (Language::Chinese, Some(title)) => Text::new(title),
            _ => Text::new(fault.title),
        },
        nodes: grouped(fault.nodes),
        href,
    }
}

#[cfg(test)]
mod tests {
    use kb_core::annex::Severity;

    use super::*;

    #[test]
    fn a_notice_stands_behind_what_is_a_fault_and_each_says_how_bad_it_is() {
        let fault = |title: &str, severity, is_notice, nodes| Fault {
            record: None,
            rule: String::new(),
            title: title.to_owned(),
            title_zh: None,
            severity,
            is_notice,
            nodes,
        };
        let fleet = Fleet {
            nodes: 9,
            gpus: 72,
            verdicts: Vec::new(),
            actions: Vec::new(),
            models: Vec::new(),
            drivers: Vec::new(),
            labels: Vec::new(),
            faults: vec![
                fault("notice", Some(Severity::Info), true, 9),
                fault("fault", Some(Severity::Fatal), false, 2),
                fault("unexplained", None, false, 1),
            ],
            silent: 0,
            oldest: Vec::new(),
        };
        let now = time::OffsetDateTime::UNIX_EPOCH;
        let shown = counts(fleet, &Asked::default(), now, Locale::ENGLISH).faults;
        let shown: Vec<_> = shown
            .iter()
            .map(|view| (view.title.text.as_str(), view.severity.map(|mark| mark.label)))
            .collect();
        assert_eq!(
            shown,
            [
                ("fault", Some("fatal")),
                ("unexplained", None),
                ("notice", Some("info"))
            ]
        );
    }
}

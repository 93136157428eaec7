//! The page that answers a text: causes first, then what follows, candidates apart. "No known error" is an answer.

use std::collections::BTreeMap;

use askama::Template;
use kb_core::scanner::{Applies, Order, errors_and_harmless};

use super::form::{self, EnvironmentField};
use super::matches::{self, CandidateView, MatchView};
use crate::domain::lookup::MatchAnswer;
use crate::feed::Generation;
use crate::render::advice::Text;
use crate::render::i18n::{Language, Locale, kept, lookup, record};
use crate::render::words::bytes;
use crate::search::SearchAnswer;
use crate::web::pages::filters;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::search::{HitView, hit_view};

#[derive(Debug, Template)]
#[template(path = "pages/result.html")]
pub struct ResultPage {
    layout: Layout,
    words: &'static record::Words,
    own: &'static lookup::Words,
    heading: String,
    facts: Vec<String>,
    notices: Vec<Text>,
    matches: Vec<MatchView>,
    /// Neither an error nor a hit of the search: what to try next is said.
    is_nothing: bool,
    hits: Vec<HitView>,
    candidates: Vec<CandidateView>,
    box_text: String,
    box_focus: bool,
    box_action: String,
    /// Where what stands in the box is sent to see which lines may be kept; absent where none are.
    pub(super) keep_action: Option<String>,
    keep: &'static str,
    environment: Vec<EnvironmentField>,
    languages: Vec<LanguageButton>,
}

/// A language of the switch: it sends what stands in the box again, since nothing of it was kept.
#[derive(Debug)]
struct LanguageButton {
    /// BCP 47.
    lang: &'static str,
    name: &'static str,
    action: String,
    current: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub generation: &'a Generation,
    pub answer: &'a MatchAnswer,
    /// Search results, where a short text matched nothing.
    pub found: Option<&'a SearchAnswer>,
    /// The text, if it is short enough to be shown again.
    pub echo: &'a str,
    pub environment: &'a BTreeMap<String, String>,
    /// Language of the answer, as far as there are texts in it.
    pub locale: Locale,
}

pub fn page(source: Source<'_>) -> ResultPage {
    let Source {
        generation,
        answer,
        found,
        echo,
        environment,
        locale,
    } = source;
    let language = locale.language;
    let own = lookup::Words::of(language);
    let ordered = matches::in_order(answer);
    let views = ordered
        .iter()
        .map(|found| matches::view(generation, answer, found, &ordered, locale))
        .collect();
    let hits: Vec<HitView> = found
        .into_iter()
        .flat_map(|found| &found.hits)
        .filter(|hit| answer.matches.iter().all(|found| found.id != hit.id))
        .map(|hit| hit_view(generation, hit, locale))
        .collect();
    // What the search found already need not be suggested again.
    let candidates = answer
        .candidates
        .iter()
        .filter(|candidate| !hits.iter().any(|hit| hit.id == candidate.id.as_str()))
        .map(|candidate| matches::candidate(generation, candidate, locale))
        .collect();
    let heading = heading(answer, &hits, own);
    let layout = Layout::new(format!("{heading} · Peerless"), Section::Lookup);
    ResultPage {
        layout: layout.spoken(locale).at(answer.kb.seq),
        words: language.words(),
        own,
        heading,
        facts: facts(answer, own),
        notices: notices(answer, own),
        matches: views,
        is_nothing: !answer.has_error() && hits.is_empty(),
        hits,
        candidates,
        box_text: echo.to_owned(),
        box_focus: false,
        box_action: language.address("/match"),
        keep_action: None,
        keep: kept::Words::of(language).offer,
        environment: form::fields(environment, language),
        // A text too long for the box is not there to be sent again.
        languages: if echo.is_empty() {
            Vec::new()
        } else {
            languages(language)
        },
    }
}

fn languages(current: Language) -> Vec<LanguageButton> {
    Language::ALL
        .map(|(language, name)| LanguageButton {
            lang: language.tag(),
            name,
            action: language.address("/match"),
            current: language == current,
        })
        .into()
}

fn heading(answer: &MatchAnswer, hits: &[HitView], own: &lookup::Words) -> String {
    match (errors_and_harmless(&answer.matches).0, hits.len()) {
        (0, 0) => own.no_known_error.to_owned(),
        (0, hits) => own.only_hits(hits as u64),
        (matches, _) => own.errors(matches as u64),
    }
}

fn facts(answer: &MatchAnswer, own: &lookup::Words) -> Vec<String> {
    let mut facts = vec![own.lines_read(answer.lines_scanned), bytes(answer.bytes_scanned)];
    let harmless = errors_and_harmless(&answer.matches).1;
    if harmless > 0 {
        facts.push(own.harmless_ones(harmless as u64));
    }
    if answer.matches.len() > 1 {
        let order = match answer.order {
            Order::Time => own.by_time,
            Order::TimeByClock => own.by_clock,
            Order::Line => own.by_place,
        };
        facts.push(order.to_owned());
    }
    facts
}

fn notices(answer: &MatchAnswer, own: &lookup::Words) -> Vec<Text> {
    let mut notices: Vec<Text> = answer.notes.iter().map(Text::new).collect();
    let elsewhere = answer.matches.iter().all(|found| found.applies == Applies::No);
    if !answer.matches.is_empty() && elsewhere {
        notices.push(Text::new(own.elsewhere_only));
    }
    notices
}

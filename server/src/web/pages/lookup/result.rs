//! The page that answers a text: causes first, then what follows, candidates apart. "No known error" is an answer.

use std::collections::BTreeMap;

use askama::Template;
use kb_core::scanner::{Applies, Order};

use super::form::{self, EnvironmentField};
use super::matches::{self, CandidateView, MatchView};
use crate::domain::lookup::MatchAnswer;
use crate::feed::Generation;
use crate::search::SearchAnswer;
use crate::web::pages::filters;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::record::texts::Language;
use crate::web::pages::record::words::Words;
use crate::web::pages::search::{HitView, hit_view};
use crate::web::pages::words::{bytes, count};

/// The page.
#[derive(Debug, Template)]
#[template(path = "pages/result.html")]
pub struct ResultPage {
    layout: Layout,
    words: &'static Words,
    heading: String,
    facts: Vec<String>,
    notices: Vec<String>,
    matches: Vec<MatchView>,
    hits: Vec<HitView>,
    candidates: Vec<CandidateView>,
    box_label: &'static str,
    box_text: String,
    box_focus: bool,
    box_action: &'static str,
    environment: Vec<EnvironmentField>,
    languages: Vec<LanguageButton>,
}

/// A language of the switch: it sends what stands in the box again, since nothing of it was kept.
#[derive(Debug)]
struct LanguageButton {
    /// BCP 47.
    lang: &'static str,
    /// In itself.
    name: &'static str,
    action: &'static str,
    current: bool,
}

/// What the page is made from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The knowledge that answered.
    pub generation: &'a Generation,
    /// The answer.
    pub answer: &'a MatchAnswer,
    /// Search results, where a short text matched nothing.
    pub found: Option<&'a SearchAnswer>,
    /// The text, if it is short enough to be shown again.
    pub echo: &'a str,
    /// What was said of the environment.
    pub environment: &'a BTreeMap<String, String>,
    /// Language of the answer, as far as there are texts in it.
    pub language: Language,
}

/// Builds the page.
pub fn page(source: Source<'_>) -> ResultPage {
    let Source {
        generation,
        answer,
        found,
        echo,
        environment,
        language,
    } = source;
    let ordered = matches::in_order(answer);
    let views = ordered
        .iter()
        .map(|found| matches::view(generation, answer, found, &ordered, language))
        .collect();
    let hits: Vec<HitView> = found
        .into_iter()
        .flat_map(|found| &found.hits)
        .map(|hit| hit_view(generation, hit))
        .collect();
    // What the search found already need not be suggested again.
    let candidates = answer
        .candidates
        .iter()
        .filter(|candidate| !hits.iter().any(|hit| hit.id == candidate.id.as_str()))
        .map(|candidate| matches::candidate(generation, candidate, language))
        .collect();
    let heading = heading(answer, &hits);
    ResultPage {
        layout: Layout::new(format!("{heading} · Peerless"), Section::Lookup).at(answer.kb.seq),
        words: language.words(),
        heading,
        facts: facts(answer),
        notices: notices(answer),
        matches: views,
        hits,
        candidates,
        box_label: "Error line, log, or words to search for",
        box_text: echo.to_owned(),
        box_focus: false,
        box_action: action(language),
        environment: form::fields(environment),
        // A text too long for the box is not there to be sent again.
        languages: if echo.is_empty() {
            Vec::new()
        } else {
            languages(language)
        },
    }
}

/// Where the box sends its text, so that the answer comes in this language.
pub(super) fn action(language: Language) -> &'static str {
    match language {
        Language::English => "/match?lang=en",
        Language::Chinese => "/match?lang=zh",
    }
}

fn languages(current: Language) -> Vec<LanguageButton> {
    [(Language::English, "English"), (Language::Chinese, "中文")]
        .map(|(language, name)| LanguageButton {
            lang: language.words().lang,
            name,
            action: action(language),
            current: language == current,
        })
        .into()
}

fn heading(answer: &MatchAnswer, hits: &[HitView]) -> String {
    match (answer.matches.len(), hits.len()) {
        (0, 0) => "No known error".to_owned(),
        (0, hits) => format!(
            "No known error; {} found by its words",
            count(hits as u64, "record", "records")
        ),
        (matches, _) => count(matches as u64, "known error", "known errors"),
    }
}

fn facts(answer: &MatchAnswer) -> Vec<String> {
    let mut facts = vec![
        format!("{} read", count(answer.lines_scanned, "line", "lines")),
        bytes(answer.bytes_scanned),
    ];
    if answer.matches.len() > 1 {
        let order = match answer.order {
            Order::Time => "Ordered by the time on the lines",
            Order::TimeByClock => {
                "Ordered by the time on the lines of each clock, between clocks by the graph"
            }
            Order::Line => "Ordered by place in the text",
        };
        facts.push(order.to_owned());
    }
    facts
}

fn notices(answer: &MatchAnswer) -> Vec<String> {
    let mut notices = answer.notes.clone();
    let elsewhere = answer.matches.iter().all(|found| found.applies == Applies::No);
    if !answer.matches.is_empty() && elsewhere {
        notices.push("Every match is for another environment than the one you gave.".to_owned());
    }
    notices
}

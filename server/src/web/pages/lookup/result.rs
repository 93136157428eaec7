//! The page that answers a text: the whole in a paragraph and a row for each fault, then the records, folded, with the text
//! and its marks beside them; candidates apart. "No known error" is an answer.

use std::collections::BTreeMap;

use askama::Template;
use kb_core::scanner::{Applies, UnknownPart, errors_and_harmless};

use super::form::{self, EnvironmentField};
use super::log::{self, LogView};
use super::matches::{self, CandidateView, MatchView};
use super::narrow::{self, Choice};
use super::share::{ShareForm, SharedView};
use crate::domain::hits::Hits;
use crate::domain::lookup::MatchAnswer;
use crate::domain::shared::Shared;
use crate::feed::Generation;
use crate::render::advice::Text;
use crate::render::answer::environment::{self, Component};
use crate::render::answer::log::MarkedText;
use crate::render::answer::origin::{Only, Origin};
use crate::render::answer::summary;
use crate::render::answer::{Fault, faults, in_order, ticket};
use crate::render::i18n::{Language, Locale, answer as said, kept, lookup, record, shared};
use crate::web::pages::filters;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::search::{HitView, hit_view};
use peerless_search::SearchAnswer;

/// Most faults that are shown; a text that has more is no log.
const MOST_SHOWN: usize = 60;

#[derive(Debug, Template)]
#[template(path = "pages/result.html")]
pub struct ResultPage {
    pub(super) layout: Layout,
    words: &'static record::Words,
    own: &'static lookup::Words,
    say: &'static said::Words,
    heading: String,
    sentences: Vec<String>,
    notices: Vec<Text>,
    matches: Vec<MatchView>,
    narrowing: Vec<Choice>,
    /// `2 of 6 are shown.`
    shown_of: Option<String>,
    components: Vec<Component>,
    ticket: Option<Ticket>,
    log: Option<LogView>,
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
    /// What may be shared of it, where that is offered.
    share: Option<ShareForm>,
    /// Of an answer that is shared, or would be.
    shared: Option<SharedView>,
    environment: Vec<EnvironmentField>,
    languages: Vec<LanguageButton>,
}

/// The answer to be taken along.
#[derive(Debug)]
struct Ticket {
    text: String,
    markdown: String,
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
    pub hits: &'a Hits,
    /// The text, where it was kept for the answer.
    pub text: Option<&'a str>,
    pub kept: Option<&'a Shared>,
    pub shares: bool,
    /// The text, if it is short enough to be shown again.
    pub echo: &'a str,
    pub environment: &'a BTreeMap<String, String>,
    pub only: &'a Only,
    /// What addresses in a ticket begin with.
    pub base_url: &'a str,
    /// Language of the answer, as far as there are texts in it.
    pub locale: Locale,
}

impl ResultPage {
    /// Of an answer that is shared, or would be: there is no text to be sent again.
    #[must_use]
    pub fn of_shared(mut self, shared: SharedView) -> Self {
        self.narrowing.clear();
        self.is_nothing = false;
        for component in &mut self.components {
            if component.value.is_some() {
                shared.words.given.clone_into(&mut component.from);
            }
        }
        for view in &mut self.matches {
            let fault = &mut view.fault;
            if shared
                .unconfirmed
                .iter()
                .any(|named| named.id == fault.id.as_str())
            {
                shared.words.not_confirmed.clone_into(&mut fault.relation);
            }
        }
        if !shared.unconfirmed.is_empty() {
            // A ticket has no room for what speaks against it.
            self.ticket = None;
        }
        if let Some(address) = &shared.address {
            self.layout = self.layout.in_both(address);
        }
        self.shared = Some(shared);
        self
    }
}

pub fn page(source: Source<'_>) -> ResultPage {
    let (answer, locale) = (source.answer, source.locale);
    let language = locale.language;
    let (own, say) = (lookup::Words::of(language), said::Words::of(language));
    let ordered = in_order(answer);
    let all = faults(source.generation, answer, &ordered, source.hits, locale);
    let origins: Vec<&Origin> = all.iter().map(|fault| &fault.origin).collect();
    let only = source.only.of_these(&origins);
    let is_shown = |fault: &&Fault| only.wants(&fault.origin);
    let shown: Vec<&Fault> = all.iter().filter(is_shown).take(MOST_SHOWN).collect();
    let marked = MarkedText::of(answer, &all, &shown, source.hits, (source.text, source.kept));
    let share = source
        .shares
        .then(|| ShareForm::of(answer, &ordered, &marked.unknown, source.text, locale))
        .flatten();
    let hits = hits(&source);
    // What the search found already need not be suggested again.
    let candidates = answer
        .candidates
        .iter()
        .filter(|candidate| !hits.iter().any(|hit| hit.id == candidate.id.as_str()))
        .map(|candidate| matches::candidate(source.generation, candidate, locale))
        .collect();
    let of_shared = source.kept.map(|kept| (kept, shared::Words::of(language)));
    let heading = match of_shared {
        Some((kept, words)) => heading_of_shared(answer, kept, words, own, say),
        None => heading(answer, &hits, own, say),
    };
    let sentences = summary::sentences(answer, &all, &marked.unknown, source.kept, locale);
    let layout = Layout::new(format!("{heading} · Peerless"), Section::Lookup);
    let narrowing = narrow::choices(&all, &only, say);
    let is_all = shown.len() == all.len();
    let view = |fault: &Fault| {
        let found = ordered.get(fault.number - 1)?;
        let fault = fault.clone();
        Some(matches::view(
            source.generation,
            answer,
            found,
            fault,
            &ordered,
            locale,
        ))
    };
    let shown: Vec<MatchView> = shown.into_iter().filter_map(view).collect();
    ResultPage {
        layout: layout.spoken(locale).at(answer.kb.seq),
        words: language.words(),
        own,
        say,
        notices: notices(answer, own, of_shared.map(|(_, words)| words)),
        narrowing,
        shown_of: (!is_all || !only.is_all()).then(|| say.shown_of(shown.len() as u64, all.len() as u64)),
        components: environment::components(source.generation, answer, &ordered, locale),
        ticket: (!shown.is_empty()).then(|| take_along(&source, &heading, &sentences, &shown)),
        log: (!marked.places.is_empty()).then(|| {
            log::view(
                marked,
                answer.lines_scanned,
                (say, own),
                of_shared.map(|(_, words)| words),
            )
        }),
        is_nothing: !answer.has_error() && hits.is_empty(),
        heading,
        sentences,
        matches: shown,
        hits,
        candidates,
        box_text: source.echo.to_owned(),
        box_focus: false,
        box_action: language.address("/match"),
        keep_action: None,
        keep: kept::Words::of(language).offer,
        share,
        shared: None,
        environment: form::fields(source.environment, language),
        // A text too long for the box is not there to be sent again.
        languages: if source.echo.is_empty() {
            Vec::new()
        } else {
            languages(language)
        },
    }
}

fn hits(source: &Source<'_>) -> Vec<HitView> {
    source
        .found
        .into_iter()
        .flat_map(|found| &found.hits)
        .filter(|hit| source.answer.matches.iter().all(|found| found.id != hit.id))
        .map(|hit| hit_view(source.generation, hit, source.locale))
        .collect()
}

fn take_along(source: &Source<'_>, heading: &str, sentences: &[String], shown: &[MatchView]) -> Ticket {
    let words = said::Words::of(source.locale.language);
    let items: Vec<ticket::Item<'_>> = shown
        .iter()
        .map(|view| ticket::Item {
            fault: &view.fault,
            line: Some(view.own.text.as_str()),
            first: view.first.as_ref(),
            warning: view.is_worse.then_some(words.worse),
        })
        .collect();
    let head = ticket::Head {
        heading,
        sentences,
        base_url: source.base_url,
    };
    Ticket {
        text: ticket::text(head, &items, source.locale),
        markdown: ticket::markdown(head, &items, source.locale),
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

fn heading(answer: &MatchAnswer, hits: &[HitView], own: &lookup::Words, say: &said::Words) -> String {
    let part = answer.unknown_cause.as_ref().map(|unknown| unknown.part);
    match (errors_and_harmless(&answer.matches).0, hits.len()) {
        (0, _) if part == Some(UnknownPart::Interrupted) => say.heading_interrupted.to_owned(),
        (0, _) if part.is_some() => say.heading_unknown.to_owned(),
        (0, 0) => own.no_known_error.to_owned(),
        (0, hits) => own.only_hits(hits as u64),
        (matches, _) => own.errors(matches as u64),
    }
}

/// Of a text that this server has not read it says neither that nothing is wrong, nor who ended the program.
fn heading_of_shared(
    answer: &MatchAnswer,
    kept: &Shared,
    words: &shared::Words,
    own: &lookup::Words,
    say: &said::Words,
) -> String {
    let errors = errors_and_harmless(&answer.matches).0;
    let claimed = kept.claimed_cause(answer).map(|claimed| claimed.part);
    let found = answer.unknown_cause.as_ref().map(|found| found.part);
    if errors > 0 {
        own.errors(errors as u64)
    } else if found
        .or(claimed)
        .is_some_and(|part| part != UnknownPart::Interrupted)
    {
        say.heading_unknown.to_owned()
    } else {
        words.nothing_known.to_owned()
    }
}

/// What is not this server's own is said as such, where the answer is `shared`.
fn notices(answer: &MatchAnswer, own: &lookup::Words, shared: Option<&shared::Words>) -> Vec<Text> {
    let notes = answer.notes.iter().map(|note| match shared {
        Some(words) => Text::new(format!("{} {note}", words.said)),
        None => Text::new(note),
    });
    let mut notices: Vec<Text> = notes.collect();
    let elsewhere = answer.matches.iter().all(|found| found.applies == Applies::No);
    if !answer.matches.is_empty() && elsewhere {
        notices.push(Text::new(
            shared.map_or(own.elsewhere_only, |words| words.elsewhere_only),
        ));
    }
    notices
}

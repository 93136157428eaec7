//! `/tab`: the page that a browser puts the answer into which it found itself. Its script fills it; all its words are here.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::annex::{Action, Severity};

use super::layout::{Layout, Section};
use super::lookup::{EnvironmentField, environment_fields};
use super::{filters, html, locale};
use crate::render::i18n::{Language, Locale, answer, lookup, record, tab, terms};
use crate::render::words::{Mark, severity};
use crate::web::error::Problem;
use crate::web::state::AppState;
use crate::web::tab::module_of;
use crate::web::tab_module::TabModule;

/// Places in texts, which the script fills.
pub const COUNT: &str = "{count}";
pub const LINE: &str = "{line}";
pub const ERROR: &str = "{error}";
pub const TITLE: &str = "{title}";
pub const REQUESTS: &str = "{requests}";

#[derive(Debug, Template)]
#[template(path = "pages/tab.html")]
pub struct TabPage {
    layout: Layout,
    words: &'static tab::Words,
    say: &'static answer::Words,
    own: &'static lookup::Words,
    common: &'static record::Words,
    worker: String,
    module: String,
    signatures: &'static str,
    /// Address at which an answer is put back.
    kept_at: &'static str,
    /// The file of a record, where it is not at the address that the answer gives.
    record_file: &'static str,
    not_sent: String,
    severities: Vec<(&'static str, Mark)>,
    actions: Vec<(&'static str, &'static str)>,
    box_text: String,
    box_focus: bool,
    box_action: String,
    environment: Vec<EnvironmentField>,
}

pub fn page(module: &TabModule, locale: Locale) -> TabPage {
    let language = locale.language;
    let words = tab::Words::of(language);
    let layout = Layout::new(format!("{} · Peerless", words.title), Section::Lookup);
    TabPage {
        layout: layout.spoken(locale).in_both("/tab").reading_in_tab(true),
        words,
        say: answer::Words::of(language),
        own: lookup::Words::of(language),
        common: language.words(),
        worker: module.worker().to_owned(),
        module: module.module().to_owned(),
        signatures: "/tab/signatures",
        kept_at: "/match",
        record_file: "",
        not_sent: words.not_sent(REQUESTS),
        severities: severities(language),
        actions: actions(language),
        box_text: String::new(),
        box_focus: false,
        box_action: locale.href("/match"),
        environment: environment_fields(language),
    }
}

/// How each severity is shown, by its word in an answer.
pub fn severities(language: Language) -> Vec<(&'static str, Mark)> {
    named(Severity::WORDS, Severity::ALL, |one| severity(one, language))
}

/// What each action is called, by its word in an answer.
pub fn actions(language: Language) -> Vec<(&'static str, &'static str)> {
    let terms = terms::Words::of(language);
    named(Action::WORDS, Action::ALL, |one| terms.action(one))
}

/// What each value is called on the page, by its word in an answer.
fn named<T, const N: usize, S>(
    words: &'static [&'static str],
    all: [T; N],
    say: impl Fn(T) -> S,
) -> Vec<(&'static str, S)> {
    words.iter().copied().zip(all.map(say)).collect()
}

pub async fn get(request: HttpRequest, state: Data<AppState>) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let mut page = page(module_of(&state)?, locale::of(&request));
    page.layout = page.layout.at(generation.seq);
    html(&page)
}

//! `/tab`: the page that a browser puts the answer into which it found itself. Its script fills it; all its words are here.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::annex::{Action, Severity};

use super::layout::{Layout, Section};
use super::lookup::{EnvironmentField, environment_fields};
use super::{filters, html, locale};
use crate::render::i18n::{Locale, answer, lookup, tab, terms};
use crate::render::words::{Mark, severity};
use crate::web::error::Problem;
use crate::web::state::AppState;
use crate::web::tab::here;
use crate::web::tab_module::TabModule;

const SEVERITIES: [(&str, Severity); 4] = [
    ("info", Severity::Info),
    ("warning", Severity::Warning),
    ("error", Severity::Error),
    ("fatal", Severity::Fatal),
];

const ACTIONS: [(&str, Action); 10] = [
    ("none", Action::None),
    ("fix_application", Action::FixApplication),
    ("change_configuration", Action::ChangeConfiguration),
    ("restart_application", Action::RestartApplication),
    ("update_software", Action::UpdateSoftware),
    ("reset_gpu", Action::ResetGpu),
    ("reboot_node", Action::RebootNode),
    ("check_hardware", Action::CheckHardware),
    ("replace_hardware", Action::ReplaceHardware),
    ("contact_support", Action::ContactSupport),
];

/// Places in texts, which the script fills.
const COUNT: &str = "{count}";
const LINE: &str = "{line}";

#[derive(Debug, Template)]
#[template(path = "pages/tab.html")]
pub struct TabPage {
    layout: Layout,
    words: &'static tab::Words,
    say: &'static answer::Words,
    own: &'static lookup::Words,
    worker: String,
    module: String,
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
    let terms = terms::Words::of(language);
    let layout = Layout::new(format!("{} · Peerless", words.title), Section::Lookup);
    TabPage {
        layout: layout.spoken(locale).in_both("/tab").reading_in_tab(true),
        words,
        say: answer::Words::of(language),
        own: lookup::Words::of(language),
        worker: module.worker().to_owned(),
        module: module.module().to_owned(),
        severities: SEVERITIES.map(|(word, of)| (word, severity(of, language))).into(),
        actions: ACTIONS.map(|(word, of)| (word, terms.action(of))).into(),
        box_text: String::new(),
        box_focus: false,
        box_action: locale.href("/match"),
        environment: environment_fields(language),
    }
}

pub async fn get(request: HttpRequest, state: Data<AppState>) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let mut page = page(here(&state)?, locale::of(&request));
    page.layout = page.layout.at(generation.seq);
    html(&page)
}

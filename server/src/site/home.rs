//! The pages that work with script: home, the search, and the log that the browser reads.

use askama::Template;

use super::data::DataFiles;
use super::layout::{Layout, Section, Site};
use super::lean;
use crate::render::i18n::{Language, answer, lookup, record, search, tab};
use crate::render::words::Mark;
use crate::web::pages::filters;
use crate::web::pages::lookup::{EnvironmentField, environment_fields};
use crate::web::pages::tab::{COUNT, ERROR, LINE, REQUESTS, TITLE, actions, severities};

#[derive(Debug, Template)]
#[template(path = "site/home.html")]
struct HomePage<'a> {
    layout: Layout,
    home: &'static lookup::Words,
    search: &'static search::Words,
    tab: &'static tab::Words,
    data: &'a DataFiles,
    record_file: String,
    environment: Vec<EnvironmentField>,
    known: String,
}

#[derive(Debug, Template)]
#[template(path = "site/search.html")]
struct SearchPage<'a> {
    layout: Layout,
    search: &'static search::Words,
    data: &'a DataFiles,
    record_file: String,
}

#[derive(Debug, Template)]
#[template(path = "site/log.html")]
struct LogPage<'a> {
    layout: Layout,
    tab: &'static tab::Words,
    words: &'static tab::Words,
    say: &'static answer::Words,
    own: &'static lookup::Words,
    common: &'static record::Words,
    worker: &'a str,
    module: &'a str,
    signatures: &'a str,
    kept_at: String,
    record_file: String,
    not_sent: String,
    severities: Vec<(&'static str, Mark)>,
    actions: Vec<(&'static str, &'static str)>,
    environment: Vec<EnvironmentField>,
}

pub(super) fn home(
    site: Site<'_>,
    data: &DataFiles,
    records: usize,
    language: Language,
) -> askama::Result<String> {
    let home = lookup::Words::of(language);
    let layout = Layout::new(site, language, home.title, "index", Section::Elsewhere).with_own_search();
    lean::page(
        &HomePage {
            record_file: record_file(&layout),
            layout,
            home,
            search: search::Words::of(language),
            tab: tab::Words::of(language),
            data,
            environment: environment_fields(language),
            known: home.known(records as u64),
        },
        language.tag(),
    )
}

pub(super) fn search(site: Site<'_>, data: &DataFiles, language: Language) -> askama::Result<String> {
    let search = search::Words::of(language);
    let title = format!("{} · Peerless", search.label);
    let layout = Layout::new(site, language, &title, "search", Section::Elsewhere).with_own_search();
    lean::page(
        &SearchPage {
            record_file: record_file(&layout),
            layout,
            search,
            data,
        },
        language.tag(),
    )
}

pub(super) fn log(site: Site<'_>, data: &DataFiles, language: Language) -> askama::Result<String> {
    let words = tab::Words::of(language);
    let title = format!("{} · Peerless", words.title);
    let layout = Layout::new(site, language, &title, "log", Section::Log);
    lean::page(
        &LogPage {
            kept_at: layout.locale.href("/tab"),
            record_file: record_file(&layout),
            not_sent: layout.own.not_sent(REQUESTS),
            layout,
            tab: words,
            words,
            say: answer::Words::of(language),
            own: lookup::Words::of(language),
            common: language.words(),
            worker: &data.worker,
            module: &data.module,
            signatures: &data.signatures,
            severities: severities(language),
            actions: actions(language),
            environment: environment_fields(language),
        },
        language.tag(),
    )
}

/// Where the page of a record is, with a place for its id.
fn record_file(layout: &Layout) -> String {
    layout.locale.href("/r/{id}")
}

//! The page of a record: one file in the site's first language. What it says in the second lies packed beside it, for some records of
//! the same folder together: two whole pages for each record would be most of the site, and differ little.

use std::collections::BTreeMap;

use askama::Template;
use serde::Serialize;

use super::layout::{Layout, Section, Site};
use super::lean;
use crate::feed::{Generation, PublishedRecord};
use crate::render::i18n::{Language, answer, record::Words};
use crate::render::record::{RecordView, Source, texts, view};
use crate::render::site_address::Place;
use crate::web::pages::filters;

#[derive(Debug, Template)]
#[template(path = "site/record.html")]
struct RecordPage {
    layout: Layout,
    words: &'static Words,
    say: &'static answer::Words,
    record: RecordView,
}

#[derive(Debug, Template)]
#[template(path = "site/record_main.html")]
struct RecordMain {
    words: &'static Words,
    say: &'static answer::Words,
    record: RecordView,
}

#[derive(Debug, Template)]
#[template(path = "site/head.html")]
struct Head<'a> {
    layout: &'a Layout,
}

#[derive(Debug, Template)]
#[template(path = "site/foot.html")]
struct Foot<'a> {
    layout: &'a Layout,
}

/// Some records of one folder in the site's second language, as its script reads them.
#[derive(Debug, Serialize)]
pub(super) struct SecondTexts {
    /// BCP 47.
    lang: &'static str,
    head: String,
    foot: String,
    records: BTreeMap<String, SecondText>,
}

#[derive(Debug, Serialize)]
struct SecondText {
    title: String,
    main: String,
}

/// The folder of a record's page, and the page's place.
pub(super) fn folder(id: &str) -> (String, Place) {
    let folder = id.rsplit_once('/').map_or("", |(folder, _)| folder);
    let depth = u8::try_from(id.matches('/').count() + 1).unwrap_or(u8::MAX);
    (format!("r/{folder}"), Place(depth))
}

pub(super) fn page(
    site: Site<'_>,
    generation: &Generation,
    published: &PublishedRecord,
    part: usize,
) -> askama::Result<String> {
    let language = site.first();
    let (_, place) = folder(published.id().as_str());
    let title = title(published, language);
    lean::page(
        &RecordPage {
            layout: Layout::of_record(site, language, &title, place, part),
            words: language.words(),
            say: answer::Words::of(language),
            record: shown(site, generation, published, language),
        },
        language.tag(),
    )
}

impl SecondTexts {
    /// At least one record.
    pub(super) fn of(
        site: Site<'_>,
        generation: &Generation,
        language: Language,
        records: &[&PublishedRecord],
    ) -> askama::Result<Self> {
        let place = records
            .first()
            .map_or(Place(0), |first| folder(first.id().as_str()).1);
        let layout = Layout::of_record(site, language, "", place, 0);
        let mut texts = BTreeMap::new();
        for published in records {
            let main = lean::page(
                &RecordMain {
                    words: language.words(),
                    say: answer::Words::of(language),
                    record: shown(site, generation, published, language),
                },
                language.tag(),
            )?;
            let title = title(published, language);
            texts.insert(published.id().to_string(), SecondText { title, main });
        }
        Ok(Self {
            lang: language.tag(),
            head: lean::page(&Head { layout: &layout }, language.tag())?,
            foot: lean::page(&Foot { layout: &layout }, language.tag())?,
            records: texts,
        })
    }
}

fn title(published: &PublishedRecord, language: Language) -> String {
    format!("{} · Peerless", texts::heading(&published.record, language).text)
}

fn shown(
    site: Site<'_>,
    generation: &Generation,
    published: &PublishedRecord,
    language: Language,
) -> RecordView {
    let id = published.id();
    let neighbours = generation.graph.neighbours(id);
    let (_, place) = folder(id.as_str());
    let mut record = view(
        Source::published(published, &neighbours),
        site.locale(language, place),
    );
    // Those that also stand among the record's sources, with what they support: once is enough where a page costs its bytes.
    let known = &record.sources;
    for advice in record.workarounds.iter_mut().chain(&mut record.dead_ends) {
        advice
            .sources
            .retain(|source| known.iter().all(|other| other.href != source.href));
    }
    record
}

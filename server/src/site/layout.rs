//! What every page of a site has around its content.

use crate::render::i18n::{Language, Locale, files, site};
use crate::render::site_address::{Place, file};
use crate::web::pages::assets::of_site;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Log,
    Records,
    Graph,
    Elsewhere,
}

/// The site that pages are made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site<'a> {
    /// The first one is that of pages whose names say no language.
    pub(super) languages: &'a [Language],
    pub(super) seq: i64,
}

impl Site<'_> {
    pub(super) fn first(&self) -> Language {
        self.languages.first().copied().unwrap_or(Language::English)
    }

    /// The language, where it is not the site's first.
    pub(super) fn second(&self, language: Language) -> Option<Language> {
        (language != self.first()).then_some(language)
    }

    pub(super) fn locale(&self, language: Language, place: Place) -> Locale {
        Locale::on_site(language, language == self.first(), place)
    }
}

/// Paths below the root of the site.
#[derive(Debug, Clone, Copy)]
pub(super) struct AssetLinks {
    pub(super) css: &'static str,
    pub(super) js: &'static str,
    pub(super) files: &'static str,
    pub(super) tab: &'static str,
    pub(super) icon: &'static str,
}

/// The same page in another language.
#[derive(Debug, Clone)]
pub(super) struct Other {
    pub(super) lang: &'static str,
    pub(super) name: &'static str,
    pub(super) href: String,
}

/// The second language of a record, which a script puts into the page.
#[derive(Debug, Clone)]
pub(super) struct PutIn {
    /// The file of its text, without its ending: the language, as addresses have it, a dot and a number.
    pub(super) texts: String,
    /// BCP 47.
    pub(super) tag: &'static str,
    /// What is said where it could not be put in.
    pub(super) missing: &'static str,
}

/// What the file of a part of a folder's texts is called, without its ending.
pub(super) fn texts_name(second: Language, part: usize) -> String {
    format!("{}.{part}", second.word())
}

#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) title: String,
    pub(super) locale: Locale,
    pub(super) words: &'static site::Words,
    pub(super) own: &'static files::Words,
    pub(super) section: Section,
    /// Whether the head has the search.
    pub(super) finds: bool,
    pub(super) search_href: String,
    pub(super) others: Vec<Other>,
    pub(super) put_in: Option<PutIn>,
    pub(super) assets: AssetLinks,
    pub(super) up: String,
    pub(super) version: &'static str,
    pub(super) as_of: String,
}

impl Layout {
    /// Of a page that is a file in each language of the site; `name` is that file's, without its ending.
    pub(super) fn new(site: Site<'_>, language: Language, title: &str, name: &str, section: Section) -> Self {
        let depth = u8::try_from(name.matches('/').count()).unwrap_or(u8::MAX);
        let own_name = name.rsplit('/').next().unwrap_or(name);
        let others = Language::ALL.into_iter().filter(|(other, _)| *other != language);
        let others = others.filter(|(other, _)| site.languages.contains(other));
        let others = others.map(|(other, own)| Other {
            lang: other.tag(),
            name: own,
            href: file(own_name, site.second(other)),
        });
        let others = others.collect();
        Self::around(site, language, title, Place(depth), section, others)
    }

    /// Of a record, which has one file for all languages.
    pub(super) fn of_record(
        site: Site<'_>,
        language: Language,
        title: &str,
        place: Place,
        part: usize,
    ) -> Self {
        let others = Language::ALL.into_iter().filter(|(other, _)| *other != language);
        let others = others.filter(|(other, _)| site.languages.contains(other));
        let others = others.map(|(other, own)| Other {
            lang: other.tag(),
            name: own,
            // The same file, asked for otherwise.
            href: site
                .second(other)
                .map_or_else(|| "?".to_owned(), |second| format!("?lang={}", second.word())),
        });
        let others = others.collect();
        let mut layout = Self::around(site, language, title, place, Section::Elsewhere, others);
        let second = site
            .languages
            .iter()
            .copied()
            .find(|second| site.second(*second).is_some());
        layout.put_in = second.map(|second| PutIn {
            texts: texts_name(second, part),
            tag: second.tag(),
            missing: files::Words::of(second).second_missing,
        });
        layout
    }

    fn around(
        site: Site<'_>,
        language: Language,
        title: &str,
        place: Place,
        section: Section,
        others: Vec<Other>,
    ) -> Self {
        let words = site::Words::of(language);
        let up = place.up();
        let assets = of_site();
        let below = |href: &'static str| href.trim_start_matches('/');
        Self {
            title: title.to_owned(),
            locale: site.locale(language, place),
            words,
            own: files::Words::of(language),
            section,
            finds: true,
            search_href: format!("{up}{}", file("search", site.second(language))),
            others,
            put_in: None,
            assets: AssetLinks {
                css: below(&assets.css.href),
                js: below(&assets.js.href),
                files: below(&assets.files.href),
                tab: below(&assets.tab.href),
                icon: below(&assets.icon.href),
            },
            up,
            version: env!("CARGO_PKG_VERSION"),
            as_of: words.as_of(&site.seq.to_string()),
        }
    }

    #[must_use]
    pub(super) fn with_own_search(mut self) -> Self {
        self.finds = false;
        self
    }
}

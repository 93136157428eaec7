//! What every page has around its content: title, language, where in the site it stands, the address of the sheet.

use super::assets;
use super::i18n::{Language, Locale, site};

/// The parts of the site that the head links to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The box and what it finds.
    Lookup,
    /// Search and records.
    Search,
    /// The graph.
    Graph,
    /// Nodes and reports.
    Nodes,
    /// The API reference.
    Api,
    /// Anything else.
    Elsewhere,
}

/// Addresses of the embedded files; each holds the hash of its content.
#[derive(Debug, Clone, Copy)]
pub struct AssetLinks {
    /// The sheet.
    pub css: &'static str,
    /// The script.
    pub js: &'static str,
    /// The icon.
    pub icon: &'static str,
}

/// The same page in another language.
#[derive(Debug, Clone)]
pub struct Alternate {
    /// BCP 47.
    pub lang: &'static str,
    /// Its name in itself.
    pub name: &'static str,
    /// Address.
    pub href: String,
}

/// What `base.html` shows.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Title of the window.
    pub title: String,
    /// Language of the page's own words, and of what its links lead to.
    pub locale: Locale,
    /// What stands around every page.
    pub words: &'static site::Words,
    /// Which link of the head is marked.
    pub section: Section,
    /// False keeps the page out of public search engines.
    pub indexed: bool,
    /// The page in other languages.
    pub alternates: Vec<Alternate>,
    /// Addresses of the embedded files.
    pub assets: AssetLinks,
    /// Version of the program.
    pub version: &'static str,
    /// Feed position of the knowledge that the page was made from.
    pub seq: Option<i64>,
}

impl Layout {
    /// A page with this title, in English, kept out of search engines.
    pub fn new(title: impl Into<String>, section: Section) -> Self {
        Self {
            title: title.into(),
            locale: Locale::ENGLISH,
            words: site::Words::of(Locale::ENGLISH.language),
            section,
            indexed: false,
            alternates: Vec::new(),
            assets: assets::links(),
            version: env!("CARGO_PKG_VERSION"),
            seq: None,
        }
    }

    /// The page in this language.
    #[must_use]
    pub fn spoken(mut self, locale: Locale) -> Self {
        self.locale = locale;
        self.words = site::Words::of(locale.language);
        self
    }

    /// Says where the page at `address` is in each language.
    #[must_use]
    pub fn in_both(mut self, address: &str) -> Self {
        self.alternates = Language::ALL
            .map(|(language, name)| Alternate {
                lang: language.tag(),
                name,
                href: language.address(address),
            })
            .into();
        self
    }

    /// `Knowledge as of change 412`.
    pub fn as_of(&self) -> Option<String> {
        self.seq.map(|seq| self.words.as_of(&seq.to_string()))
    }

    /// A page that search engines may show.
    #[must_use]
    pub fn indexed(mut self) -> Self {
        self.indexed = true;
        self
    }

    /// Says which knowledge the page was made from.
    #[must_use]
    pub fn at(mut self, seq: kb_core::ids::Seq) -> Self {
        self.seq = Some(seq.0);
        self
    }
}

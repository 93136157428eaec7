//! What every page has around its content: title, language, where in the site it stands, the address of the sheet.

use super::assets;
use crate::render::i18n::{Language, Locale, site, tab};
use crate::web::session::visitor::{self, Visitor};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Lookup,
    Search,
    Graph,
    Nodes,
    Account,
    Api,
    Reviews,
    Feedback,
    Unmatched,
    Workbench,
    NewRecord,
    Elsewhere,
}

/// Addresses of the embedded files; each holds the hash of its content.
#[derive(Debug, Clone, Copy)]
pub struct AssetLinks {
    pub css: &'static str,
    pub js: &'static str,
    pub typing: &'static str,
    pub icon: &'static str,
}

#[derive(Debug, Clone)]
pub struct Alternate {
    /// BCP 47.
    pub lang: &'static str,
    pub name: &'static str,
    pub href: String,
}

/// How a log is read in the tab.
#[derive(Debug, Clone)]
pub struct TabChoice {
    pub script: &'static str,
    /// Where the page is that an answer is put into.
    pub page: String,
    pub words: &'static tab::Words,
}

#[derive(Debug, Clone)]
pub struct Layout {
    pub title: String,
    /// Language of the page's own words, and of what its links lead to.
    pub locale: Locale,
    pub words: &'static site::Words,
    pub visitor: Visitor,
    pub section: Section,
    /// Whether the head has the search; a page with a search of its own has one alone.
    pub finds: bool,
    /// False keeps the page out of public search engines.
    pub indexed: bool,
    pub alternates: Vec<Alternate>,
    pub assets: AssetLinks,
    pub version: &'static str,
    /// The box offers to read a log in the tab.
    pub tab: Option<TabChoice>,
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
            visitor: visitor::current(),
            section,
            finds: true,
            indexed: false,
            alternates: Vec::new(),
            assets: assets::links(),
            version: env!("CARGO_PKG_VERSION"),
            tab: None,
            seq: None,
        }
    }

    /// A page whose box offers to read a log in the tab, where the server has the module for it.
    #[must_use]
    pub fn reading_in_tab(mut self, has_module: bool) -> Self {
        self.tab = has_module.then(|| TabChoice {
            script: assets::tab_script(),
            page: self.locale.href("/tab"),
            words: tab::Words::of(self.locale.language),
        });
        self
    }

    #[must_use]
    pub fn spoken(mut self, locale: Locale) -> Self {
        self.locale = locale;
        self.words = site::Words::of(locale.language);
        self
    }

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

    #[must_use]
    pub fn with_own_search(mut self) -> Self {
        self.finds = false;
        self
    }

    #[must_use]
    pub fn indexed(mut self) -> Self {
        self.indexed = true;
        self
    }

    #[must_use]
    pub fn at(mut self, seq: kb_core::ids::Seq) -> Self {
        self.seq = Some(seq.0);
        self
    }
}

//! Dead ends and workarounds, and texts that know their language; shared by answers and records.

use super::words::{is_chinese, web_href};

/// A text with its language, so that screen readers and fonts get it right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub text: String,
    /// BCP 47.
    pub lang: &'static str,
}

impl Text {
    /// A text; Chinese where it holds Chinese characters, else English.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let lang = if is_chinese(&text) { "zh-Hans" } else { "en" };
        Self { text, lang }
    }

    /// A text unless it is absent or blank.
    pub fn filled(text: Option<&str>) -> Option<Self> {
        text.map(str::trim).filter(|text| !text.is_empty()).map(Self::new)
    }
}

/// A place where something is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    pub text: String,
    /// Link target, where the address leads to a web page.
    pub href: Option<String>,
    /// When it was read and what it supports.
    pub note: Option<String>,
}

impl Citation {
    /// A citation without a note.
    pub fn new(address: &str) -> Self {
        Self {
            text: address.to_owned(),
            href: web_href(address),
            note: None,
        }
    }
}

/// One thing to do, or not to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What to do, or what people try.
    pub title: Option<Text>,
    pub body: Option<Text>,
    pub condition: Option<Text>,
    /// What the step does to the error, what it costs and touches; of a workaround alone.
    pub kind: Option<String>,
    /// What must be stopped before it.
    pub stop_first: Option<Text>,
    /// The rate with what it rests on.
    pub rate: Option<String>,
    pub sources: Vec<Citation>,
    /// Why it is not to be believed; it is shown struck then.
    pub dispute: Option<Objection>,
}

/// What is held against a statement, and where that is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    pub why: Text,
    pub source: Citation,
}

/// Longest title that is set in bold, in characters; many records put the whole advice into it.
const MAX_HEADLINE: usize = 100;

impl Advice {
    /// True where the title is short enough to stand as a headline.
    pub fn is_headline(&self) -> bool {
        self.title
            .as_ref()
            .is_some_and(|title| title.text.chars().count() <= MAX_HEADLINE)
    }
}

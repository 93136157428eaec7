//! The language of a page and of its links, and where these lead: to addresses of a server, or to files of a site.

use super::Language;
use crate::render::site_address::{self, Place};

/// The language of a page, and whether the links on it ask for it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locale {
    pub language: Language,
    carried: bool,
    /// Of a page that is a file; `None` of one that a server gives out.
    place: Option<Place>,
}

impl Locale {
    /// English, of a page that has no other.
    pub const ENGLISH: Self = Self {
        language: Language::English,
        carried: false,
        place: None,
    };

    /// A language that the address of the page asked for: its links ask for it, too.
    pub fn asked(language: Language) -> Self {
        Self {
            language,
            carried: true,
            place: None,
        }
    }

    /// Of a page of a site of files. `is_first` says whether the language is the site's first.
    pub fn on_site(language: Language, is_first: bool, place: Place) -> Self {
        Self {
            language,
            carried: !is_first,
            place: Some(place),
        }
    }

    pub fn href(&self, address: impl AsRef<str>) -> String {
        let address = address.as_ref();
        if let Some(place) = self.place {
            let second = self.carried.then_some(self.language);
            return site_address::of(address, place, second);
        }
        if self.carried {
            self.language.address(address)
        } else {
            address.to_owned()
        }
    }

    /// What a form sends along, so that its answer is in this language.
    pub fn field(&self) -> Option<&'static str> {
        self.carried.then(|| self.language.word())
    }
}

impl From<Language> for Locale {
    fn from(language: Language) -> Self {
        Self {
            language,
            carried: language != Language::English,
            place: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_a_chinese_page_ask_for_chinese() {
        let chinese = Locale::from(Language::Chinese);
        assert_eq!(chinese.href("/search?q=x"), "/search?q=x&lang=zh");
        assert_eq!(
            chinese.href("/reports/r1#pair-0-1"),
            "/reports/r1?lang=zh#pair-0-1"
        );
    }
}

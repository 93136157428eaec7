//! The language of a page and of its links.

use super::Language;

/// The language of a page, and whether the links on it ask for it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locale {
    pub language: Language,
    carried: bool,
}

impl Locale {
    /// English, of a page that has no other.
    pub const ENGLISH: Self = Self {
        language: Language::English,
        carried: false,
    };

    /// A language that the address of the page asked for: its links ask for it, too.
    pub fn asked(language: Language) -> Self {
        Self {
            language,
            carried: true,
        }
    }

    pub fn href(&self, address: impl AsRef<str>) -> String {
        if self.carried {
            self.language.address(address.as_ref())
        } else {
            address.as_ref().to_owned()
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

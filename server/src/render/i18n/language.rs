//! The languages of the interface.

use super::record;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    English,
    Chinese,
}

impl Language {
    pub const ALL: [(Self, &'static str); 2] = [(Self::English, "English"), (Self::Chinese, "中文")];

    /// BCP 47.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-Hans",
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    pub fn words(self) -> &'static record::Words {
        record::Words::of(self)
    }

    pub fn address(self, address: &str) -> String {
        let (path, fragment) = address
            .split_once('#')
            .map_or((address, None), |(path, fragment)| (path, Some(fragment)));
        let separator = if path.contains('?') { '&' } else { '?' };
        let fragment = fragment
            .map(|fragment| format!("#{fragment}"))
            .unwrap_or_default();
        format!("{path}{separator}lang={}{fragment}", self.word())
    }
}

//! Which language a page is in: what its address says, else what the browser prefers.

use actix_web::HttpRequest;
use actix_web::http::header;
use actix_web::web::Query;
use serde::Deserialize;

use super::record;

/// A language that pages are shown in.
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

    /// From `?lang=`; anything unknown is English.
    pub fn from_query(lang: Option<&str>) -> Self {
        match lang {
            Some("zh" | "zh-Hans" | "zh-CN" | "zh_CN") => Self::Chinese,
            _ => Self::English,
        }
    }

    /// From `Accept-Language`: Chinese where it is preferred to English. Languages without a page count for nothing.
    pub fn from_accepted(header: &str) -> Self {
        let weight = |item: &str| {
            let (tag, rest) = item.split_once(';').unwrap_or((item, ""));
            let weight = rest.trim().strip_prefix("q=").unwrap_or("1");
            let primary = tag
                .trim()
                .split('-')
                .next()
                .unwrap_or_default()
                .to_ascii_lowercase();
            (primary, weight.trim().parse::<f32>().unwrap_or(0.0))
        };
        let best = |language: &str| {
            let of_it = header.split(',').map(weight).filter(|(tag, _)| tag == language);
            of_it.map(|(_, weight)| weight).fold(0.0, f32::max)
        };
        // With equal weight what stands first is meant.
        let first = ["zh", "en"].map(|tag| header.to_ascii_lowercase().find(tag).unwrap_or(usize::MAX));
        let (chinese, english) = (best("zh"), best("en"));
        if chinese > english || (chinese > 0.0 && chinese >= english && first[0] < first[1]) {
            Self::Chinese
        } else {
            Self::English
        }
    }

    /// What record pages say beside the record.
    pub fn words(self) -> &'static record::Words {
        record::Words::of(self)
    }

    /// An address of this site that asks for this language.
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

/// The language of a page, and whether the links on it ask for it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locale {
    pub language: Language,
    carried: bool,
}

#[derive(Debug, Deserialize)]
struct Said {
    lang: Option<String>,
}

impl Locale {
    /// English, of a page that has no other.
    pub const ENGLISH: Self = Self {
        language: Language::English,
        carried: false,
    };

    /// What the address says, else what the browser prefers. Links ask for Chinese, and for English where the address
    /// did: who chose it may have a browser that prefers Chinese.
    pub fn of(request: &HttpRequest) -> Self {
        let said = Query::<Said>::from_query(request.query_string()).ok();
        if let Some(lang) = said.and_then(|said| said.into_inner().lang) {
            return Self {
                language: Language::from_query(Some(&lang)),
                carried: true,
            };
        }
        let accepted = request.headers().get(header::ACCEPT_LANGUAGE);
        let accepted = accepted.and_then(|value| value.to_str().ok());
        Language::from_accepted(accepted.unwrap_or_default()).into()
    }

    /// An address of this site, in this language.
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
    fn the_preferred_of_the_two_languages_is_taken() {
        for (header, expected) in [
            ("", Language::English),
            ("zh-CN", Language::Chinese),
            ("zh-CN,zh;q=0.9,en;q=0.8", Language::Chinese),
            ("en-GB, zh;q=0.9", Language::English),
            ("zh;q=0.5, en;q=0.7", Language::English),
            ("fr, ZH-hans;q=0.3", Language::Chinese),
            ("zh, en", Language::Chinese),
            ("en, zh", Language::English),
            ("zh;q=x, *", Language::English),
        ] {
            assert_eq!(Language::from_accepted(header), expected, "{header:?}");
        }
    }

    #[test]
    fn links_carry_a_language_that_was_chosen() {
        let asked = |query: &str, accepted: &'static str| {
            let request = actix_web::test::TestRequest::with_uri(&format!("/search{query}"))
                .insert_header((header::ACCEPT_LANGUAGE, accepted))
                .to_http_request();
            Locale::of(&request).href("/r/cuda/a")
        };
        assert_eq!(asked("", ""), "/r/cuda/a");
        assert_eq!(asked("", "zh-CN"), "/r/cuda/a?lang=zh");
        assert_eq!(asked("?q=x&lang=en", "zh-CN"), "/r/cuda/a?lang=en");
        assert_eq!(asked("?lang=zh", "en"), "/r/cuda/a?lang=zh");
        let chinese = Locale::from(Language::Chinese);
        assert_eq!(chinese.href("/search?q=x"), "/search?q=x&lang=zh");
        assert_eq!(
            chinese.href("/reports/r1#pair-0-1"),
            "/reports/r1?lang=zh#pair-0-1"
        );
    }
}

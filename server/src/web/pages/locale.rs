//! Which language a page is in: what its address says, else what the browser prefers.

use actix_web::HttpRequest;
use actix_web::http::header;
use actix_web::web::Query;
use serde::Deserialize;

use crate::render::i18n::{Language, Locale};

#[derive(Debug, Deserialize)]
struct Said {
    lang: Option<String>,
}

/// The address's language, else the browser's. Links ask for Chinese, and for English only where the address did.
pub(in crate::web) fn of(request: &HttpRequest) -> Locale {
    let said = Query::<Said>::from_query(request.query_string()).ok();
    if let Some(lang) = said.and_then(|said| said.into_inner().lang) {
        return Locale::asked(named(&lang));
    }
    let accepted = request.headers().get(header::ACCEPT_LANGUAGE);
    let accepted = accepted.and_then(|value| value.to_str().ok());
    preferred(accepted.unwrap_or_default()).into()
}

/// The language of `?lang=`; anything unknown is English.
fn named(lang: &str) -> Language {
    match lang {
        "zh" | "zh-Hans" | "zh-CN" | "zh_CN" => Language::Chinese,
        _ => Language::English,
    }
}

/// From `Accept-Language`: Chinese where it is preferred to English. Languages without a page count for nothing.
fn preferred(header: &str) -> Language {
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
        Language::Chinese
    } else {
        Language::English
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
            assert_eq!(preferred(header), expected, "{header:?}");
        }
    }

    #[test]
    fn links_carry_a_language_that_was_chosen() {
        let asked = |query: &str, accepted: &'static str| {
            let request = actix_web::test::TestRequest::with_uri(&format!("/search{query}"))
                .insert_header((header::ACCEPT_LANGUAGE, accepted))
                .to_http_request();
            of(&request).href("/r/cuda/a")
        };
        assert_eq!(asked("", ""), "/r/cuda/a");
        assert_eq!(asked("", "zh-CN"), "/r/cuda/a?lang=zh");
        assert_eq!(asked("?q=x&lang=en", "zh-CN"), "/r/cuda/a?lang=en");
        assert_eq!(asked("?lang=zh", "en"), "/r/cuda/a?lang=zh");
    }
}

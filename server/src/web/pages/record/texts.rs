//! A record's texts in the language asked for; where a text has no translation the other language stands in, marked.

use kb_core::record::{DeadEnd, Record, Workaround};

use super::tier::{Tier, rate};
use super::words::{CHINESE, ENGLISH, Words};
use crate::web::pages::advice::{Advice, Citation, Text};

/// A language that record pages are shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// English.
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
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

    /// The page's own words.
    pub fn words(self) -> &'static Words {
        match self {
            Self::English => &ENGLISH,
            Self::Chinese => &CHINESE,
        }
    }
}

/// True where any text of the record is there in Chinese.
pub fn has_chinese(record: &Record) -> bool {
    let document = &record.document;
    let singles = [
        document.signature_zh.as_deref(),
        document.root_cause_zh.as_deref(),
    ];
    singles.into_iter().flatten().any(|text| !text.trim().is_empty())
        || !record.annex.dead_ends_zh.is_empty()
        || !record.annex.workarounds_zh.is_empty()
}

/// The signature in the language asked for, and in the other one if there is one.
pub fn signature(record: &Record, language: Language) -> (Text, Option<Text>) {
    let english = Text::new(record.document.signature.as_str());
    let chinese = Text::filled(record.document.signature_zh.as_deref());
    match (language, chinese) {
        (Language::English, other) => (english, other),
        (Language::Chinese, Some(chinese)) => (chinese, Some(english)),
        (Language::Chinese, None) => (english, None),
    }
}

/// Why it happens.
pub fn root_cause(record: &Record, language: Language) -> Text {
    let chinese = Text::filled(record.document.root_cause_zh.as_deref());
    match (language, chinese) {
        (Language::Chinese, Some(chinese)) => chinese,
        _ => Text::new(record.document.root_cause.as_str()),
    }
}

/// What wastes time.
pub fn dead_ends(record: &Record, language: Language, tier: &Tier) -> Vec<Advice> {
    let list = record.document.dead_ends.iter().enumerate();
    list.map(|(position, item)| dead_end(record, language, tier, position, item))
        .collect()
}

fn dead_end(record: &Record, language: Language, tier: &Tier, position: usize, item: &DeadEnd) -> Advice {
    let words = language.words();
    let chinese = match language {
        Language::Chinese => record.annex.dead_ends_zh.get(position),
        Language::English => None,
    };
    let title = chinese.and_then(|zh| Text::filled(zh.action.as_deref()));
    let body = chinese.and_then(|zh| Text::filled(zh.why_fails.as_deref()));
    let has_sources = !item.sources.is_empty();
    Advice {
        title: title.or_else(|| Text::filled(Some(&item.action))),
        body: body.or_else(|| Text::filled(item.why_fails.as_deref())),
        condition: Text::filled(item.condition.as_deref()),
        rate: item
            .fail_rate
            .map(|share| rate(words.fails_in, share, has_sources, tier, words)),
        sources: item.sources.iter().map(|source| Citation::new(source)).collect(),
    }
}

/// What works.
pub fn workarounds(record: &Record, language: Language, tier: &Tier) -> Vec<Advice> {
    let list = record.document.workarounds.iter().enumerate();
    list.map(|(position, item)| workaround(record, language, tier, position, item))
        .collect()
}

fn workaround(
    record: &Record,
    language: Language,
    tier: &Tier,
    position: usize,
    item: &Workaround,
) -> Advice {
    let words = language.words();
    let in_chinese = language == Language::Chinese;
    let annex = record.annex.workarounds_zh.get(position).filter(|_| in_chinese);
    let document = record
        .document
        .workarounds_zh
        .get(position)
        .filter(|_| in_chinese);
    let title = annex
        .and_then(|zh| Text::filled(zh.action.as_deref()))
        .or_else(|| Text::filled(document.map(String::as_str)))
        .or_else(|| Text::filled(Some(&item.action)));
    let how = annex
        .and_then(|zh| Text::filled(zh.how.as_deref()))
        // The seeds repeat the action as the way to do it.
        .or_else(|| Text::filled(item.how.as_deref().filter(|how| how.trim() != item.action.trim())));
    let has_sources = !item.sources.is_empty();
    Advice {
        title,
        body: how,
        condition: Text::filled(item.condition.as_deref()),
        rate: item
            .success_rate
            .map(|share| rate(words.works_in, share, has_sources, tier, words)),
        sources: item.sources.iter().map(|source| Citation::new(source)).collect(),
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
}

//! A record's texts in the language asked for; where a text has no translation the other language stands in, marked.

use kb_core::record::{DeadEnd, Record, Workaround};

use super::tier::{Tier, rate};
use crate::web::pages::advice::{Advice, Citation, Text};
use crate::web::pages::i18n::Language;

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

//! From a record to what is shown of it.

use kb_core::ids::Revision;
use kb_core::record::Record;
use kb_core::signature::AppliesTo;

use super::first::{FirstThing, first_thing};
use super::neighbours::{Group, groups};
use super::sources::sources;
use super::texts;
use super::tier::{Tier, percent};
use super::verdict::{Verdict, verdict};
use crate::feed::{Neighbour, PublishedRecord};
use crate::render::advice::{Advice, Citation, Objection, Text};
use crate::render::i18n::{Language, Locale, record::Words, terms};
use crate::render::words::{Link, Row, Tone, encoded, record_href};

#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub record: &'a Record,
    pub revision: Revision,
    pub withdrawn: bool,
    /// Why it was published although the gate refused it.
    pub forced: Option<&'a str>,
    pub neighbours: &'a [Neighbour],
}

impl<'a> Source<'a> {
    pub fn published(published: &'a PublishedRecord, neighbours: &'a [Neighbour]) -> Self {
        Self {
            record: &published.record,
            revision: published.revision,
            withdrawn: false,
            forced: published.forced.as_deref(),
            neighbours,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub tone: Tone,
    pub title: &'static str,
    pub text: String,
    pub link: Option<Link>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleView {
    pub text: String,
    pub source: Option<Citation>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMissView {
    pub text: String,
    pub why: Option<Text>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecordView {
    pub id: String,
    pub notices: Vec<Notice>,
    /// `None` where the record has no title: its signature is the heading.
    pub title: Option<Text>,
    pub signature: Text,
    pub signature_other: Option<Text>,
    pub tier: Tier,
    pub facts: Vec<String>,
    pub verdict: Verdict,
    pub first: Option<FirstThing>,
    pub root_cause: Text,
    pub root_cause_dispute: Option<Objection>,
    /// Where an editor corrects the cause; on the page of a record alone.
    pub root_cause_correct: Option<String>,
    pub dead_ends: Vec<Advice>,
    pub workarounds: Vec<Advice>,
    pub examples: Vec<ExampleView>,
    pub near_misses: Vec<NearMissView>,
    pub codes: Vec<Link>,
    pub neighbours: Vec<Group>,
    pub applies_to: Vec<Row>,
    pub versions: Vec<String>,
    pub sources: Vec<Citation>,
    pub about: Vec<Row>,
}

/// The record in a language; its links lead to pages in that language.
pub fn view(source: Source<'_>, locale: Locale) -> RecordView {
    let (record, language) = (source.record, locale.language);
    let (document, annex, words) = (&record.document, &record.annex, language.words());
    let id = record.id();
    let tier = Tier::of(document, words);
    let (signature, signature_other) = texts::signature(record, language);
    let workarounds = texts::workarounds(record, language, &tier);
    RecordView {
        notices: notices(source, locale),
        id: id.to_string(),
        title: texts::title(record, language),
        signature,
        signature_other,
        facts: facts(record, language),
        verdict: verdict(record, language),
        first: first_thing(record, &workarounds),
        root_cause: texts::root_cause(record, language),
        root_cause_dispute: texts::root_cause_dispute(record, language),
        root_cause_correct: None,
        dead_ends: texts::dead_ends(record, language, &tier),
        workarounds,
        examples: annex.examples.iter().map(example).collect(),
        near_misses: annex.near_misses.iter().map(near_miss).collect(),
        codes: codes(record, locale),
        neighbours: groups(id, source.neighbours, locale),
        applies_to: annex
            .applies_to
            .iter()
            .map(|condition| applies_to(condition, words))
            .collect(),
        versions: document
            .versions
            .iter()
            .map(|note| note.version.clone())
            .collect(),
        sources: sources(record, words),
        about: about(source, words),
        tier,
    }
}

fn notices(source: Source<'_>, locale: Locale) -> Vec<Notice> {
    let words = locale.language.words();
    let mut notices = Vec::new();
    if let Some(unless) = texts::harmless_unless(source.record, locale.language) {
        notices.push(Notice {
            tone: Tone::Good,
            title: words.harmless,
            text: format!("{} {}", words.unless, unless.text),
            link: None,
        });
    }
    if source.withdrawn {
        notices.push(Notice {
            tone: Tone::Bad,
            title: words.withdrawn,
            text: words.withdrawn_means.to_owned(),
            link: None,
        });
    }
    if let Some(reason) = source.forced {
        notices.push(Notice {
            tone: Tone::Warn,
            title: words.forced,
            text: words.forced_means(reason),
            link: None,
        });
    }
    if let Some(successor) = &source.record.annex.superseded_by {
        notices.push(Notice {
            tone: Tone::Warn,
            title: words.superseded,
            text: words.superseded_means.to_owned(),
            link: Some(Link {
                href: locale.href(record_href(successor.as_str())),
                text: successor.to_string(),
            }),
        });
    }
    notices
}

fn facts(record: &Record, language: Language) -> Vec<String> {
    let (words, terms) = (language.words(), terms::Words::of(language));
    let severity = record
        .annex
        .severity
        .map(|word| format!("{}: {}", words.severity, terms.severity(word)));
    let action = record
        .annex
        .action
        .map(|word| format!("{}: {}", words.action, terms.action(word)));
    let at_fault = record
        .annex
        .at_fault
        .as_ref()
        .map(|at_fault| format!("{}: {}", words.at_fault, terms.blame(at_fault.who)));
    let resolvable = record
        .document
        .resolvable()
        .map(|word| format!("{}: {}", words.resolvable, terms.resolvable(word)));
    [severity, action, at_fault, resolvable]
        .into_iter()
        .flatten()
        .collect()
}

fn example(example: &kb_core::annex::Example) -> ExampleView {
    ExampleView {
        text: example.text.clone(),
        source: example.source.as_deref().map(Citation::new),
    }
}

fn near_miss(miss: &kb_core::annex::NearMiss) -> NearMissView {
    NearMissView {
        text: miss.text.clone(),
        why: Text::filled(miss.why.as_deref()),
    }
}

fn codes(record: &Record, locale: Locale) -> Vec<Link> {
    let own = record
        .document
        .error_code
        .iter()
        .filter(|code| !code.trim().is_empty());
    let mut codes: Vec<&String> = Vec::new();
    for code in own.chain(&record.annex.codes) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes
        .into_iter()
        .map(|code| Link {
            href: locale.href(format!("/search?q={}", encoded(code))),
            text: code.clone(),
        })
        .collect()
}

/// `525 or later, before 550.54`.
fn applies_to(condition: &AppliesTo, words: &Words) -> Row {
    let mut told = Vec::new();
    if let Some(version) = &condition.introduced {
        told.push(words.or_later(version));
    }
    if let Some(version) = &condition.fixed {
        told.push(words.before_version(version));
    }
    if let Some(version) = &condition.last_affected {
        told.push(words.up_to(version));
    }
    if !condition.any_of.is_empty() {
        told.push(condition.any_of.join(words.or));
    }
    Row::new(condition.component.replace('_', " "), told.join(", "))
}

fn about(source: Source<'_>, words: &Words) -> Vec<Row> {
    let (document, annex) = (&source.record.document, &source.record.annex);
    let origin = annex.origin.as_ref().map(|origin| origin.system.clone());
    let rows = [
        (words.revision, Some(source.revision.to_string())),
        (
            words.domain,
            Some(format!("{} · {}", document.domain, document.category)),
        ),
        (words.first_seen, document.first_seen.clone()),
        (words.last_confirmed, document.last_confirmed.clone()),
        (words.last_updated, document.last_updated.clone()),
        (words.confidence, document.confidence.map(percent)),
        (
            words.evidence_count,
            document.evidence_count.map(|count| count.to_string()),
        ),
        (words.origin, origin),
    ];
    rows.into_iter()
        .filter_map(|(name, value)| Some(Row::new(name, value?)))
        .collect()
}

//! From a record to what its page shows.

use kb_core::annex::{Action, Severity};
use kb_core::ids::{RecordId, Revision};
use kb_core::record::{Record, Resolvable};
use kb_core::signature::AppliesTo;

use super::RecordPage;
use super::neighbours::groups;
use super::texts::{self, Language};
use super::tier::{Tier, percent};
use super::words::Words;
use crate::feed::Neighbour;
use crate::web::pages::advice::{Citation, Text};
use crate::web::pages::layout::{Alternate, Layout, Section};
use crate::web::pages::words::{Link, Row, Tone, encoded, record_href};

/// What the page is made from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The revision shown.
    pub record: &'a Record,
    /// Its number.
    pub revision: Revision,
    /// True where the record was taken back.
    pub withdrawn: bool,
    /// What stands around it in the graph.
    pub neighbours: &'a [Neighbour],
}

/// Something the reader must know before reading on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Colour.
    pub tone: Tone,
    /// In bold.
    pub title: &'static str,
    /// The rest.
    pub text: String,
    /// Where to go instead.
    pub link: Option<Link>,
}

/// A language of the switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageLink {
    /// BCP 47.
    pub lang: &'static str,
    /// Its name in itself.
    pub name: &'static str,
    /// Address of the page in it.
    pub href: String,
    /// True for the one shown.
    pub current: bool,
}

/// A text that the record recognises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleView {
    /// The text.
    pub text: String,
    /// Where it was seen.
    pub source: Option<Citation>,
}

/// A text that looks alike and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMissView {
    /// The text.
    pub text: String,
    /// What it is instead.
    pub why: Option<Text>,
}

/// Builds the page.
pub fn page(source: Source<'_>, language: Language) -> RecordPage {
    let record = source.record;
    let (document, annex, words) = (&record.document, &record.annex, language.words());
    let id = record.id();
    let tier = Tier::of(document, words);
    let (signature, signature_other) = texts::signature(record, language);
    RecordPage {
        layout: layout(record, &signature.text, words, texts::has_chinese(record)),
        notices: notices(source),
        id: id.to_string(),
        signature,
        signature_other,
        facts: facts(record, words),
        root_cause: texts::root_cause(record, language),
        dead_ends: texts::dead_ends(record, language, &tier),
        workarounds: texts::workarounds(record, language, &tier),
        examples: annex.examples.iter().map(example).collect(),
        near_misses: annex.near_misses.iter().map(near_miss).collect(),
        languages: languages(id, words, texts::has_chinese(record)),
        codes: codes(record),
        neighbours: groups(id, source.neighbours, words),
        graph: None,
        applies_to: annex.applies_to.iter().map(applies_to).collect(),
        versions: document
            .versions
            .iter()
            .map(|note| note.version.clone())
            .collect(),
        sources: sources(record, words),
        about: about(source, words),
        history_href: format!("{}/-/revisions", record_href(id.as_str())),
        json_href: format!("/api/v1/records/{id}?view=full"),
        tier,
        words,
    }
}

fn layout(record: &Record, signature: &str, words: &Words, has_chinese: bool) -> Layout {
    let mut layout = Layout::new(format!("{signature} · Peerless"), Section::Search).indexed();
    layout.lang = words.lang;
    if has_chinese {
        let href = record_href(record.id().as_str());
        let chinese = format!("{href}?lang=zh");
        layout.alternates = vec![
            Alternate { lang: "en", href },
            Alternate {
                lang: "zh-Hans",
                href: chinese,
            },
        ];
    }
    layout
}

fn notices(source: Source<'_>) -> Vec<Notice> {
    let mut notices = Vec::new();
    if source.withdrawn {
        notices.push(Notice {
            tone: Tone::Bad,
            title: "Withdrawn.",
            text:
                "This record was taken back and is no longer matched or found. It stays readable by its id."
                    .to_owned(),
            link: None,
        });
    }
    if let Some(successor) = &source.record.annex.superseded_by {
        notices.push(Notice {
            tone: Tone::Warn,
            title: "Superseded.",
            text: "Another record took this one's place:".to_owned(),
            link: Some(Link {
                href: record_href(successor.as_str()),
                text: successor.to_string(),
            }),
        });
    }
    notices
}

fn facts(record: &Record, words: &Words) -> Vec<String> {
    let severity = record
        .annex
        .severity
        .map(|word| format!("{}: {}", words.severity, severity(word)));
    let action = record
        .annex
        .action
        .map(|word| format!("{}: {}", words.action, action(word)));
    let resolvable = record
        .document
        .resolvable()
        .map(|word| format!("{}: {}", words.resolvable, resolvable(word)));
    [severity, action, resolvable].into_iter().flatten().collect()
}

fn severity(word: Severity) -> &'static str {
    match word {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
        Severity::Fatal => "fatal",
    }
}

fn action(word: Action) -> &'static str {
    match word {
        Action::None => "nothing",
        Action::FixApplication => "fix the application",
        Action::ChangeConfiguration => "change the configuration",
        Action::RestartApplication => "restart the application",
        Action::UpdateSoftware => "update the software",
        Action::ResetGpu => "reset the GPU",
        Action::RebootNode => "reboot the node",
        Action::CheckHardware => "check the hardware",
        Action::ReplaceHardware => "replace the hardware",
        Action::ContactSupport => "contact support",
    }
}

fn resolvable(word: Resolvable) -> &'static str {
    match word {
        Resolvable::True => "yes",
        Resolvable::Partial => "in part",
        Resolvable::False => "no",
    }
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

fn languages(id: &RecordId, words: &Words, has_chinese: bool) -> Vec<LanguageLink> {
    if !has_chinese {
        return Vec::new();
    }
    let href = record_href(id.as_str());
    let all = [
        ("en", "English", href.clone()),
        ("zh-Hans", "中文", format!("{href}?lang=zh")),
    ];
    all.into_iter()
        .map(|(lang, name, href)| LanguageLink {
            lang,
            name,
            href,
            current: lang == words.lang,
        })
        .collect()
}

fn codes(record: &Record) -> Vec<Link> {
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
            href: format!("/search?q={}", encoded(code)),
            text: code.clone(),
        })
        .collect()
}

/// `525 or later, before 550.54`.
fn applies_to(condition: &AppliesTo) -> Row {
    let mut words = Vec::new();
    if let Some(version) = &condition.introduced {
        words.push(format!("{version} or later"));
    }
    if let Some(version) = &condition.fixed {
        words.push(format!("before {version}"));
    }
    if let Some(version) = &condition.last_affected {
        words.push(format!("up to {version}"));
    }
    if !condition.any_of.is_empty() {
        words.push(condition.any_of.join(" or "));
    }
    Row::new(condition.component.replace('_', " "), words.join(", "))
}

fn sources(record: &Record, words: &Words) -> Vec<Citation> {
    let mut sources: Vec<Citation> = Vec::new();
    let read = |url: &str| record.annex.sources.iter().any(|source| source.url == url);
    let official = record.document.official_doc_url.as_deref();
    if let Some(url) = official.filter(|url| !url.trim().is_empty() && !read(url)) {
        let section = record.document.official_doc_section.as_deref();
        let note = section.map_or_else(
            || words.vendor_page.to_owned(),
            |section| format!("{}: {section}", words.vendor_page),
        );
        sources.push(Citation {
            note: Some(note),
            ..Citation::new(url)
        });
    }
    for source in &record.annex.sources {
        let mut note = format!("{} {}", words.read_on, source.read_on);
        if !source.supports.is_empty() {
            note = format!("{note}, {} {}", words.supports, source.supports.join(", "));
        }
        sources.push(Citation {
            note: Some(note),
            ..Citation::new(&source.url)
        });
    }
    for seen in &record.annex.reproduced {
        let mut note = format!("{}, {}", seen.hardware, seen.on);
        if let Some(more) = &seen.note {
            note = format!("{note}. {more}");
        }
        sources.push(Citation {
            note: Some(note),
            ..Citation::new(&format!("{} {}", words.seen_in_report, seen.report))
        });
    }
    sources
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

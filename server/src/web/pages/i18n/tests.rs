//! Each table has both languages, templates have no words of their own, and a Chinese page says nothing in English.

use std::path::Path;
use std::sync::Arc;

use askama::Template as _;
use kb_core::annex::Severity;
use kb_core::report::Report;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::{Language, Locale, fleet, graph, lookup, record, report, search, site, terms};
use crate::domain::fleet::{Fault, Fleet};
use crate::domain::lookup::{MatchOptions, look_up};
use crate::feed::Generation;
use crate::feed::samples::{PEER_ACCESS, generation_of};
use crate::search::SearchRequest;
use crate::store::{HeardNode, NodeChange, NodeEvent, NodeListing, ReportListing, VerdictCount, Weight};
use crate::web::pages;

/// Words that are the same in Chinese: names, units, and what stands in files and on screens.
const NAMES: &[&str] = &[
    "AI", "API", "BY", "CC", "CNS", "CUDA", "DEBUG", "DISABLE", "DOT", "DR", "English", "GB", "GNS", "GPU",
    "GiB", "GraphML", "ID", "INFO", "IPC", "JSON", "NCCL", "NS", "NVIDIA", "NVLink", "NVML", "NVSwitch",
    "OK", "OpenAPI", "P2P", "PCI", "PCIe", "Peerless", "SHARP", "SM", "TNS", "U", "UUID", "Xid", "dev",
    "dmesg", "gz", "ndjson", "s", "shm", "zip", "zst",
];

type Table = (
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
);

const TABLES: [Table; 8] = [
    ("fleet", fleet::Words::ALL),
    ("graph", graph::Words::ALL),
    ("lookup", lookup::Words::ALL),
    ("record", record::Words::ALL),
    ("report", report::Words::ALL),
    ("search", search::Words::ALL),
    ("site", site::Words::ALL),
    ("terms", terms::Words::ALL),
];

/// Words that no reader of Chinese would write so.
fn english_in(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.chars().any(|c| c.is_ascii_alphabetic()) && !NAMES.contains(word))
        // `1e9` and the like.
        .filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
        .collect()
}

#[test]
fn each_text_is_there_in_both_languages_with_the_same_places_for_values() {
    for (table, words) in TABLES {
        for (key, english, chinese) in words {
            let places = |text: &str| text.matches("{}").count();
            assert_eq!(places(english), places(chinese), "{table}.{key}");
            assert!(!english.is_empty() || !chinese.is_empty(), "{table}.{key}");
            let left = english_in(chinese);
            assert!(left.is_empty(), "{table}.{key} says {left:?} in Chinese");
            assert!(!pages::words::is_chinese(english), "{table}.{key}: {english}");
        }
    }
}

#[test]
fn values_go_into_their_places() {
    assert_eq!(super::filled("{} of {}", &["1", "2"]), "1 of 2");
    assert_eq!(super::filled("{} of {}", &["{}", "2"]), "{} of 2");
    assert_eq!(super::counted(1, "{} line", "{} lines"), "1 line");
    assert_eq!(super::counted(1_200, "{} line", "{} lines"), "1\u{202f}200 lines");
}

/// Pages that are in English alone.
const ENGLISH_ONLY: [&str; 4] = ["api.html", "failure.html", "problems.html", "revisions.html"];

#[test]
fn templates_have_no_words_of_their_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../templates");
    let mut read = 0;
    for folder in ["", "pages", "partials"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.extension().is_none_or(|end| end != "html") || ENGLISH_ONLY.contains(&name.as_str()) {
                continue;
            }
            read += 1;
            let template = without_askama(&std::fs::read_to_string(&path).unwrap());
            for text in texts(&template) {
                let left = english_in(&text);
                assert!(left.is_empty(), "{name} says {left:?}: {text}");
            }
        }
    }
    assert!(read > 10, "{read} templates were found");
}

/// A template without expressions, statements and comments.
fn without_askama(template: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(start) = rest
        .find("{{")
        .into_iter()
        .chain(rest.find("{%"))
        .chain(rest.find("{#"))
        .min()
    {
        let (before, opened) = rest.split_at(start);
        out.push_str(before);
        let end = match &opened[..2] {
            "{{" => "}}",
            "{%" => "%}",
            _ => "#}",
        };
        rest = opened.split_once(end).unwrap().1;
    }
    out + rest
}

/// What a page says to its reader in its own language: its texts and the names of its parts, but for code, drawings,
/// and what is marked as English.
fn texts(html: &str) -> Vec<String> {
    const EMPTY: [&str; 6] = ["br", "input", "link", "meta", "path", "rect"];
    const FOREIGN: [&str; 7] = ["code", "pre", "script", "style", "svg", "textarea", "title"];
    let mut texts = Vec::new();
    // Open elements, and whether each is passed over.
    let mut open: Vec<(String, bool)> = Vec::new();
    let mut rest = html;
    while let Some((text, tail)) = rest.split_once('<') {
        let passed_over = open.iter().any(|(_, passed)| *passed);
        if !passed_over && !text.trim().is_empty() {
            texts.push(text.trim().to_owned());
        }
        let (tag, after) = tail.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            let place = open.iter().rposition(|(open, _)| open == name);
            open.truncate(place.unwrap_or(open.len()));
            continue;
        }
        let name = tag.split([' ', '\n', '/']).next().unwrap().to_owned();
        let is_foreign = FOREIGN.contains(&name.as_str())
            || tag.contains("lang=\"en\"")
            || tag.contains("class=\"mono")
            || tag.contains(" mono");
        if !passed_over && !is_foreign {
            for attribute in ["aria-label=\"", "title=\""] {
                let value = tag
                    .split_once(attribute)
                    .and_then(|(_, rest)| rest.split_once('"'));
                texts.extend(value.map(|(value, _)| value.to_owned()));
            }
        }
        if !EMPTY.contains(&name.as_str()) && !tag.ends_with('/') && !tag.starts_with('!') {
            open.push((name, is_foreign));
        }
    }
    texts
}

const CHINESE: Language = Language::Chinese;

fn generation() -> Arc<Generation> {
    generation_of(&[(PEER_ACCESS.0.to_owned(), PEER_ACCESS.1.to_owned())])
}

/// No text is one of the English tables, whole; the longer ones not even within another text.
fn assert_nothing_is_english(page: &str, html: &str) {
    assert!(html.contains("<html lang=\"zh-Hans\">"), "{page}");
    let said = texts(html);
    assert!(said.len() > 20, "{page} says {said:?}");
    for (table, words) in TABLES {
        for (key, english, chinese) in words.iter().filter(|(_, english, chinese)| english != chinese) {
            let parts = english.split("{}").map(str::trim).filter(|part| part.len() > 12);
            let longer: Vec<&str> = parts.collect();
            for text in &said {
                let is_english = text == english || longer.iter().any(|part| text.contains(part));
                assert!(
                    !is_english,
                    "{page} says {table}.{key} in English, {text:?} for {chinese:?}"
                );
            }
        }
    }
}

#[test]
fn chinese_pages_of_records_and_answers_say_nothing_in_english() {
    let generation = generation();
    let locale = Locale::from(CHINESE);
    let home = pages::lookup::home_page("http://localhost".to_owned(), 1, locale);
    assert_nothing_is_english("home", &home.render().unwrap());

    for text in [
        "CUDA error: peer access is not supported between these two devices",
        "all is well",
    ] {
        let answer = look_up(&generation, text.as_bytes(), MatchOptions::default()).unwrap();
        let page = pages::lookup::page(pages::lookup::Source {
            generation: &generation,
            answer: &answer,
            found: None,
            echo: text,
            environment: &std::collections::BTreeMap::new(),
            locale,
        });
        assert_nothing_is_english("answer", &page.render().unwrap());
    }

    for query in ["", "peer access", "zzzzzz"] {
        let request = SearchRequest {
            text: query.to_owned(),
            ..SearchRequest::default()
        };
        let answer = crate::domain::search::search(&generation, &request).unwrap();
        let params = pages::search::Params {
            q: query.to_owned(),
            ..pages::search::Params::default()
        };
        let page = pages::search::page(&generation, &params, &answer, locale);
        assert_nothing_is_english("search", &page.render().unwrap());
    }

    let published = generation.records().next().unwrap();
    let page = pages::record::page(
        pages::record::Source {
            record: &published.record,
            revision: published.revision,
            withdrawn: true,
            forced: Some("123"),
            neighbours: &[],
        },
        locale,
    );
    assert_nothing_is_english("record", &page.render().unwrap());
}

fn report() -> Report {
    let bytes = include_bytes!("../../../../../kb-core/tests/data/reports/h200-x2-nccl.json");
    serde_json::from_slice(bytes).unwrap()
}

fn listing(report: &Report) -> ReportListing {
    ReportListing {
        node: report.node.id.clone(),
        id: report.report_id.clone(),
        hostname: None,
        finished_at: OffsetDateTime::UNIX_EPOCH,
        received_at: OffsetDateTime::UNIX_EPOCH,
        simulated: true,
        verdict: report.conclusion.verdict,
        weight: Weight::Proof,
        reason: report.conclusion.reason.clone(),
        gpus: 2,
        findings: 0,
    }
}

#[test]
fn chinese_pages_of_nodes_say_nothing_in_english() {
    let report = report();
    let look = ReportListing {
        id: "look".parse().unwrap(),
        ..listing(&report)
    };
    let node = NodeListing {
        id: report.node.id.clone(),
        hostname: Some("gpu07".to_owned()),
        labels: [("rack".to_owned(), "r17".to_owned())].into(),
        first_seen: OffsetDateTime::UNIX_EPOCH,
        reports: 2,
        latest: listing(&report),
        last_seen: look,
    };
    let fleet = Fleet {
        nodes: 2,
        gpus: 4,
        verdicts: vec![VerdictCount {
            verdict: Verdict::Broken,
            nodes: 2,
            gpus: 4,
            simulated: 1,
        }],
        faults: vec![Fault {
            record: None,
            rule: "unexplained".to_owned(),
            title: "refused".to_owned(),
            severity: Some(Severity::Fatal),
            is_notice: false,
            nodes: 2,
        }],
        silent: 1,
        oldest: vec![HeardNode {
            id: report.node.id.clone(),
            hostname: None,
            at: OffsetDateTime::UNIX_EPOCH,
        }],
    };
    let locale = Locale::from(CHINESE);
    let together = pages::together::together(fleet, locale);
    let base = "http://localhost".to_owned();
    let page = pages::nodes::nodes_page(std::slice::from_ref(&node), true, None, together, base, locale);
    assert_nothing_is_english("nodes", &page.render().unwrap());
    let page = pages::nodes::node_page(
        &node,
        &[NodeEvent {
            at: OffsetDateTime::UNIX_EPOCH,
            report: None,
            change: NodeChange::ClockRight,
        }],
        std::slice::from_ref(&node.latest),
        Some("/nodes/x".to_owned()),
        locale,
    );
    assert_nothing_is_english("node", &page.render().unwrap());
}

#[test]
fn a_chinese_page_of_a_report_says_nothing_in_english() {
    let report = report();
    let listing = listing(&report);
    let page = pages::report::page(pages::report::Source {
        listing: &listing,
        report: &report,
        findings: &[],
        generation: &generation(),
        locale: CHINESE.into(),
    });
    assert_nothing_is_english("report", &page.render().unwrap());
}

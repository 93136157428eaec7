//! A Chinese page says nothing in English.

use std::sync::Arc;
use std::time::Duration;

use askama::Template as _;
use kb_core::report::Report;
use kb_core::signature::PatternSpec;
use time::OffsetDateTime;

use super::texts;
use crate::domain::baseline::Review;
use crate::domain::hits::Hits;
use crate::domain::lookup::{MatchOptions, look_up};
use crate::domain::workbench::{Answer, Question, Subject, Workbench};
use crate::feed::Generation;
use crate::feed::samples::{PEER_ACCESS, generation_of};
use crate::render::answer::origin::Only;
use crate::render::i18n::tests::messages;
use crate::render::i18n::{Language, Locale};
use crate::render::record;
use crate::store::{ReportListing, Unmatched, UnmatchedHistory, UnmatchedState, Weight};
use crate::web::pages;
use crate::web::tab_module::TabModule;
use peerless_search::SearchRequest;

pub(super) const CHINESE: Language = Language::Chinese;

pub(super) fn generation() -> Arc<Generation> {
    generation_of(&[(PEER_ACCESS.0.to_owned(), PEER_ACCESS.1.to_owned())])
}

/// No text is one of the English tables, whole; the longer ones not even within another text.
pub(super) fn assert_nothing_is_english(page: &str, html: &str) {
    assert!(html.contains("<html lang=\"zh-Hans\">"), "{page}");
    let said = texts(html);
    assert!(said.len() > 15, "{page} says {said:?}");
    for (english, chinese) in messages() {
        let key = english.key;
        for english in english.forms.iter().filter(|form| !chinese.forms.contains(form)) {
            let parts = english.split("{}").map(str::trim).filter(|part| part.len() > 12);
            let longer: Vec<&str> = parts.collect();
            for text in &said {
                let is_english = text == english || longer.iter().any(|part| text.contains(part));
                assert!(!is_english, "{page} says {key} in English: {text:?}");
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
    let module = TabModule::new(Vec::new(), Vec::new());
    let tab = pages::tab::page(&module, locale);
    assert_nothing_is_english("a log in the tab", &tab.render().unwrap());

    for text in [
        "CUDA error: peer access is not supported between these two devices",
        "all is well",
    ] {
        let answer = look_up(&generation, text.as_bytes(), MatchOptions::default()).unwrap();
        let page = pages::lookup::page(pages::lookup::Source {
            generation: &generation,
            answer: &answer,
            found: None,
            hits: &Hits::default(),
            text: Some(text),
            kept: None,
            shares: true,
            echo: text,
            environment: &std::collections::BTreeMap::new(),
            only: &Only::default(),
            base_url: "",
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
        record::Source {
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

#[test]
fn the_chinese_pages_of_unknown_lines_say_nothing_in_english() {
    let one = |state, assignee: Option<&str>| Unmatched {
        id: "0123456789abcdef".to_owned(),
        template: "x <number> failed".to_owned(),
        examples: vec!["x 1 failed".to_owned()],
        count: 3,
        nodes: 2,
        first_seen: OffsetDateTime::UNIX_EPOCH,
        last_seen: OffsetDateTime::UNIX_EPOCH,
        state,
        assignee: assignee.map(str::to_owned),
        reason: Some("演练".to_owned()),
        record: Some("cuda/x".parse().unwrap()),
        changed_by: Some("管理员".to_owned()),
        changed_at: Some(OffsetDateTime::UNIX_EPOCH),
    };
    for state in UnmatchedState::ALL {
        let history = UnmatchedHistory {
            unmatched: one(state, Some("管理员")),
            by_day: vec![("2026-11-28".to_owned(), 3)],
            by_node: vec![(String::new(), 3)],
        };
        let made = (Some("x".to_owned()), &["cuda/x"] as &[&str]);
        for caller in ["管理员", ""] {
            let page = pages::unmatched::one_page(
                history.clone(),
                made.clone(),
                (String::new(), caller),
                CHINESE.into(),
            );
            assert_nothing_is_english("unknown lines", &page.render().unwrap());
        }
    }
    for found in [vec![], vec![one(UnmatchedState::Open, None); 60]] {
        let page = pages::unmatched::page(
            found,
            pages::unmatched::UnmatchedParams::default(),
            CHINESE.into(),
        );
        assert_nothing_is_english("unknown lines", &page.render().unwrap());
    }
}

#[test]
fn the_chinese_pages_of_kept_lines_say_nothing_in_english() {
    use pages::kept::State;
    let text = || "x".to_owned();
    for state in [
        State::Shown {
            are_more: true,
            lines: vec![text()],
            action: text(),
        },
        State::Shown {
            are_more: true,
            lines: vec![],
            action: text(),
        },
        State::Kept {
            until: text(),
            link: text(),
        },
        State::Asked { action: text() },
        State::Deleted,
    ] {
        let page = pages::kept::page(state, text(), CHINESE.into());
        assert_nothing_is_english("kept lines", &page.render().unwrap());
    }
}

#[test]
fn chinese_pages_of_shared_answers_say_nothing_in_english() {
    use crate::domain::shared::{Kept, Shared, Unknown};
    use pages::lookup::SharedView;
    let (generation, locale) = (generation(), Locale::from(CHINESE));
    let text = "CUDA error: peer access is not supported between these two devices\nzorgblat failed";
    let found = look_up(&generation, text.as_bytes(), MatchOptions::default()).unwrap();
    let unknown = Unknown {
        looked: true,
        numbers: &[2],
        are_more: false,
    };
    let ordered: Vec<_> = found.matches.iter().collect();
    let shared = Shared::of(&found, &ordered, unknown, Some(text)).settled();
    assert_eq!(Shared::read(&shared.to_json()), Some(shared.clone()));
    let answer = shared.answer(&generation, &shared.held(&generation));
    let kept = Kept {
        shared: shared.clone(),
        made: OffsetDateTime::UNIX_EPOCH,
        until: OffsetDateTime::UNIX_EPOCH,
    };
    for view in [
        SharedView::of_preview(&shared, false, locale),
        SharedView::of_preview(&shared, true, locale),
        SharedView::of_kept(&kept, "/a/x".to_owned(), locale),
    ] {
        let page = pages::lookup::page(pages::lookup::Source {
            generation: &generation,
            answer: &answer,
            found: None,
            hits: &Hits::of_answer(&answer),
            text: None,
            kept: Some(&shared),
            shares: false,
            echo: "",
            environment: &std::collections::BTreeMap::new(),
            only: &Only::default(),
            base_url: "",
            locale,
        });
        assert_nothing_is_english("shared", &page.of_shared(view).render().unwrap());
    }
    let links = ("/a/x".to_owned(), "/kept/x".to_owned());
    let page = pages::shared::made_page(links, "x".to_owned(), locale);
    assert_nothing_is_english("shared", &page.render().unwrap());
}

#[test]
fn chinese_pages_of_errors_say_nothing_in_english() {
    use crate::web::error::Code;
    use pages::failure::{Asked, Kind};
    for kind in [
        Kind::Record,
        Kind::OfRecord,
        Kind::Node,
        Kind::Report,
        Kind::Domain,
        Kind::Kept,
        Kind::Answer,
        Kind::Unmatched,
        Kind::Address,
        Kind::Other,
    ] {
        for code in Code::ALL {
            let asked = Asked {
                kind,
                ..Asked::nothing(CHINESE.into())
            };
            let page = pages::failure::page(*code, "there is no such thing", asked);
            assert_nothing_is_english("error", &page.render().unwrap());
        }
    }
}

#[test]
fn the_chinese_workbench_says_nothing_in_english() {
    let page = |lines: &str, pattern: &str| {
        let answer = workbench(lines, pattern);
        let asked = pages::workbench::Asked {
            lines: lines.to_owned(),
            pattern: pattern.to_owned(),
            csrf: None,
        };
        pages::workbench::page(asked, answer.as_ref(), CHINESE.into())
            .render()
            .unwrap()
    };
    for (lines, pattern) in [
        ("", ""),
        ("CUDA error: peer access is not supported\ninfo", ""),
        ("x", "NCCL INFO"),
        ("1234", "[0-9]{4}"),
        ("alpha\n12", ""),
    ] {
        assert_nothing_is_english("workbench", &page(lines, pattern));
    }
}

fn workbench(lines: &str, pattern: &str) -> Option<Answer> {
    if lines.is_empty() {
        return None;
    }
    let question = Question {
        lines: lines.lines().map(str::to_owned).collect(),
        propose: true,
        subject: (!pattern.is_empty()).then(|| {
            Subject::Pattern(PatternSpec {
                id: "tried".to_owned(),
                regex: pattern.to_owned(),
                flags: String::new(),
                captures: Vec::new(),
            })
        }),
    };
    let limit = Duration::from_secs(30);
    Some(Workbench::default().answer(question, &generation(), &[], limit))
}

pub(super) fn report() -> Report {
    let bytes = include_bytes!("../../../../../kb-core/tests/data/reports/h200-x2-nccl.json");
    serde_json::from_slice(bytes).unwrap()
}

pub(super) fn listing(report: &Report) -> ReportListing {
    ReportListing {
        node: report.node.id.clone(),
        id: report.report_id.clone(),
        hostname: None,
        finished_at: OffsetDateTime::UNIX_EPOCH,
        received_at: OffsetDateTime::UNIX_EPOCH,
        ended_at: None,
        simulated: true,
        verdict: report.conclusion.verdict,
        weight: Weight::Proof,
        reason: report.conclusion.reason.clone(),
        gpus: 2,
        findings: 0,
    }
}

#[test]
fn a_chinese_page_of_a_report_says_nothing_in_english() {
    let report = report();
    let listing = listing(&report);
    let page = pages::report::page(pages::report::Source {
        listing: &listing,
        report: &report,
        findings: &[],
        review: &Review::alone(&report),
        generation: &generation(),
        locale: CHINESE.into(),
    });
    assert_nothing_is_english("report", &page.render().unwrap());
}

//! `/workbench`: lines and a pattern in a form, and below it what the pattern would take. The script asks while one types; the
//! button does the same without it.

use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::evidence::visible;
use super::html_not_shared;
use super::layout::{Layout, Section};
use crate::domain::workbench::{Answer, Found, PatternView, Taken};
use crate::render::i18n::Locale;
use crate::render::i18n::workbench::Words;
use crate::render::words::{Link, Row, bytes, record_href};
use crate::web::api::workbench::WorkbenchRequest;
use crate::web::auth::Editor;
use crate::web::compute::Desk;
use crate::web::error::Problem;
use crate::web::pages::locale;
use crate::web::session::{Form, Session};
use crate::web::state::AppState;

/// How long kept reports are read while one types; what was read stays for the next letter.
const PATIENCE: Duration = Duration::from_millis(150);

#[derive(Debug, Template)]
#[template(path = "pages/workbench.html")]
pub struct WorkbenchPage {
    layout: Layout,
    words: &'static Words,
    action: String,
    asked: Asked,
    result: Option<ResultView>,
}

#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub lines: String,
    pub pattern: String,
    /// The proof of the session; absent for whoever comes with a token.
    pub csrf: Option<String>,
}

#[derive(Debug)]
struct ResultView {
    /// The pattern that was made, unless it is the one in the form.
    proposal: Option<String>,
    no_proposal: Option<String>,
    tried: Vec<TriedView>,
    findings: Vec<String>,
    lines: Vec<PastedView>,
    places: Vec<PlaceView>,
}

#[derive(Debug)]
struct TriedView {
    regex: String,
    literals: Vec<String>,
    captures: String,
    cost: Option<String>,
    refused: Option<String>,
}

#[derive(Debug)]
struct PastedView {
    number: u64,
    text: String,
    is_taken: bool,
    is_generic: bool,
    captures: Vec<Row>,
    records: Vec<Link>,
}

/// What was found in one place, and how far was looked.
#[derive(Debug)]
struct PlaceView {
    name: &'static str,
    count: u64,
    lines: Vec<TakenView>,
    more: Option<String>,
    looked: String,
}

#[derive(Debug)]
struct TakenView {
    place: Option<Link>,
    is_own: bool,
    line: u64,
    text: String,
}

pub async fn get(_: Editor, session: Option<Session>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let asked = Asked {
        csrf: session.map(|session| session.csrf),
        ..Asked::default()
    };
    html_not_shared(&page(asked, None, locale::of(&request)))
}

pub async fn post(
    _: Editor,
    session: Option<Session>,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["lines", "pattern", "take"])?;
    let lines = form.get("lines").to_owned();
    // The button beside the proposal puts it into the form.
    let taken = Some(form.get("take")).filter(|taken| !taken.is_empty());
    let pattern = taken.unwrap_or_else(|| form.get("pattern")).trim().to_owned();
    let locale = locale::of(&request);
    let nothing = lines.trim().is_empty() && pattern.is_empty();
    let answer = if nothing {
        None
    } else {
        let tried = (!pattern.is_empty()).then(|| pattern.clone());
        let asked = WorkbenchRequest::of_form(vec![lines.clone()], tried);
        Some(asked.answer(&state, &Desk::of(&request), PATIENCE).await?)
    };
    let csrf = session.map(|session| session.csrf);
    let asked = Asked { lines, pattern, csrf };
    html_not_shared(&page(asked, answer.as_ref(), locale))
}

pub fn page(asked: Asked, answer: Option<&Answer>, locale: Locale) -> WorkbenchPage {
    let words = Words::of(locale.language);
    let mut layout = Layout::new(words.title, Section::Workbench)
        .spoken(locale)
        .in_both("/workbench");
    if let Some(answer) = answer {
        layout = layout.at(answer.kb.seq);
    }
    WorkbenchPage {
        layout,
        words,
        action: locale.href("/workbench"),
        result: answer.map(|answer| result(answer, &asked.pattern, words, locale)),
        asked,
    }
}

fn result(answer: &Answer, pattern: &str, words: &'static Words, locale: Locale) -> ResultView {
    let proposed = answer.proposal.as_ref().map(|proposal| proposal.regex.clone());
    let named = [
        (words.examples, answer.examples.as_ref()),
        (words.near_misses, answer.near_misses.as_ref()),
        (words.clean, answer.clean.as_ref()),
    ];
    let further = answer
        .sources
        .iter()
        .map(|source| (words.logs, Some(&source.found)));
    let places = named
        .into_iter()
        .chain(further)
        .filter_map(|(name, found)| Some(place(name, found?, words, locale)));
    let lines = answer.lines.iter().map(|line| PastedView {
        number: line.line,
        text: visible(&line.text),
        is_taken: line.taken.is_some(),
        is_generic: line.is_generic,
        captures: line
            .captures
            .iter()
            .map(|(name, value)| Row::new(name, visible(value)))
            .collect(),
        records: line
            .taken_by
            .iter()
            .map(|id| Link {
                href: locale.href(record_href(id.as_str())),
                text: id.to_string(),
            })
            .collect(),
    });
    ResultView {
        proposal: proposed.filter(|proposed| proposed != pattern),
        // A pattern that is there needs no proposal.
        no_proposal: answer.no_proposal.clone().filter(|_| pattern.is_empty()),
        tried: answer
            .patterns
            .iter()
            .map(|pattern| tried(pattern, words))
            .collect(),
        findings: answer
            .findings
            .iter()
            .map(|found| format!("{}; {}", found.reason, found.fix))
            .collect(),
        lines: lines.collect(),
        places: places.collect(),
    }
}

fn tried(pattern: &PatternView, words: &Words) -> TriedView {
    let captures = match pattern.captures.as_slice() {
        [] => words.no_captures.to_owned(),
        captures => captures.join(words.comma),
    };
    let count = |ways: usize| u64::try_from(ways).unwrap_or(u64::MAX);
    let cost = pattern.ways.zip(pattern.most_ways);
    TriedView {
        regex: pattern.regex.clone(),
        literals: pattern.literals.clone(),
        captures,
        cost: cost.map(|(ways, most)| words.ways(count(ways), count(most))),
        refused: pattern
            .refused
            .as_ref()
            .map(|refused| format!("{}; {}", refused.reason, refused.fix)),
    }
}

fn place(name: &'static str, found: &Found, words: &Words, locale: Locale) -> PlaceView {
    let looked_at = &found.looked_at;
    let size = bytes(looked_at.bytes);
    let left = found.count.saturating_sub(found.lines.len() as u64);
    PlaceView {
        name,
        count: found.count,
        lines: found.lines.iter().map(|taken| line(taken, locale)).collect(),
        more: (left > 0).then(|| words.more(left)),
        looked: if looked_at.is_complete {
            words.looked(looked_at.texts, &size)
        } else {
            words.looked_in_part(looked_at.texts, &size)
        },
    }
}

fn line(taken: &Taken, locale: Locale) -> TakenView {
    let record = taken.record.as_ref().map(|id| Link {
        href: locale.href(record_href(id.as_str())),
        text: id.to_string(),
    });
    let report = taken.node.as_ref().zip(taken.report.as_ref());
    let report = report.map(|(node, report)| Link {
        href: locale.href(format!("/reports/{}?node={}", report.as_str(), node.as_str())),
        text: format!("{} {}", node.as_str(), report.as_str()),
    });
    TakenView {
        place: record.or(report),
        is_own: taken.is_own,
        line: taken.line,
        text: visible(&taken.text),
    }
}

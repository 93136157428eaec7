//! `/feedback`: what waits for an editor, and where claims and outcomes disagree.

use actix_web::http::header;
use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use serde::Deserialize;
use serde_json::Value;

use crate::domain::feedback as domain;
use crate::domain::outcomes::{Disagreement, disagreements};
use crate::render::i18n::Locale;
use crate::render::i18n::feedback::Words;
use crate::render::words::{moment, record_href};
use crate::store::{Feedback, FeedbackKind, FeedbackState, VoteOutcome, VoterKind};
use crate::web::auth::Editor;
use crate::web::error::{Code, Problem};
use crate::web::feedback;
use crate::web::limits::PAGE_DEFAULT;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::{html_not_shared, locale};
use crate::web::session::{Form, Session};
use crate::web::state::AppState;

const MOST: usize = 100;

#[derive(Debug, Template)]
#[template(path = "pages/feedback.html")]
struct QueuePage {
    layout: Layout,
    words: &'static Words,
    csrf: String,
    tabs: Vec<Tab>,
    /// Whether the entries that are shown wait.
    waiting: bool,
    entries: Vec<Entry>,
    next: Option<String>,
    disagreements: Vec<Row>,
}

#[derive(Debug)]
struct Tab {
    name: &'static str,
    href: String,
    current: bool,
}

#[derive(Debug)]
struct Entry {
    n: i64,
    kind: &'static str,
    record: String,
    href: String,
    edit_href: String,
    from: String,
    at: String,
    text: String,
    details: Vec<String>,
    decision: Option<String>,
}

#[derive(Debug)]
struct Row {
    record: String,
    href: String,
    action: String,
    claimed: String,
    found: String,
    gap: String,
}

#[derive(Debug, Deserialize)]
pub struct QueueParams {
    state: Option<String>,
    before: Option<i64>,
}

pub async fn get(
    _: Editor,
    session: Option<Session>,
    request: HttpRequest,
    params: Query<QueueParams>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let locale = locale::of(&request);
    let words = Words::of(locale.language);
    let wanted = match params.state.as_deref() {
        None | Some("") => FeedbackState::Waiting,
        Some(word) => FeedbackState::from_word(word).ok_or_else(|| {
            Problem::new(
                Code::BadQuery,
                format!("{word:?} is no state: waiting, taken, ignored"),
            )
        })?,
    };
    let entries = state.store.feedback(wanted, params.before, PAGE_DEFAULT + 1);
    let mut entries = entries.await?;
    let more = entries.len() > PAGE_DEFAULT as usize;
    entries.truncate(PAGE_DEFAULT as usize);
    let next = entries.last().filter(|_| more).map(|last| {
        let address = format!("/feedback?state={}&before={}", wanted.as_str(), last.n);
        locale.href(address)
    });
    let generation = state.knowledge.current();
    let rows = disagreements(&generation, &state.shares);
    html_not_shared(&QueuePage {
        layout: Layout::new(format!("{} · Peerless", words.title), Section::Feedback)
            .in_both("/feedback")
            .spoken(locale),
        words,
        csrf: session.map(|session| session.csrf).unwrap_or_default(),
        tabs: tabs(wanted, locale),
        waiting: wanted == FeedbackState::Waiting,
        entries: entries.into_iter().map(|entry| shown(entry, locale)).collect(),
        next,
        disagreements: rows
            .into_iter()
            .take(MOST)
            .map(|row| row_of(row, locale))
            .collect(),
    })
}

pub async fn post(
    editor: Editor,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["do", "n", "reason"])?;
    let decision = match form.get("do") {
        "take" => FeedbackState::Taken,
        "ignore" => FeedbackState::Ignored,
        other => {
            let detail = format!("the form has no button {other:?}");
            return Err(Problem::new(Code::MalformedBody, detail));
        }
    };
    let n = form.get("n");
    let n = n
        .parse()
        .map_err(|_| Problem::new(Code::MalformedBody, format!("{n:?} is no number")))?;
    let (store, by, now) = (state.store.as_ref(), editor.0.by(), state.clock.now());
    domain::decide(store, n, decision, form.get("reason"), &by, now)
        .await
        .map_err(|error| feedback::refused(&state, error))?;
    Ok(HttpResponse::SeeOther()
        .insert_header((header::LOCATION, locale::of(&request).href("/feedback")))
        .finish())
}

fn tabs(current: FeedbackState, locale: Locale) -> Vec<Tab> {
    let words = Words::of(locale.language);
    let tab = |state: FeedbackState| Tab {
        name: match state {
            FeedbackState::Waiting => words.waiting,
            FeedbackState::Taken => words.taken,
            FeedbackState::Ignored => words.ignored,
        },
        href: locale.href(format!("/feedback?state={}", state.as_str())),
        current: state == current,
    };
    FeedbackState::ALL.map(tab).into()
}

fn shown(entry: Feedback, locale: Locale) -> Entry {
    let words = Words::of(locale.language);
    let href = record_href(entry.record.as_str());
    // What this program wrote can be read; of another version as much as it shares is shown.
    let body: Value = serde_json::from_str(&entry.body).unwrap_or_default();
    let text = |key: &str| {
        body.get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let mut details = Vec::new();
    let (kind, said) = match entry.kind {
        FeedbackKind::Suggestion => {
            let source = text("source");
            if !source.is_empty() {
                details.push(format!("{}: {source}", words.source));
            }
            (words.suggestion, text("text"))
        }
        FeedbackKind::Vote => {
            details.push(format!("{} {}", text("tried"), text("action")));
            let environment = body.get("environment").and_then(Value::as_object);
            for (name, value) in environment.into_iter().flatten() {
                details.push(format!("{name} {}", value.as_str().unwrap_or_default()));
            }
            (words.vote, outcome_word(&text("outcome"), words))
        }
    };
    Entry {
        n: entry.n,
        kind,
        record: entry.record.to_string(),
        edit_href: locale.href(format!("{href}/-/edit")),
        href: locale.href(href),
        from: from(entry.from.kind, entry.name, words),
        at: moment(entry.at),
        text: said,
        details,
        decision: entry
            .decided
            .map(|(by, at, reason)| format!("{by}, {}: {reason}", moment(at))),
    }
}

fn outcome_word(word: &str, words: &Words) -> String {
    match VoteOutcome::from_word(word) {
        Some(VoteOutcome::Worked) => words.outcome_worked.to_owned(),
        Some(VoteOutcome::DidNotHelp) => words.outcome_did_not_help.to_owned(),
        Some(VoteOutcome::CameBack) => words.outcome_came_back.to_owned(),
        None => word.to_owned(),
    }
}

fn from(kind: VoterKind, name: String, words: &Words) -> String {
    match kind {
        VoterKind::Person => name,
        VoterKind::Anonymous => words.nobody.to_owned(),
        VoterKind::Assistant => format!("{}: {name}", words.assistant),
        VoterKind::Token => format!("{}: {name}", words.token),
    }
}

fn row_of(row: Disagreement, locale: Locale) -> Row {
    let percent = |share: f64| format!("{:.0}", share * 100.0);
    let range = |low: f64, high: f64| match (percent(low), percent(high)) {
        (low, high) if low == high => format!("{low} %"),
        (low, high) => format!("{low}–{high} %"),
    };
    Row {
        href: locale.href(record_href(row.record.as_str())),
        record: row.record.to_string(),
        action: row.action,
        claimed: range(row.claimed_low, row.claimed_high),
        found: format!(
            "{} / {} ({})",
            row.share.worked,
            row.share.n,
            range(row.share.low, row.share.high)
        ),
        gap: percent(row.gap),
    }
}

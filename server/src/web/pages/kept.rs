//! `/unknown` and `/kept/{key}`: lines of a pasted text that no record knows, shown without names, and kept if their owner says
//! so; and the link by which they, and answers that were shared, are taken back.

use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::layout::{Layout, Section};
use super::lookup::body;
use super::{html_not_shared, locale};
use crate::domain::anonymous::{A_DAY, AnonymousError};
use crate::domain::unmatched::{self, KeepError, UnknownLines, UnknownSearch, keepable};
use crate::render::i18n::Locale;
use crate::render::i18n::kept::Words;
use crate::render::words::moment;
use crate::web::anonymous;
use crate::web::auth::Anyone;
use crate::web::compute::ALL_RECORDS;
use crate::web::error::{Code, Problem};
use crate::web::limits;
use crate::web::lookup::in_turns;
use crate::web::session::{Form, Session};
use crate::web::state::AppState;

const KEY_BYTES: usize = 16;

#[derive(Debug, Template)]
#[template(path = "pages/kept.html")]
pub struct KeptPage {
    pub(in crate::web::pages) layout: Layout,
    pub(in crate::web::pages) words: &'static Words,
    pub(in crate::web::pages) title: &'static str,
    pub(in crate::web::pages) csrf: String,
    pub(in crate::web::pages) state: State,
}

#[derive(Debug)]
pub enum State {
    /// The lines that would be kept, and where the form leads.
    Shown {
        lines: Vec<String>,
        /// The text has more such lines than are looked at.
        are_more: bool,
        action: String,
    },
    /// They are kept: until when, and the link that deletes them.
    Kept {
        until: String,
        link: String,
    },
    /// The link was followed.
    Asked {
        action: String,
    },
    Deleted,
}

pub(in crate::web::pages) fn page(state: State, csrf: String, locale: Locale) -> KeptPage {
    let words = Words::of(locale.language);
    let title = match state {
        State::Shown { .. } | State::Kept { .. } => words.title,
        State::Asked { .. } | State::Deleted => words.own,
    };
    KeptPage {
        layout: Layout::new(format!("{title} · Peerless"), Section::Lookup).spoken(locale),
        words,
        title,
        csrf,
        state,
    }
}

/// Shows what would be kept. Nothing is kept by that.
pub async fn show(
    _: Anyone,
    session: Option<Session>,
    request: HttpRequest,
    payload: Payload,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let allowed = anonymous::nobody(&state, &request).check();
    allowed.map_err(|error| refuse(&state, error))?;
    let text = body::text_of_form(&request, payload).await?;
    let (lines, are_more) = keepable(unknown_lines(&request, &state, text).await?);
    let locale = locale::of(&request);
    let action = locale.href("/unknown/keep");
    let csrf = session.map(|session| session.csrf).unwrap_or_default();
    html_not_shared(&page(
        State::Shown {
            lines,
            are_more,
            action,
        },
        csrf,
        locale,
    ))
}

async fn unknown_lines(
    request: &HttpRequest,
    state: &AppState,
    text: String,
) -> Result<UnknownLines, Problem> {
    let matcher = &state.knowledge.current().matcher;
    let mut search = UnknownSearch::of(matcher, text, None, limits::WORK_TIME);
    let step = move || (search.step().map(Ok::<_, Problem>), search.memory_usage());
    in_turns(request, ALL_RECORDS, step).await
}

/// Keeps the lines that were shown. They are read and redacted again: the form may have been changed.
pub async fn keep(
    _: Anyone,
    session: Option<Session>,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["lines"])?;
    let text = form.get("lines").to_owned();
    let nobody = anonymous::nobody(&state, &request);
    nobody.check().map_err(|error| refuse(&state, error))?;
    let (lines, _) = keepable(unknown_lines(&request, &state, text).await?);
    let key = new_key(&state)?;
    let kept = unmatched::keep(state.store.as_ref(), nobody, (lines, &key), state.clock.now()).await;
    let (until, kept) = kept.map_err(|error| match error {
        KeepError::NoLines => Problem::new(Code::MalformedBody, error.to_string()),
        KeepError::Anonymous(error) => refuse(&state, error),
        KeepError::Store(error) => error.into(),
    })?;
    anonymous::count(&state, kept);
    let until = moment(until);
    let locale = locale::of(&request);
    let link = locale.href(format!("/kept/{key}"));
    let csrf = session.map(|session| session.csrf).unwrap_or_default();
    html_not_shared(&page(State::Kept { until, link }, csrf, locale))
}

/// The link: following it deletes nothing, for mail programs follow links, too.
pub async fn ask(
    _: Anyone,
    session: Option<Session>,
    request: HttpRequest,
    key: Path<String>,
) -> Result<HttpResponse, Problem> {
    check_key(&key)?;
    let locale = locale::of(&request);
    let action = locale.href(format!("/kept/{key}"));
    let csrf = session.map(|session| session.csrf).unwrap_or_default();
    html_not_shared(&page(State::Asked { action }, csrf, locale))
}

pub async fn delete(
    _: Anyone,
    request: HttpRequest,
    key: Path<String>,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&[])?;
    check_key(&key)?;
    if !unmatched::take_back(state.store.as_ref(), &key).await? {
        return Err(nothing());
    }
    html_not_shared(&page(State::Deleted, String::new(), locale::of(&request)))
}

/// A login would change nothing: lines are counted by address, whoever sends them.
fn refuse(state: &AppState, error: AnonymousError) -> Problem {
    match error {
        AnonymousError::Off => Problem::new(Code::NotFound, "this server keeps no lines of pasted texts"),
        AnonymousError::TooManyToday => {
            let detail = format!("{A_DAY} entries came from this address today: try again tomorrow (UTC)");
            anonymous::refuse_with(state, error, detail)
        }
        AnonymousError::TooLarge => anonymous::refuse(state, error),
    }
}

fn nothing() -> Problem {
    Problem::new(
        Code::NotFound,
        "nothing is kept under this link: it was deleted, or its time is over",
    )
}

pub(super) fn new_key(state: &AppState) -> Result<String, Problem> {
    let mut bytes = [0; KEY_BYTES];
    let drawn = state.random.fill(&mut bytes);
    drawn.map_err(|error| Problem::internal(&error))?;
    Ok(hex::encode(bytes))
}

fn check_key(key: &str) -> Result<(), Problem> {
    let is_key = key.len() == 2 * KEY_BYTES && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_key { Ok(()) } else { Err(nothing()) }
}

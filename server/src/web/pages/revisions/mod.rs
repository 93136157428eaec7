//! `/r/{id}/-/revisions`: who changed a record, when, why, and what; for editors also drafts, reviews and comments.
//!
//! ```text
//! diff   what changed, by field and by line        review  the open review, comments, and what it would do
//! steps  the forms: ask, approve, send back, go back, comment       mod  the page
//! ```

mod diff;
mod review;
pub mod steps;

use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::ids::{RecordId, Revision};
use serde::Deserialize;

pub use diff::{Diff, diff};
pub use review::ReviewPart;

use super::layout::{Layout, Section};
use super::{html, html_not_shared, locale};
use crate::render::i18n::{Locale, history::Words};
use crate::render::words::{moment, record_href};
use crate::store::{RevisionMeta, RevisionTexts, Scope};
use crate::web::auth::Anyone;
use crate::web::error::{Code, Problem};
use crate::web::session::Session;
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/revisions.html")]
pub struct RevisionsPage {
    pub(super) layout: Layout,
    pub(super) words: &'static Words,
    pub(super) id: String,
    pub(super) record_href: String,
    pub(super) revisions: Vec<RevisionRow>,
    pub(super) diff: Option<Diff>,
    /// The diff is what the open review is about: it stands with the question.
    pub(super) is_asked: bool,
    /// For those who may edit.
    pub(super) review: Option<ReviewPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionRow {
    /// `r8`.
    pub revision: String,
    pub number: u32,
    pub published: bool,
    /// True where readers have not seen it.
    pub draft: bool,
    pub at: String,
    pub actor: String,
    /// Why; empty where nobody said.
    pub note: String,
    pub diff_href: Option<String>,
    /// `since r7`.
    pub diff_text: String,
    /// True where the page shows them now.
    pub shown: bool,
}

/// Builds the page. `metas` are newest first; `shown` is the revision whose changes stand below, with the diff.
pub fn page(
    id: &RecordId,
    published: Option<Revision>,
    metas: &[RevisionMeta],
    shown: Option<(Revision, Diff)>,
    locale: Locale,
) -> RevisionsPage {
    let words = Words::of(locale.language);
    let shown_revision = shown.as_ref().map(|(revision, _)| *revision);
    let rows = metas.iter().enumerate().map(|(position, meta)| {
        let before = metas.get(position + 1).map(|before| before.revision);
        row(id, published, meta, (before, shown_revision), locale)
    });
    let href = record_href(id.as_str());
    let title = format!("{} · Peerless", words.heading(id.as_str()));
    RevisionsPage {
        layout: Layout::new(title, Section::Search)
            .in_both(&format!("{href}/-/revisions"))
            .spoken(locale),
        words,
        id: id.to_string(),
        record_href: locale.href(href),
        revisions: rows.collect(),
        diff: shown.map(|(_, diff)| diff),
        is_asked: false,
        review: None,
    }
}

fn row(
    id: &RecordId,
    published: Option<Revision>,
    meta: &RevisionMeta,
    (before, shown): (Option<Revision>, Option<Revision>),
    locale: Locale,
) -> RevisionRow {
    let words = Words::of(locale.language);
    let href = |before: Revision| {
        locale.href(format!(
            "{}/-/revisions?from={}&to={}#diff",
            record_href(id.as_str()),
            before.0,
            meta.revision.0
        ))
    };
    let since = |before: Revision| words.since(&before.to_string());
    RevisionRow {
        revision: meta.revision.to_string(),
        number: meta.revision.0,
        published: published == Some(meta.revision),
        draft: published.is_none_or(|published| published < meta.revision),
        at: moment(meta.at),
        actor: meta.actor.clone(),
        note: meta.note.clone().unwrap_or_default(),
        diff_href: before.map(href),
        diff_text: before.map(since).unwrap_or_default(),
        shown: shown == Some(meta.revision),
    }
}

/// What the address may say: the revisions to compare; without them the newest with the one before it.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct Params {
    pub from: Option<u32>,
    pub to: Option<u32>,
}

pub async fn get(
    caller: Anyone,
    session: Option<Session>,
    request: HttpRequest,
    id: Path<String>,
    params: Query<Params>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let id: RecordId = id.parse()?;
    let locale = locale::of(&request);
    let editor = caller
        .0
        .filter(|actor| actor.may(Scope::Edit) || actor.may(Scope::Publish));
    let nothing = || Problem::new(Code::NotFound, format!("there is no published record {id}"));
    let status = state.store.status(&id).await?.ok_or_else(nothing)?;
    // Who may not read a record may not read its drafts either.
    let newest = match &editor {
        Some(_) => status.head,
        None => status.published.ok_or_else(nothing)?,
    };
    let mut metas = state.store.revisions(&id).await?;
    metas.retain(|meta| meta.revision <= newest);
    let review = match &editor {
        Some(editor) => {
            let csrf = session.map(|session| session.csrf).unwrap_or_default();
            Some(review::part(&state, &status, editor, csrf, locale).await?)
        }
        None => None,
    };
    // Whoever reviews sees what would be published, even where somebody has saved since.
    let asked = review.as_ref().and_then(|part| part.open.as_ref());
    let asked = asked.map(|open| Revision(open.revision));
    let asked = asked.filter(|asked| Some(*asked) > status.published);
    let last = asked.or_else(|| metas.first().map(|meta| meta.revision));
    // An editor sees what waits: all that differs from what readers see.
    let before = status.published.filter(|published| Some(*published) < last);
    let before = before.or_else(|| {
        let mut all = metas.iter().map(|meta| meta.revision);
        all.find(|revision| Some(*revision) < last)
    });
    let (from, to) = (
        params.from.map(Revision).or(before),
        params.to.map(Revision).or(last),
    );
    let is_asked = asked.is_some() && to == asked && from == status.published;
    let shown = match (from, to) {
        (Some(from), Some(to)) if from.max(to) > newest => {
            let newest = from.max(to);
            return Err(Problem::new(
                Code::NotFound,
                format!("{id} has no published revision {newest}"),
            ));
        }
        (Some(from), Some(to)) => {
            let (older, newer) = (texts(&state, &id, from).await?, texts(&state, &id, to).await?);
            Some((to, diff(&older, &newer, locale)))
        }
        _ => None,
    };
    let mut page = page(&id, status.published, &metas, shown, locale);
    page.is_asked = is_asked;
    page.review = review;
    match page.review {
        Some(_) => html_not_shared(&page),
        None => html(&page),
    }
}

async fn texts(state: &AppState, id: &RecordId, revision: Revision) -> Result<RevisionTexts, Problem> {
    let found = state.store.revision(id, revision).await?;
    found.ok_or_else(|| Problem::new(Code::NotFound, format!("{id} has no revision {revision}")))
}

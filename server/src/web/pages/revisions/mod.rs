//! `/r/{id}/-/revisions`: who changed a record, when, why, and what.

mod diff;

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, Query};
use askama::Template;
use kb_core::ids::{RecordId, Revision};
use serde::Deserialize;

pub use diff::{Diff, diff};

use super::html;
use super::layout::{Layout, Section};
use crate::render::words::{moment, record_href};
use crate::store::{RevisionMeta, RevisionTexts};
use crate::web::error::{Code, Problem};
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/revisions.html")]
pub struct RevisionsPage {
    pub(super) layout: Layout,
    pub(super) id: String,
    pub(super) record_href: String,
    pub(super) revisions: Vec<RevisionRow>,
    pub(super) diff: Option<Diff>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionRow {
    /// `r8`.
    pub revision: String,
    /// True for the one that readers see.
    pub published: bool,
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
) -> RevisionsPage {
    let shown_revision = shown.as_ref().map(|(revision, _)| *revision);
    let rows = metas.iter().enumerate().map(|(position, meta)| {
        let before = metas.get(position + 1).map(|before| before.revision);
        row(id, published, meta, before, shown_revision)
    });
    RevisionsPage {
        layout: Layout::new(format!("Revisions of {id} · Peerless"), Section::Search),
        id: id.to_string(),
        record_href: record_href(id.as_str()),
        revisions: rows.collect(),
        diff: shown.map(|(_, diff)| diff),
    }
}

fn row(
    id: &RecordId,
    published: Option<Revision>,
    meta: &RevisionMeta,
    before: Option<Revision>,
    shown: Option<Revision>,
) -> RevisionRow {
    let href = |before: Revision| {
        format!(
            "{}/-/revisions?from={}&to={}#diff",
            record_href(id.as_str()),
            before.0,
            meta.revision.0
        )
    };
    RevisionRow {
        revision: meta.revision.to_string(),
        published: published == Some(meta.revision),
        at: moment(meta.at),
        actor: meta.actor.clone(),
        note: meta.note.clone().unwrap_or_default(),
        diff_href: before.map(href),
        diff_text: before.map(|before| format!("since {before}")).unwrap_or_default(),
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
    id: Path<String>,
    params: Query<Params>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let id: RecordId = id.parse()?;
    let nothing = || Problem::new(Code::NotFound, format!("there is no published record {id}"));
    let status = state.store.status(&id).await?.ok_or_else(nothing)?;
    // Who may not read a record may not read its drafts either.
    let published = status.published.ok_or_else(nothing)?;
    // A page has no token to show: what nobody has published yet is for editors, over the API.
    let mut metas = state.store.revisions(&id).await?;
    metas.retain(|meta| meta.revision <= published);
    let newest = (
        metas.get(1).map(|meta| meta.revision),
        metas.first().map(|meta| meta.revision),
    );
    let (from, to) = (
        params.from.map(Revision).or(newest.0),
        params.to.map(Revision).or(newest.1),
    );
    let shown = match (from, to) {
        (Some(from), Some(to)) if from.max(to) > published => {
            let newest = from.max(to);
            return Err(Problem::new(
                Code::NotFound,
                format!("{id} has no published revision {newest}"),
            ));
        }
        (Some(from), Some(to)) => {
            let (older, newer) = (texts(&state, &id, from).await?, texts(&state, &id, to).await?);
            Some((to, diff(&older, &newer)))
        }
        _ => None,
    };
    html(&page(&id, Some(published), &metas, shown))
}

async fn texts(state: &AppState, id: &RecordId, revision: Revision) -> Result<RevisionTexts, Problem> {
    let found = state.store.revision(id, revision).await?;
    found.ok_or_else(|| Problem::new(Code::NotFound, format!("{id} has no revision {revision}")))
}

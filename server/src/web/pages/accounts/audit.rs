//! `/audit`: who did what, for administrators.

use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use serde::Deserialize;

use crate::render::i18n::Locale;
use crate::render::i18n::account::Words;
use crate::render::words::{encoded, moment};
use crate::store::{AuditEntry, AuditQuery};
use crate::web::auth::Admin;
use crate::web::error::Problem;
use crate::web::limits::PAGE_DEFAULT;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::{html_not_shared, locale};
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/audit.html")]
pub struct AuditPage {
    pub(in crate::web::pages) layout: Layout,
    pub(in crate::web::pages) words: &'static Words,
    pub(in crate::web::pages) filter: AuditParams,
    pub(in crate::web::pages) rows: Vec<AuditRow>,
    pub(in crate::web::pages) next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    pub n: i64,
    pub at: String,
    pub actor: String,
    pub kind: &'static str,
    pub address: String,
    pub action: String,
    pub subject: String,
    /// `r7 → r8`.
    pub revisions: String,
    pub detail: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct AuditParams {
    #[serde(default)]
    pub actor: String,
    #[serde(default)]
    pub action: String,
    #[serde(default)]
    pub subject: String,
    pub before: Option<i64>,
}

pub(in crate::web::pages) fn page(
    mut entries: Vec<AuditEntry>,
    filter: AuditParams,
    locale: Locale,
) -> AuditPage {
    let words = Words::of(locale.language);
    let more = entries.len() > PAGE_DEFAULT as usize;
    entries.truncate(PAGE_DEFAULT as usize);
    let last = entries.last().filter(|_| more);
    let next = last.map(|last| {
        locale.href(format!(
            "/audit?actor={}&action={}&subject={}&before={}",
            encoded(&filter.actor),
            encoded(&filter.action),
            encoded(&filter.subject),
            last.n
        ))
    });
    AuditPage {
        layout: Layout::new(format!("{} · Peerless", words.audit), Section::Account)
            .spoken(locale)
            .in_both("/audit"),
        words,
        next,
        rows: entries.into_iter().map(|entry| row(entry, words)).collect(),
        filter,
    }
}

fn row(entry: AuditEntry, words: &Words) -> AuditRow {
    let is_empty = entry.detail.as_object().is_some_and(serde_json::Map::is_empty);
    AuditRow {
        n: entry.n,
        at: moment(entry.at),
        kind: words.kind(entry.by.kind),
        actor: entry.by.name,
        address: entry.by.address.unwrap_or_default(),
        action: entry.action,
        subject: entry.subject,
        revisions: match (entry.from_revision, entry.to_revision) {
            (Some(from), Some(to)) => format!("{from} → {to}"),
            (None, Some(to)) => format!("→ {to}"),
            (Some(from), None) => format!("{from} →"),
            (None, None) => String::new(),
        },
        detail: if is_empty {
            String::new()
        } else {
            entry.detail.to_string()
        },
    }
}

pub async fn get(
    _: Admin,
    request: HttpRequest,
    params: Query<AuditParams>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let params = params.into_inner();
    let some = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let query = AuditQuery {
        actor: some(&params.actor),
        action: some(&params.action),
        subject: some(&params.subject),
        revisions: None,
        before: params.before,
        limit: PAGE_DEFAULT + 1,
    };
    let entries = state.store.audit(&query).await?;
    html_not_shared(&page(entries, params, locale::of(&request)))
}

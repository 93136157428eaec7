//! `GET /api/v1/audit` and `GET /api/v1/audit.ndjson`: who did what.

use std::collections::BTreeSet;

use actix_web::web::{self, Bytes};
use actix_web::{HttpResponse, http::header};
use futures_util::stream;
use kb_core::near;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::store::{AUDIT_ACTIONS, AuditEntry, AuditQuery, Store, StoreError};
use crate::web::api::page;
use crate::web::api::records::get::rfc3339;
use crate::web::auth::Admin;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::limits::PAGE_MAX;
use crate::web::state::AppState;

/// Which rows to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditParams {
    /// Only of the person, token or part of the program with this id or name.
    actor: Option<String>,
    /// Only this action, such as `record.publish`, or all of a kind, such as `record`.
    action: Option<String>,
    /// Only what was done to this: the id of a record or token, a login.
    subject: Option<String>,
    /// Entries of a page, 50 unless said, at most 200.
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Which rows to export.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditExportParams {
    /// Only of the person, token or part of the program with this id or name.
    actor: Option<String>,
    /// Only this action, such as `record.publish`, or all of a kind, such as `record`.
    action: Option<String>,
    /// Only what was done to this: the id of a record or token, a login.
    subject: Option<String>,
}

/// A page of the audit.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditPage {
    /// The rows, the newest first.
    entries: Vec<AuditLine>,
    /// Ask with it for the next page; absent on the last.
    next_cursor: Option<String>,
    /// Why there is no row: nothing at all has the actor or the subject that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// A row of the audit.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditLine {
    /// Rows are counted from 1, without gaps.
    n: i64,
    /// When, RFC 3339.
    at: String,
    /// Who.
    actor: AuditActor,
    /// From which address, where it came over the network.
    address: Option<String>,
    /// What was done.
    #[schema(example = "record.publish")]
    action: String,
    /// What it was done to.
    subject: String,
    /// The revision before.
    from_revision: Option<u32>,
    /// The revision afterwards.
    to_revision: Option<u32>,
    /// What else is worth telling.
    #[schema(value_type = Object)]
    detail: serde_json::Value,
}

/// Who did it.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditActor {
    /// `person`, `token` or `system`.
    kind: &'static str,
    /// Id of the person or the token.
    id: String,
    /// Its name then.
    name: String,
}

impl From<AuditEntry> for AuditLine {
    fn from(entry: AuditEntry) -> Self {
        Self {
            n: entry.n,
            at: rfc3339(entry.at),
            actor: AuditActor {
                kind: entry.by.kind.as_str(),
                id: entry.by.id,
                name: entry.by.name,
            },
            address: entry.by.address,
            action: entry.action,
            subject: entry.subject,
            from_revision: entry.from_revision.map(|revision| revision.0),
            to_revision: entry.to_revision.map(|revision| revision.0),
            detail: entry.detail,
        }
    }
}

/// Who did what, the newest first.
#[utoipa::path(get, path = "/api/v1/audit", operation_id = "list_audit", tag = "operation", security(("token" = ["admin"])),
    params(AuditParams), responses(
        (status = 200, description = "A page of the audit", body = AuditPage),
        (status = 400, description = "A parameter is wrong", body = ProblemBody),
    ))]
pub async fn list(
    _: Admin,
    params: web::Query<AuditParams>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let limit = page::size(params.limit)?;
    let params = params.into_inner();
    let before = params.cursor.as_deref().map(page::counted);
    let query = AuditQuery {
        actor: params.actor,
        action: known_action(params.action)?,
        subject: params.subject,
        revisions: None,
        before: before.transpose()?,
        limit,
    };
    let entries = state.store.audit(&query).await?;
    let note = match &entries[..] {
        [] if query.before.is_none() => nothing_of(state.store.as_ref(), &query).await?,
        _ => None,
    };
    let is_full = entries.len() == limit as usize;
    let last = entries.last().filter(|_| is_full);
    Ok(HttpResponse::Ok().json(AuditPage {
        next_cursor: last.map(|last| last.n.to_string()),
        entries: entries.into_iter().map(AuditLine::from).collect(),
        note,
    }))
}

/// An action, or a kind of them.
fn known_action(action: Option<String>) -> Result<Option<String>, Problem> {
    let Some(action) = action else {
        return Ok(None);
    };
    let kinds = AUDIT_ACTIONS.iter().filter_map(|known| known.split_once('.'));
    let kinds: BTreeSet<&str> = kinds.map(|(kind, _)| kind).collect();
    let mut known = AUDIT_ACTIONS.to_vec();
    known.extend(kinds.into_iter().filter(|kind| !AUDIT_ACTIONS.contains(kind)));
    if known.contains(&action.as_str()) {
        return Ok(Some(action));
    }
    let (shown, choices) = (near::shown(&action), near::choices(&action, &known));
    Err(Problem::new(
        Code::BadQuery,
        format!("there is no action {shown}: {choices}"),
    ))
}

/// Which part of a query no row of the whole audit meets.
async fn nothing_of(store: &dyn Store, query: &AuditQuery) -> Result<Option<String>, StoreError> {
    let of_actor = AuditQuery {
        actor: query.actor.clone(),
        limit: 1,
        ..AuditQuery::default()
    };
    let of_subject = AuditQuery {
        subject: query.subject.clone(),
        limit: 1,
        ..AuditQuery::default()
    };
    for (asked, name, query) in [
        (&query.actor, "actor", of_actor),
        (&query.subject, "subject", of_subject),
    ] {
        if let Some(asked) = asked
            && store.audit(&query).await?.is_empty()
        {
            return Ok(Some(format!("no row has the {name} {}", near::shown(asked))));
        }
    }
    Ok(None)
}

/// All of it as lines of JSON, the newest first.
#[utoipa::path(get, path = "/api/v1/audit.ndjson", operation_id = "export_audit", tag = "operation",
    security(("token" = ["admin"])), params(AuditExportParams), responses(
        (status = 200, description = "A line of JSON for each entry, of the form `AuditLine`", body = String, content_type = "application/x-ndjson"),
        (status = 400, description = "A parameter is wrong", body = ProblemBody),
    ))]
pub async fn export(
    _: Admin,
    params: web::Query<AuditExportParams>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let params = params.into_inner();
    let query = AuditQuery {
        actor: params.actor,
        action: known_action(params.action)?,
        subject: params.subject,
        revisions: None,
        before: None,
        limit: PAGE_MAX,
    };
    // The first page before the answer begins, so that an error is one.
    let first = state.store.audit(&query).await?;
    let pages = stream::try_unfold(Some((query, first)), move |page| {
        let state = state.clone();
        async move {
            let Some((mut query, entries)) = page else {
                return Ok::<_, StoreError>(None);
            };
            let next = match entries.last().filter(|_| entries.len() == PAGE_MAX as usize) {
                Some(last) => {
                    query.before = Some(last.n);
                    let entries = state.store.audit(&query).await?;
                    Some((query, entries))
                }
                None => None,
            };
            Ok(Some((lines(entries), next)))
        }
    });
    Ok(HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .insert_header((
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"peerless-audit.ndjson\"",
        ))
        .streaming(pages))
}

fn lines(entries: Vec<AuditEntry>) -> Bytes {
    let mut text = Vec::new();
    for line in entries.into_iter().map(AuditLine::from) {
        // Strings and numbers always have a JSON form.
        if serde_json::to_writer(&mut text, &line).is_ok() {
            text.push(b'\n');
        }
    }
    Bytes::from(text)
}

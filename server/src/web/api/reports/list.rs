//! `GET /api/v1/reports`: newest first.

use actix_web::{HttpResponse, web};
use kb_core::ids::{NodeId, ReportId};
use kb_core::near;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};

use super::ReportEntry;
use crate::store::{ReportListing, ReportQuery};
use crate::web::api::page;
use crate::web::auth::FleetReader;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;

/// Which reports to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReportsQuery {
    /// Only of this node.
    node: Option<String>,
    /// Entries of a page, 50 unless said, at most 200.
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of reports.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportsPage {
    /// The reports, newest first.
    reports: Vec<ReportEntry>,
    /// Ask with it for the next page; absent on the last.
    next_cursor: Option<String>,
}

/// Reports by arrival, newest first.
#[utoipa::path(get, path = "/api/v1/reports", operation_id = "list_reports", tag = "reports", security(("token" = ["fleet"])),
    params(ReportsQuery), responses(
        (status = 200, description = "A page of reports", body = ReportsPage),
        (status = 400, description = "A parameter is wrong", body = ProblemBody),
        (status = 404, description = "No report of such a node", body = ProblemBody),
    ))]
pub async fn list(
    _: FleetReader,
    query: web::Query<ReportsQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let limit = page::size(query.limit)?;
    let node = query.node.as_deref().map(str::parse).transpose()?;
    known_node(&state, node.as_ref()).await?;
    let before = query.cursor.as_deref().map(read_cursor).transpose()?;
    let listed = state.store.reports(ReportQuery { node, before, limit }).await?;
    let is_full = listed.len() == limit as usize;
    Ok(HttpResponse::Ok().json(ReportsPage {
        next_cursor: listed.last().filter(|_| is_full).map(cursor),
        reports: listed.iter().map(ReportEntry::from).collect(),
    }))
}

/// Refuses a node of which no report came.
pub(in crate::web::api) async fn known_node(state: &AppState, node: Option<&NodeId>) -> Result<(), Problem> {
    match node {
        Some(node) if state.store.node(node).await?.is_none() => {
            let detail = format!("no report of a node {} came", near::shown(node.as_str()));
            Err(Problem::new(Code::NotFound, detail))
        }
        _ => Ok(()),
    }
}

/// Arrival in nanoseconds, then the id.
fn cursor(last: &ReportListing) -> String {
    format!("{}~{}", last.received_at.unix_timestamp_nanos(), last.id)
}

fn read_cursor(text: &str) -> Result<(OffsetDateTime, ReportId), Problem> {
    let (nanos, id) = text.split_once('~').ok_or_else(page::bad_cursor)?;
    let nanos: i128 = nanos.parse().map_err(|_| page::bad_cursor())?;
    let at = OffsetDateTime::from_unix_timestamp_nanos(nanos).map_err(|_| page::bad_cursor())?;
    Ok((at, id.parse().map_err(|_| page::bad_cursor())?))
}

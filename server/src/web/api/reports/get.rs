//! `GET /api/v1/reports/{id}`: a report as sent, with what it shows.

use actix_web::{HttpResponse, web};
use kb_core::ids::{NodeId, ReportId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{FindingEntry, ReportEntry, findings};
use crate::domain::reports;
use crate::web::auth::FleetReader;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;

/// Which node's report.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReportQuery {
    /// The node, where several used the id.
    node: Option<String>,
}

/// A report with what it shows.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportDetail {
    /// What the list shows.
    #[serde(flatten)]
    summary: ReportEntry,
    /// What it shows.
    findings: Vec<FindingEntry>,
    /// The report as it was sent, unknown fields included.
    #[schema(value_type = Object)]
    report: Value,
}

/// One report.
#[utoipa::path(
    get, path = "/api/v1/reports/{id}", operation_id = "get_report", tag = "reports", security(("token" = ["fleet"])),
    params(("id" = String, Path), ReportQuery),
    responses(
        (status = 200, description = "The report", body = ReportDetail),
        (status = 404, description = "No such report", body = ProblemBody),
        (status = 409, description = "Several nodes used the id: say which", body = ProblemBody),
    ),
)]
pub async fn get(
    _: FleetReader,
    path: web::Path<String>,
    query: web::Query<ReportQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let id: ReportId = path.parse()?;
    let node = query.node.as_deref().map(str::parse::<NodeId>).transpose()?;
    let found = reports::read(state.store.as_ref(), node.as_ref(), &id).await?;
    let found = found.ok_or_else(|| Problem::new(Code::NotFound, format!("there is no report {id}")))?;
    Ok(HttpResponse::Ok().json(ReportDetail {
        summary: (&found.listing).into(),
        findings: findings(&found.findings)?,
        report: found.body,
    }))
}

//! `POST /api/v1/reports`: accepts a report once and answers with what it shows.

use std::time::SystemTime;

use actix_web::http::header::{self, Header as _};
use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use utoipa::ToSchema;

use super::{FindingEntry, findings};
use crate::domain::enrol::Writer;
use crate::domain::ingest::{self, Accepted, Arrival};
use crate::web::api::unmatched;
use crate::web::auth::Uploader;
use crate::web::body;
use crate::web::error::{Problem, ProblemBody};
use crate::web::state::AppState;
use peerless_search::KnowledgeStamp;

/// What became of a report.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportAnswer {
    /// Its id.
    id: String,
    /// The node that sent it.
    node: String,
    /// True when the same body had come before: nothing was changed.
    duplicate: bool,
    /// Verdict of the run.
    #[schema(value_type = String, example = "refused")]
    verdict: kb_core::verdict::Verdict,
    /// What it shows.
    findings: Vec<FindingEntry>,
    /// What the sender should know: a token that may write any node is worth a node's credential of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'static str>,
    /// Which state of the knowledge answered.
    kb: KnowledgeStamp,
}

impl ReportAnswer {
    /// The answer to a report that was accepted.
    pub(super) fn of(accepted: &Accepted, notice: Option<&'static str>) -> Result<Self, Problem> {
        Ok(Self {
            id: accepted.id.to_string(),
            node: accepted.node.to_string(),
            duplicate: accepted.is_duplicate,
            verdict: accepted.verdict,
            findings: findings(&accepted.findings)?,
            notice,
            kb: KnowledgeStamp { seq: accepted.seq },
        })
    }
}

pub(super) fn writer(uploader: &Uploader, state: &AppState) -> Writer {
    Writer {
        node: uploader.0.node.clone(),
        enrol_only: state.settings.enrol_only,
    }
}

/// When the report came, and when its sender says that it sent it.
pub(super) fn arrival(request: &HttpRequest, state: &AppState) -> Arrival {
    let sent_at = header::Date::parse(request).ok();
    Arrival {
        received_at: state.clock.now(),
        sent_at: sent_at.map(|header::Date(date)| SystemTime::from(date).into()),
    }
}

/// Counts a report whose sender may write any node; what to tell it.
pub(super) fn noted(uploader: &Uploader, state: &AppState) -> Option<&'static str> {
    if uploader.0.node.is_some() {
        return None;
    }
    state.metrics.count("reports_unbound_total", 1);
    Some("this token may write reports of any node: enrol the node, which gives it a credential of its own")
}

/// Accepts a report. The same body again is fine; another body under its id is refused.
#[utoipa::path(
    post, path = "/api/v1/reports", operation_id = "add_report", tag = "reports", security(("token" = ["report"])),
    params(("Date" = Option<String>, Header, description = "When the report was sent by the sender's clock: a clock that is wrong is told, and the run is put where it was by the server's")),
    request_body(content = Object, description = "A report, schema kb-seed/schema/report.schema.json; zstd or gzip welcome"),
    responses(
        (status = 201, description = "Kept", body = ReportAnswer),
        (status = 200, description = "Kept before, same body", body = ReportAnswer),
        (status = 409, description = "Another body came under this id", body = ProblemBody),
        (status = 422, description = "Not a report, or of a newer major version", body = ProblemBody),
    ),
)]
pub async fn post(
    uploader: Uploader,
    request: HttpRequest,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    if !body::is_json(&request) {
        return Err(body::json_needed());
    }
    let sent = body::report(&request, payload).await?;
    let generation = state.knowledge.current();
    let arrival = arrival(&request, &state);
    let sent = (sent, writer(&uploader, &state));
    let mut accepted = ingest::accept(
        state.store.as_ref(),
        &generation,
        &state.correlator,
        sent,
        arrival,
    )
    .await?;
    unmatched::offer(&state, &generation, &mut accepted);
    let mut response = if accepted.is_duplicate {
        HttpResponse::Ok()
    } else {
        HttpResponse::Created()
    };
    response.insert_header((
        header::LOCATION,
        format!("/api/v1/reports/{}?node={}", accepted.id, accepted.node),
    ));
    let notice = noted(&uploader, &state);
    Ok(response.json(ReportAnswer::of(&accepted, notice)?))
}

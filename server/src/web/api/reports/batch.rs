//! `POST /api/v1/reports/batch`: what a node kept while it could not reach the server, in one go. Each report is
//! taken as if it had come alone, in order, and has its own outcome.

use std::sync::Arc;

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::post::{ReportAnswer, arrival, noted, writer};
use crate::domain::ingest::{self, Arrival};
use crate::feed::Generation;
use crate::web::api::batch::{items, weighed};
use crate::web::api::unmatched;
use crate::web::auth::Uploader;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::limits;
use crate::web::state::AppState;

/// Reports to keep.
#[derive(Debug, Deserialize, ToSchema)]
#[expect(dead_code, reason = "describes the body; its items are read one by one")]
pub struct ReportBatch {
    /// At most 1,000 reports, each as it would be sent alone.
    #[schema(value_type = Vec<Object>)]
    items: Vec<Box<RawValue>>,
}

/// What became of the reports, in their order.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportBatchAnswer {
    /// One for each report.
    items: Vec<ReportOutcome>,
}

/// What became of one report.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ReportOutcome {
    /// Kept, now or before.
    Kept(Box<ReportAnswer>),
    /// Not kept.
    Problem {
        /// As the body of a problem.
        #[schema(value_type = ProblemBody)]
        problem: serde_json::Value,
    },
}

/// Accepts many reports. Those that are refused do not hinder the others; send the batch again when unsure.
#[utoipa::path(
    post, path = "/api/v1/reports/batch", operation_id = "add_report_batch", tag = "reports", security(("token" = ["report"])),
    request_body = ReportBatch,
    responses(
        (status = 200, description = "One outcome for each report, in order", body = ReportBatchAnswer),
        (status = 400, description = "Not a batch: nothing was kept", body = ProblemBody),
        (status = 413, description = "Too many reports, or too large: nothing was kept", body = ProblemBody),
    ),
)]
pub async fn post(
    uploader: Uploader,
    request: HttpRequest,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let reports = items(&request, payload).await?;
    let generation = state.knowledge.current();
    let mut outcomes = Vec::new();
    let mut hindrance: Option<Problem> = None;
    for report in reports {
        let outcome = match &hindrance {
            // Each would wait for the same database in vain.
            Some(problem) => Err(problem.clone()),
            None => {
                one(
                    &state,
                    &generation,
                    (&uploader, arrival(&request, &state)),
                    &report,
                )
                .await
            }
        };
        outcomes.push(match outcome {
            Ok(answer) => ReportOutcome::Kept(Box::new(answer)),
            Err(problem) => {
                if hindrance.is_none() && concerns_all(&problem) {
                    tracing::error!(
                        cause = problem.cause(),
                        "the rest of a batch of reports is not tried"
                    );
                    hindrance = Some(problem.clone());
                }
                let problem = problem.to_json();
                ReportOutcome::Problem { problem }
            }
        });
    }
    Ok(HttpResponse::Ok().json(ReportBatchAnswer { items: outcomes }))
}

async fn one(
    state: &AppState,
    generation: &Arc<Generation>,
    (uploader, arrival): (&Uploader, Arrival),
    bytes: &[u8],
) -> Result<ReportAnswer, Problem> {
    if bytes.len() as u64 > limits::REPORT_BYTES {
        let detail = format!(
            "the report has {} bytes, {} are the most",
            bytes.len(),
            limits::REPORT_BYTES
        );
        return Err(Problem::new(Code::TooLarge, detail));
    }
    weighed(bytes, limits::REPORT_VALUES)?;
    let mut accepted = ingest::accept(
        state.store.as_ref(),
        generation,
        &state.correlator,
        (bytes.to_vec(), writer(uploader, state)),
        arrival,
    )
    .await?;
    unmatched::offer(state, generation, &mut accepted);
    ReportAnswer::of(&accepted, noted(uploader, state))
}

/// True when the next report would meet the same.
fn concerns_all(problem: &Problem) -> bool {
    matches!(
        problem.code(),
        Code::Unavailable | Code::ReadOnly | Code::StorageFull
    )
}

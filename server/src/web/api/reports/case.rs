//! `GET /api/v1/nodes/{id}/case`: the case file of a node, as JSON or Markdown.

use actix_web::{HttpResponse, web};
use kb_core::ids::NodeId;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::domain::case::{self, CaseError};
use crate::render::case_text;
use crate::web::auth::FleetReader;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;

/// How the case is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaseFormat {
    /// For programs.
    #[default]
    Json,
    /// For a vendor's form.
    Markdown,
}

/// What of the case is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CaseQuery {
    /// `json` unless said.
    #[serde(default)]
    #[param(inline)]
    format: CaseFormat,
    /// `true` leaves in names of machines and people, addresses and secrets, which are taken out otherwise. Serial numbers always
    /// stay.
    #[serde(default)]
    names: bool,
}

/// All that a vendor's form asks of a node, from what the server has kept; what is not known is said as not known.
#[utoipa::path(
    get, path = "/api/v1/nodes/{id}/case", operation_id = "get_case", tag = "reports", security(("token" = ["fleet"])),
    params(("id" = String, Path), CaseQuery),
    responses(
        (status = 200, description = "The case file", content(
            (Object = "application/json"),
            (String = "text/markdown"),
        )),
        (status = 404, description = "No report of such a node", body = ProblemBody),
    ),
)]
pub async fn get(
    _: FleetReader,
    path: web::Path<String>,
    query: web::Query<CaseQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let node: NodeId = path.parse()?;
    let case = case::collect(state.store.as_ref(), &node, state.clock.now()).await?;
    let case =
        case.ok_or_else(|| Problem::new(Code::NotFound, format!("no report of a node {node} has come")))?;
    let case = if query.names { case } else { case.without_names()? };
    Ok(match query.format {
        CaseFormat::Json => HttpResponse::Ok().json(case),
        CaseFormat::Markdown => HttpResponse::Ok()
            .content_type("text/markdown; charset=utf-8")
            .body(case_text::markdown(&case)),
    })
}

impl From<CaseError> for Problem {
    fn from(error: CaseError) -> Self {
        match error {
            CaseError::Store(error) => error.into(),
            CaseError::Report(error) => error.into(),
            CaseError::Json(error) => Self::internal(&error),
        }
    }
}

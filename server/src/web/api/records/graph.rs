//! `GET …/-/graph`: what lies around a record.

use actix_web::{HttpRequest, HttpResponse, web};
use kb_core::transition::EdgeKind;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Located, locate};
use crate::domain::graph::{self, NeighbourhoodAnswer};
use crate::web::auth::Anyone;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;

/// How far to look.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GraphQuery {
    /// Steps, 1 unless said.
    depth: Option<u32>,
    /// Kinds of edge, separated by commas: `leads_to`, `preceded_by`, `frequently_confused_with`; all unless said.
    kinds: Option<String>,
}

/// What a record leads to, follows, and is taken for.
#[utoipa::path(
    get, path = "/api/v1/records/{id}/-/graph", tag = "graph",
    params(("id" = String, Path), GraphQuery),
    responses(
        (status = 200, description = "The neighbourhood", body = NeighbourhoodAnswer),
        (status = 404, description = "No such published record", body = ProblemBody),
    ),
)]
pub async fn graph(
    caller: Anyone,
    request: HttpRequest,
    path: web::Path<String>,
    query: web::Query<GraphQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let status = match locate(&state, &request, &path, caller.0.as_ref()).await? {
        Located::Here(status) => status,
        Located::Moved(response) => return Ok(response),
    };
    let kinds = kinds(query.kinds.as_deref().unwrap_or_default())?;
    let generation = state.knowledge.current();
    let around = graph::neighbourhood(&generation, &status.id, query.depth.unwrap_or(1), &kinds)?;
    Ok(HttpResponse::Ok().json(around))
}

fn kinds(text: &str) -> Result<Vec<EdgeKind>, Problem> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    let read = |word: &str| match word {
        "leads_to" => Ok(EdgeKind::LeadsTo),
        "preceded_by" => Ok(EdgeKind::PrecededBy),
        "frequently_confused_with" => Ok(EdgeKind::FrequentlyConfusedWith),
        _ => Err(Problem::new(
            Code::BadQuery,
            "kinds are leads_to, preceded_by and frequently_confused_with, separated by commas",
        )),
    };
    words.map(read).collect()
}

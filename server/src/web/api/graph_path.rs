//! `GET /api/v1/graph/path`: how one error turns into another.

use actix_web::{HttpResponse, web};
use kb_core::ids::RecordId;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::domain::graph::{self, PathAnswer};
use crate::feed::GraphError;
use crate::web::auth::Anyone;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;

/// Between which records.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PathQuery {
    /// The earlier error's id.
    from: String,
    /// The later one's.
    to: String,
}

/// A shortest way from one error to a later one; `path` is null when there is none.
#[utoipa::path(get, path = "/api/v1/graph/path", tag = "graph", params(PathQuery), responses(
    (status = 200, description = "The way", body = PathAnswer),
    (status = 404, description = "No such record", body = ProblemBody),
))]
pub async fn path(
    _: Anyone,
    query: web::Query<PathQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let from: RecordId = query.from.parse()?;
    let to: RecordId = query.to.parse()?;
    Ok(HttpResponse::Ok().json(graph::path(&state.knowledge.current(), &from, &to)?))
}

impl From<GraphError> for Problem {
    fn from(error: GraphError) -> Self {
        let code = match error {
            GraphError::NoRecord(_) => Code::NotFound,
            GraphError::Depth(_) => Code::BadQuery,
        };
        Self::new(code, error.to_string())
    }
}

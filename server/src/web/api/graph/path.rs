//! `GET /api/v1/graph/path`: how one error turns into another.

use actix_web::{HttpRequest, HttpResponse, web};
use kb_core::ids::RecordId;
use serde::Deserialize;
use utoipa::IntoParams;

use super::kinds;
use crate::domain::graph::{self, PathAnswer};
use crate::web::auth::Anyone;
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Problem, ProblemBody};
use crate::web::etag;
use crate::web::fresh::{Fresh, begin};
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
    /// Kinds of edges that a way may follow, separated by commas: `leads_to` and `preceded_by` unless said. With
    /// `frequently_confused_with` a step may also go to an error that is taken for the other.
    kinds: Option<String>,
}

/// The shortest ways from one error to another, 16 at most.
#[utoipa::path(get, path = "/api/v1/graph/path", operation_id = "find_graph_paths", tag = "graph", params(PathQuery), responses(
    (status = 200, description = "The ways; `steps` is null when there is none", body = PathAnswer,
        headers(("ETag", description = "Changes with the published knowledge")),
        example = json!({
            "from": "xid/79-gpu-has-fallen-off-the-bus", "to": "nccl/remote-error", "steps": 1, "truncated": false,
            "paths": [[{
                "from": "xid/79-gpu-has-fallen-off-the-bus", "to": "nccl/remote-error",
                "edges": [{
                    "from": "nccl/remote-error", "to": "xid/79-gpu-has-fallen-off-the-bus", "resolved": true,
                    "kind": "preceded_by", "probability": null, "condition": "a rank of another node lost its GPU",
                    "distinction": null, "typical_delay": null, "revision": 1, "origin": null,
                }],
            }]],
            "kb": { "seq": 551 },
        })),
    (status = 304, description = "Nothing changed"),
    (status = 404, description = "No such record", body = ProblemBody),
))]
pub async fn path(
    _: Anyone,
    request: HttpRequest,
    query: web::Query<PathQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let from: RecordId = query.from.parse()?;
    let to: RecordId = query.to.parse()?;
    let kinds = kinds(query.kinds.as_deref())?;
    let generation = state.knowledge.current();
    let mut response = match begin(&request, etag::of_seq(generation.seq))? {
        Fresh::Known(response) => return Ok(response),
        Fresh::Needed(response) => response,
    };
    let work = move || graph::path(&generation, &from, &to, &kinds);
    let found = Desk::of(&request).compute(ALL_RECORDS, work).await??;
    Ok(response.json(found))
}

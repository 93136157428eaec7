//! `GET …/-/graph`: what lies around a record.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Located, locate};
use crate::domain::graph::{self, NeighbourhoodAnswer};
use crate::web::api::graph::kinds;
use crate::web::auth::Anyone;
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Problem, ProblemBody};
use crate::web::etag;
use crate::web::fresh::{Fresh, begin};
use crate::web::state::AppState;

/// How far to look.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GraphQuery {
    /// Steps, 1 to 4; 1 unless said.
    depth: Option<u32>,
    /// Kinds of edge, separated by commas: `leads_to`, `preceded_by`, `frequently_confused_with`; all unless said.
    kinds: Option<String>,
}

/// What a record leads to, follows, and is taken for: the 200 nearest nodes at most.
#[utoipa::path(
    get, path = "/api/v1/records/{id}/-/graph", operation_id = "get_record_graph", tag = "graph",
    params(("id" = String, Path), GraphQuery),
    responses(
        (status = 200, description = "The neighbourhood; `truncated` says whether there is more",
            body = NeighbourhoodAnswer, headers(("ETag", description = "Changes with the published knowledge")),
            example = json!({
                "center": "cuda/peer-access-unsupported-by-hardware",
                "nodes": [
                    { "id": "cuda/peer-access-unsupported-by-hardware", "known": true, "domain": "cuda", "depth": 0,
                      "signature": "CUDA error: peer access is not supported between these two devices" },
                    { "id": "nccl/no-such-record-yet", "known": false, "domain": null, "depth": 1, "signature": null },
                ],
                "edges": [{
                    "from": "cuda/peer-access-unsupported-by-hardware", "to": "nccl/no-such-record-yet", "resolved": false,
                    "kind": "leads_to", "probability": null, "condition": "the application goes on without peer access",
                    "distinction": null, "typical_delay": null, "revision": 1, "origin": null,
                }],
                "truncated": false,
                "kb": { "seq": 551 },
            })),
        (status = 304, description = "Nothing changed"),
        (status = 308, description = "The record has another id now"),
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
    let kinds = kinds(query.kinds.as_deref())?;
    let generation = state.knowledge.current();
    let mut response = match begin(&request, etag::of_seq(generation.seq))? {
        Fresh::Known(response) => return Ok(response),
        Fresh::Needed(response) => response,
    };
    let depth = query.depth.unwrap_or(1);
    let work = move || graph::neighbourhood(&generation, &status.id, depth, &kinds);
    let found = Desk::of(&request).compute(ALL_RECORDS, work).await??;
    Ok(response.json(found))
}

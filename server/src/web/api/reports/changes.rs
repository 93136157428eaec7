//! `GET /api/v1/nodes/{id}/changes`: what is different on a node since it was good.

use actix_web::{HttpResponse, web};
use kb_core::ids::NodeId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::fleet_changes::{self, Change, Shown};
use crate::web::api::records::get::rfc3339;
use crate::web::auth::FleetReader;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;

/// A node's latest report beside the last one that proved health: differences, said as such and never as cause.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangesBody {
    /// The last report that proved health, other than the latest; null: there is none.
    good: Option<String>,
    /// When its run ended, RFC 3339.
    good_at: Option<String>,
    /// The latest report.
    latest: String,
    /// What is different, a hundred at most; null where there is nothing to compare with.
    changes: Option<Vec<ChangeEntry>>,
}

/// A fact that differs between the two reports.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangeEntry {
    /// The GPU by its index in the latest report; null: the host.
    gpu: Option<usize>,
    /// Name of the fact.
    #[schema(example = "bios.version")]
    fact: String,
    /// What it was; null: there was none, or `before_unread`.
    before: Option<String>,
    /// It was there and could not be read.
    before_unread: bool,
    /// What it is now; null: there is none, or `now_unread`.
    now: Option<String>,
    /// It is there and could not be read.
    now_unread: bool,
}

/// What changed on a node since its last good report: driver, firmware, kernel options, ACS, link width and speed, NCCL, and GPUs.
#[utoipa::path(get, path = "/api/v1/nodes/{id}/changes", operation_id = "get_node_changes", tag = "reports", security(("token" = ["fleet"])),
    params(("id" = String, Path)), responses(
        (status = 200, description = "The differences", body = ChangesBody),
        (status = 404, description = "No report of such a node", body = ProblemBody),
    ))]
pub async fn get(
    _: FleetReader,
    path: web::Path<String>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let node: NodeId = path.parse()?;
    let Some(known) = state.store.node(&node).await? else {
        let detail = format!("no report of a node {node} has come");
        return Err(Problem::new(Code::NotFound, detail));
    };
    let compared = fleet_changes::compare(state.store.as_ref(), &known).await?;
    let changes = compared
        .changes
        .map(|changes| changes.into_iter().map(ChangeEntry::from).collect());
    Ok(HttpResponse::Ok().json(ChangesBody {
        good: compared.good.as_ref().map(|good| good.id.to_string()),
        good_at: compared.good.as_ref().map(|good| rfc3339(good.ended())),
        latest: known.last_seen.id.to_string(),
        changes,
    }))
}

impl From<Change> for ChangeEntry {
    fn from(change: Change) -> Self {
        let text = |shown: Shown| match shown {
            Shown::Value(value) => Some(value),
            Shown::Unread | Shown::Absent => None,
        };
        Self {
            gpu: change.gpu,
            fact: change.fact,
            before_unread: change.before == Shown::Unread,
            now_unread: change.now == Shown::Unread,
            before: text(change.before),
            now: text(change.now),
        }
    }
}

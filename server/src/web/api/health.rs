//! Is it alive, and may it have traffic.

use std::sync::atomic::Ordering;

use actix_web::{HttpResponse, web};

use crate::web::auth::Anyone;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;

/// The process answers. Asks nothing of the database.
#[utoipa::path(get, path = "/healthz", operation_id = "get_health", tag = "operation", responses((status = 200, description = "Alive")))]
pub async fn healthz(_: Anyone) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/plain; charset=utf-8")
        .body("ok\n")
}

/// The database answers and everything published is known to the matcher, the search and the graph.
#[utoipa::path(get, path = "/readyz", operation_id = "get_readiness", tag = "operation", responses(
    (status = 200, description = "Ready for traffic"),
    (status = 503, description = "Going down, without a database, or still behind the feed", body = ProblemBody),
))]
pub async fn readyz(_: Anyone, state: web::Data<AppState>) -> Result<HttpResponse, Problem> {
    if state.draining.load(Ordering::Relaxed) {
        return Err(Problem::new(Code::Unavailable, "the server is going down"));
    }
    let readiness = state.knowledge.readiness(state.store.as_ref()).await?;
    let (holds, head) = (readiness.holds, readiness.head);
    if !readiness.is_ready() {
        let detail = format!("the knowledge holds seq {holds} of {head}: it will catch up in a moment");
        return Err(Problem::new(Code::Unavailable, detail));
    }
    Ok(HttpResponse::Ok()
        .content_type("text/plain; charset=utf-8")
        .body(format!("ready at seq {holds}\n")))
}

//! Is it alive, and may it have traffic.

use std::sync::atomic::Ordering;

use actix_web::{HttpResponse, web};

use crate::feed::MAX_BEHIND;
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

/// The answers are at most some seconds behind what is published, there is an index to search, and the database can be written.
#[utoipa::path(get, path = "/readyz", operation_id = "get_readiness", tag = "operation", responses(
    (status = 200, description = "Ready for traffic; says how far behind the feed the answers are", body = String, content_type = "text/plain"),
    (status = 503, description = "Going down, too far behind the feed, without a search index yet, or without a database that can be written",
        body = ProblemBody),
))]
pub async fn readyz(_: Anyone, state: web::Data<AppState>) -> Result<HttpResponse, Problem> {
    let refuse = |detail: String| Err(Problem::new(Code::Unavailable, detail));
    if state.draining.load(Ordering::Relaxed) {
        return refuse("the server is going down".to_owned());
    }
    let readiness = state.knowledge.readiness();
    let (holds, head, behind) = (readiness.holds, readiness.head, readiness.behind.as_secs());
    if !readiness.is_recent() {
        return refuse(format!(
            "the knowledge holds seq {holds} of {head} and is {behind} s behind, {} s are allowed",
            MAX_BEHIND.as_secs()
        ));
    }
    if !readiness.has_index {
        return refuse("the search index is being built".to_owned());
    }
    if let Some(refusal) = state.write_check.refusal(state.store.as_ref()).await {
        return refuse(refusal);
    }
    let behind = if holds >= head { 0 } else { behind };
    Ok(HttpResponse::Ok()
        .content_type("text/plain; charset=utf-8")
        .body(format!("ready at seq {holds} of {head}, {behind} s behind\n")))
}
